"""Migration of kernels from the classic API (`neuronxcc.nki`) to the current one (`nki`).

A kernel is traced once while its calls are recorded (`observing`). Each of its functions is then
rewritten in place (`functions`), using the records of each source position. A kernel that cannot be
rewritten is exported from its trace (`exporting`). Old and new kernel run on random data and must
agree bit by bit (`proving`).
"""
