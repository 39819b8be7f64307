import nkijit as nki
import nkijit.language as nl


@nki.example(x="256x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    half = x.shape[0] // 2
    first = half * nl.program_id(0)
    nl.store(out[first : first + half], nl.load(x[first : first + half]))
    return out


@nki.example(x="256x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    half = x.shape[0] // 2
    first = half * nl.program_id(0)
    nl.store(out[first : first + half], nl.load(x[first : first + half]))
    return out


wrong, right = wrong[2], right[2]


FINDING = r"""
error[return-shared]: nki.return: result 0 lives in private_hbm
   = in: nki.return %out
   = result 0: %out, private_hbm 256x512 float32, allocated at return-shared.py:8:11
   = help: allocate the result with buffer=nl.shared_hbm
"""
