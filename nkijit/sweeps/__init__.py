"""Sweeps: predict the variants of a kernel in other processes, and find the best.

`space.py` defines the variants and `payload.py` sends a kernel to other processes. `worker.py` runs
there, and `pool.py` keeps them busy and survives their deaths. `store.py` writes results to a file,
in the format of `exact.py`. `sweeping.py` is the entry point. `found.py` is its result
(`results.py`), which `text.py` and `page.py` show.
"""
