"""How well predicted times agree with published ones: `python -m benchmarks.fidelity`.

The rows of `rows.toml` are times that others have measured on a device and published, with the
kernel they are of. Its source is fetched, traced at the shapes of the row and profiled; nothing of
it is kept in this repository.
"""
