import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="512x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    middle, copies = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm), []

    def body(i):
        rows = nl.ds(128 * i, 128)
        copies.append(nisa.dma_copy(dst=middle[rows], src=x[rows]))

    nl.fori_loop(0, 4, body)
    nisa.dma_copy(dst=out, src=middle).depends_on(*copies)
    return out


@nki.example(x="512x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    middle = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)

    def body(i):
        rows = nl.ds(128 * i, 128)
        nisa.dma_copy(dst=middle[rows], src=x[rows])

    nl.fori_loop(0, 4, body)
    nisa.dma_copy(dst=out, src=middle)
    return out


FINDING = r"""
error[schedule-loop]: nisa.dma_copy: runs after 'dma_copy.0', which is in a loop on the device that this is not in
  --> schedule-loop.py:17:5
    |
 17 |     nisa.dma_copy(dst=out, src=middle).depends_on(*copies)
    |     ^^^^^^^^^^^^^
   = the loop is at schedule-loop.py:16:5
   = help: put both instructions into the same loop, or remove the edge: an instruction that reads or overwrites the data of a loop waits for it anyway
"""
