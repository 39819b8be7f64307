"""Tracking of undefined values, both before a run and in sanitised runs.

As in Valgrind's memcheck, computing with unwritten memory is not an error; using the result is.
`shadow.py` stores a mark for each element of memory: defined, unwritten, or the number of the read
that the undefined value comes from. `flows.py` propagates marks through instructions, `origins.py`
defines uses, `tracker.py` combines these, and `kernels.py` applies them to a kernel before it runs.
"""
