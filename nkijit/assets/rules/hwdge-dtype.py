import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge)
    nl.store(out, tile)
    return out


@nki.example(x="128x512:bfloat16")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, dge_mode=nisa.dge_mode.swdge)
    nl.store(out, tile)
    return out


FINDING = r"""
error[hwdge-dtype]: nisa.dma_copy: with dge_mode.hwdge nothing is converted, 'dst' is float32, 'src' is bfloat16
  --> hwdge-dtype.py:11:23
    |
 11 |     nisa.dma_copy(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge)
    |                       ^^^^      ^
   = dst: %tile, sbuf 128x512 float32, allocated at hwdge-dtype.py:10:12
   = src: %x, private_hbm 128x512 bfloat16, an argument of the kernel
   = help: pass dge_mode=nisa.dge_mode.swdge, which converts, or allocate dst with the data type of src
"""
