"""Kernels of the classic API, and the ways to call them."""
