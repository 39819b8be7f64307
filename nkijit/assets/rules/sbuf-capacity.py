import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.example(x="128x40960:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    one = nl.load(x)
    two = nl.exp(one)
    nisa.tensor_tensor(dst=two, data1=one, data2=two, op=nl.add)
    nl.store(out, two)
    return out


@nki.example(x="128x40960:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, 40960, 4096):
        one = nl.load(x[:, i : i + 4096])
        two = nl.exp(one)
        nisa.tensor_tensor(dst=two, data1=one, data2=two, op=nl.add)
        nl.store(out[:, i : i + 4096], two)
    return out


FINDING = r"""
error[sbuf-capacity]: nl.exp: the tiles in use here need 327680 bytes per partition of SBUF, trn3 has 245752 for a kernel
  --> sbuf-capacity.py:11:11
    |
 11 |     two = nl.exp(one)
    |           ^^^^^^
   = tile  shape and type      bytes  in use          allocated at
   = %one  128x40960 float32  163840  lines 10 to 12  sbuf-capacity.py:10:11
   = %two  128x40960 float32  163840  lines 11 to 13  sbuf-capacity.py:11:11
   = nl.exp is implemented with nisa.activation
   = help: split 'one' into parts and work on one at a time, or load it later
"""
