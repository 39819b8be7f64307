import nkijit as nki
import nkijit.classic as classic_nki
import nkijit.classic.language as classic_nl
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def known(x, scale=None):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if scale is None:
        nl.store(out, nl.load(x))
    return out


@nki.jit
def unknown(x, scale=None):
    return x if scale is None else None


@nki.example(x="128x512:float32")
@classic_nki.jit
def classic(x, scale=None):
    out = classic_nl.ndarray(x.shape, dtype=x.dtype, buffer=classic_nl.shared_hbm)
    if scale is None:
        classic_nl.store(out, classic_nl.load(x))
    return out
