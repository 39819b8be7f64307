import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x4096:float32", scale="1x4096:float32")
@nki.jit
def wrong(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    rows = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=rows, src=scale.broadcast(dim=0, size=128))
    nisa.tensor_tensor(dst=tile, data1=tile, data2=rows, op=nl.multiply)
    nl.store(out, tile)
    return out


@nki.example(x="128x4096:float32", scale="1x4096:float32")
@nki.jit
def right(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    rows = nl.broadcast_to(nl.load(scale), x.shape)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=rows, op=nl.multiply)
    nl.store(out, tile)
    return out


FINDING = r"""
warning[broadcast-load]: nisa.dma_copy: reads 16384 bytes for each of 128 partitions, which takes the DMA engines about 4729 cycles more than reading them once
  --> broadcast-load.py:12:23
    |
 12 |     nisa.dma_copy(dst=rows, src=scale.broadcast(dim=0, size=128))
    |                       ^^^^      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = dst: %rows, sbuf 128x4096 float32, allocated at broadcast-load.py:11:12
   = src: %scale, private_hbm 128x4096 float32, a view of %scale (private_hbm 1x4096 float32), an argument of the kernel
   = help: load it into one partition, and repeat it with nl.broadcast_to(row, shape) or nisa.nc_stream_shuffle; load it once in front of loops
"""
