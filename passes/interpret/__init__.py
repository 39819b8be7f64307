"""Interpretation: run the IR with NumPy."""
