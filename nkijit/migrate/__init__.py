"""Kernels of the classic API (`neuronxcc.nki`) rewritten into today's (`nki`), and proven.

A kernel is traced once and observed (`observing`); each of its functions is rewritten where it
stands (`functions`), with what was seen at each place; a kernel for which no rewrite is known is
exported from its trace (`exporting`). Old and new run on random data, and have to agree bit by bit
(`proving`).
"""
