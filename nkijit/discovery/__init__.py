"""Kernels in Python files, and the arguments to trace them with."""
