"""Naive kernels, and a table of their predicted times before and after `nkijit optimize`."""
