"""Comparison of predicted with published times: `python -m benchmarks.fidelity`.

The rows of `rows.toml` are times that others have measured on a device and published, with the
name of the kernel. Its source is downloaded, traced with the shapes of the row and profiled. This
repository contains no copy of it.
"""
