"""Which values of a kernel are determined: asked before a run and by sanitised runs.

As in Valgrind's memcheck, computing on memory that nothing has written is no fault; using what
comes of it is. `shadow.py` marks memory, `flows.py` says how instructions pass marks on, `uses.py`
what counts as a use, and `kernels.py` follows a kernel before it runs.
"""
