"""Sweeps: the variants of a kernel, predicted in other processes, and which is the best.

`space.py` says which variants there are, `payload.py` takes a kernel to other processes,
`worker.py` is what these do, `pool.py` keeps them busy and bears that they die, `store.py` keeps
results in a file (`exact.py`: as what), `sweeping.py` is all together, and `found.py` is what came
out (`results.py`), which `text.py` and `page.py` show.
"""
