"""Data types, casts, operators and random numbers in NumPy."""
