import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x30000:float32", y="128x30000:float32", row="128x1024:float32")
@nki.jit
def wrong(x, y, row):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    scale = nl.ndarray(row.shape, dtype=row.dtype, buffer=nl.sbuf, address=(0, 122880))
    nisa.dma_copy(dst=scale, src=row)
    left, right = nl.load(x), nl.load(y)
    nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.add)
    nisa.tensor_tensor(dst=left[:, 0:1024], data1=left[:, 0:1024], data2=scale, op=nl.multiply)
    nl.store(out, left)
    return out


@nki.example(x="128x30000:float32", y="128x30000:float32", row="128x1024:float32")
@nki.jit
def right(x, y, row):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    scale = nl.ndarray(row.shape, dtype=row.dtype, buffer=nl.sbuf, address=(0, 0))
    nisa.dma_copy(dst=scale, src=row)
    left, right = nl.load(x), nl.load(y)
    nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.add)
    nisa.tensor_tensor(dst=left[:, 0:1024], data1=left[:, 0:1024], data2=scale, op=nl.multiply)
    nl.store(out, left)
    return out


FINDING = r"""
warning[no-layout]: nl.load: no address in SBUF was found for this tile: the best assignment ends at byte 246976 of 245752, though never more than 244096 are in use
  --> no-layout.py:12:31
    |
 12 |     left, right = nl.load(x), nl.load(y)
    |                               ^^^^^^^
   = result: %right, sbuf 128x30000 float32, allocated at no-layout.py:12:31
   = in use with it: %scale, sbuf 128x1024 float32, allocated at no-layout.py:10:13, fixed at (0, 122880)
   = help: move fixed addresses together so that the free bytes are in one piece, or leave address= out
"""
