import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32", index="128x4:uint32")
@nki.jit(platform_target="trn2")
def wrong(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    nl.store(out, found)
    return out


@nki.example(x="128x512:float32", index="128x64:uint32")
@nki.jit(platform_target="trn2")
def right(x, index):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, numbers = nl.load(x), nl.load(index)
    found = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.nc_n_gather(dst=found, data=tile, indices=numbers)
    nl.store(out, found)
    return out


FINDING = r"""
error[indirect-base]: nki.view: tensor indirection needs NeuronCore-v4, the target trn2 is NeuronCore-v3
  --> indirect-base.py:12:5
    |
 12 |     nisa.tensor_copy(dst=found, src=tile.indirect(numbers))
    |     ^^^^^^^^^^^^^^^^
   = result: %sbuf, sbuf 128x64 float32, a view of %sbuf (sbuf 128x512 float32), allocated at indirect-base.py:10:21
   = help: gather from HBM with vector_offset, from SBUF with nisa.nc_n_gather
"""
