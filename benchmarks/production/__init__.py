"""Kernels as inference libraries have them: helpers in several modules, at fixed addresses.

`layers.py` has the kernels; each of the other modules has the helpers of one subject.
"""
