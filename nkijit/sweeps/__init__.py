"""Sweeps: predict the variants of a kernel in other processes, and find the best variant.

`sweeping.py` is the entry point. `space.py` defines the variants. `payload.py` serialises a kernel
for other processes, which run the tasks of `worker.py`. `pool.py` schedules these tasks and retries
them if their process dies. `store.py` writes results to a file, in the format of `exact.py`.
`found.py` and `results.py` have the result of a sweep, which `text.py` and `page.py` show.
"""
