"""Speed as ratios within one run: `make bench`.

Absolute times depend on the machine; what is held to a limit is a ratio of two things measured in
turn in the same process, the median over rounds. Each module measures one subject.
"""
