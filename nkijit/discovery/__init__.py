"""Discovery of kernels in Python files, and of the arguments to trace them with."""
