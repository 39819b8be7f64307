"""Tracking of undefined values, both before a run and in sanitised runs.

As in Valgrind's memcheck, computing with unwritten memory is not an error; using the result is.
`shadow.py` marks memory, `flows.py` propagates marks through instructions, `origins.py` defines
uses, `tracker.py` combines these, and `kernels.py` applies them to a kernel before it runs.
"""
