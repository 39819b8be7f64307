import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="512x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(0, 512, 128):
        rows = nl.ds(i, 128)
        nisa.dma_copy(dst=out[rows], src=x[rows])
    return out


@nki.example(x="512x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    def body(i):
        rows = nl.ds(128 * i, 128)
        nisa.dma_copy(dst=out[rows], src=x[rows])

    nl.fori_loop(0, 4, body)
    return out


FINDING = r"""
warning[portable-name]: kernel 'wrong': 'nl.dynamic_range' was removed in NKI 0.7; use nl.fori_loop
  --> portable-name.py:10:14
    |
 10 |     for i in nl.dynamic_range(0, 512, 128):
    |              ^^^^^^^^^^^^^^^^
   = help: write what the notes name in its place, or choose the release with --nki
"""
