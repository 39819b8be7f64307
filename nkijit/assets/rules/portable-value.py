import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    done = set()
    for i in range(0, 512, 256):
        nl.store(out[:, i : i + 256], nl.load(x[:, i : i + 256]))
        done.add(i)
    assert len(done) == 2
    return out


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    done = []
    for i in range(0, 512, 256):
        nl.store(out[:, i : i + 256], nl.load(x[:, i : i + 256]))
        done.append(i)
    assert len(done) == 2
    return out


FINDING = r"""
warning[portable-value]: kernel 'wrong': set does not create a value of the language
  --> portable-value.py:9:12
   |
 9 |     done = set()
   |            ^^^
   = help: use a list, a tuple or a dictionary, and integers of 32 bits
"""
