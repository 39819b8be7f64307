# RUN: not nkijit verify %s:kernel -a 'x=[[1.0, 2.0], [3.0, 4.0]]' | filecheck --match-full-lines --check-prefix=FLOATS %s
# RUN: not nkijit verify %s:kernel -a 'x=[1, 2, 3]' | filecheck --match-full-lines --check-prefix=INTS %s
# RUN: not nkijit verify %s:kernel -a 'x=[[1, 2], [3]]' | filecheck --match-full-lines --check-prefix=ROWS %s
# RUN: not nkijit verify %s:maximum -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=MAX %s

# A list in the place of an array, and a tile in the place of an axis.

import nki
import nki.language as nl


@nki.jit
def kernel(x):
    # FLOATS: error[unknown-name]: x.shape: the object, of type list, has no 'shape'
    # FLOATS: = help: 'x' is a list: pass an array, np.array(x, np.float32), or on the command line -a x=2x2:float32
    # INTS: = help: 'x' is a list: pass an array, np.array(x, np.int32), or on the command line -a x=3:int32
    # ROWS: = help: correct the spelling, import the name, or assign the variable before this line
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@nki.jit
def maximum(x):
    t = nl.load(x)
    # MAX: error[argument]: nl.max: 'axis': expected an integer or a sequence of integers, got NkiTensor(t: sbuf 128x64 float32)
    # MAX: = help: nl.max reduces along an axis; for two tiles, write nl.maximum(t, t)
    return nl.max(t, t)
