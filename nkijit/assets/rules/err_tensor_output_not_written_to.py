import nkijit
import nkijit.classic as nki
import nkijit.classic.language as nl


@nkijit.example(x="128x512:float32")
@nki.jit
def wrong(x):
    nl.load(x)


@nkijit.example(x="128x512:float32")
@nki.jit
def right(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


FINDING = r"""
error[err_tensor_output_not_written_to]: kernel 'wrong': it returns nothing, and writes no parameter
  --> err_tensor_output_not_written_to.py:8:5
   |
 8 | def wrong(x):
   |     ^^^^^
   = help: check that the loops and conditions around the stores are entered
"""
