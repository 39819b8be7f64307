"""Equivalent forms of a kernel: with Python loops as `nki.repeat`, and unrolled."""
