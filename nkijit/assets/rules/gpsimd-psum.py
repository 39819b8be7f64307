import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=one, src=tile)
    nisa.tensor_copy(dst=tile, src=one, engine=nisa.engine.gpsimd)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    one = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=one, src=tile)
    nisa.tensor_copy(dst=tile, src=one, engine=nisa.engine.vector)
    nl.store(out, tile)
    return out


FINDING = r"""
error[gpsimd-psum]: nisa.tensor_copy: the GpSimd Engine cannot reach PSUM, but 'src' is in PSUM
  --> gpsimd-psum.py:13:36
    |
 13 |     nisa.tensor_copy(dst=tile, src=one, engine=nisa.engine.gpsimd)
    |                                    ^^^
   = src: %one, psum 128x512 float32, allocated at gpsimd-psum.py:11:11
   = help: copy the tile to SBUF first with nisa.tensor_copy, or leave engine= to another engine
"""
