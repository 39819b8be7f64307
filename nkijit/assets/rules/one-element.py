import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x512:int32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    number = nisa.register_alloc(0)
    nisa.register_load(number, x)
    nl.store(out[:, nl.ds(number, 256)], nl.load(x[:, 0:256]))
    return out


@nki.example(x="128x512:int32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    number = nisa.register_alloc(0)
    nisa.register_load(number, x[0:1, 0:1])
    nl.store(out[:, nl.ds(number, 256)], nl.load(x[:, 0:256]))
    return out


FINDING = r"""
error[one-element]: nisa.register_load: 'src' must have one element, it has 65536
  --> one-element.py:12:32
    |
 12 |     nisa.register_load(number, x)
    |                                ^
   = src: %x, private_hbm 128x512 int32, an argument of the kernel
   = help: take one element of the tensor, e.g. tensor[0:1, 0:1]
"""
