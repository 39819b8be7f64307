import nkijit
import nkijit.classic as nki
import nkijit.classic.compiler as ncc
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=0)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=place)
    tile[...] = nl.load(x)
    total = nl.add(tile, 1.0)
    nl.store(out, total)
    return out


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=0)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=place)
    other = ncc.sbuf.mod_alloc(base_addr=2048)
    total = nl.ndarray((128, 512), dtype=x.dtype, buffer=other)
    tile[...] = nl.load(x)
    total[...] = nl.add(tile, 1.0)
    nl.store(out, total)
    return out


FINDING = r"""
warning[mixed-allocation]: nl.add: tile 'total' has no address
  --> mixed-allocation.py:14:13
    |
 14 |     total = nl.add(tile, 1.0)
    |             ^^^^^^
  ::: mixed-allocation.py:12:12
    |
 12 |     tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=place)
    |            ---------- has an address
   = help: allocate it with nl.ndarray and buffer=nki.compiler.sbuf.mod_alloc(...) as well, or place no tile (nki.compiler.force_auto_alloc)
"""
