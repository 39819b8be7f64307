"""Migration of kernels from the classic API (`neuronxcc.nki`) to the current API (`nki`).

A kernel is traced once while its API calls are recorded (`observing`). Each of its functions is
then rewritten in place (`functions`), using the recorded calls at each source position. A kernel
that cannot be rewritten is exported from its trace (`exporting`). The old and the new kernel run on
random data and must agree bit by bit (`proving`).
"""
