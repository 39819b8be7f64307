"""What data types, casts, operators and random numbers are in NumPy."""
