"""The package in which kernels of the classic API find `nki`."""
