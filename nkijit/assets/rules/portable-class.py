import nkijit as nki
import nkijit.language as nl


class Blocks:
    def __init__(self, width):
        self.width = width


@nki.example(x="128x512:float32")
@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = Blocks(256)
    for i in range(0, x.shape[1], blocks.width):
        nl.store(out[:, i : i + blocks.width], nl.load(x[:, i : i + blocks.width]))
    return out


class ColumnBlocks(nl.NKIObject):
    def __init__(self, width):
        self.width = width


@nki.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    blocks = ColumnBlocks(256)
    for i in range(0, x.shape[1], blocks.width):
        nl.store(out[:, i : i + blocks.width], nl.load(x[:, i : i + blocks.width]))
    return out


FINDING = r"""
warning[portable-class]: class 'Blocks': it inherits from object, not from NKIObject alone
  --> portable-class.py:14:14
    |
 14 |     blocks = Blocks(256)
    |              ^^^^^^
   = help: inherit from nl.NKIObject alone, e.g. class Config(nl.NKIObject), and leave out __slots__
"""
