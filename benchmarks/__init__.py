"""Benchmarks of nkijit's own speed: `make bench`.

Absolute times depend on the machine, so limits apply to ratios: of two functions that are timed
alternately in the same process, the median over all rounds. Each module measures one subject.
"""
