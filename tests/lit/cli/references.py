# RUN: nkijit bisect %s -a x=8x4:float32 --reference %S/Inputs/references.py:result | filecheck --check-prefix=SAME %s
# RUN: not nkijit bisect %s -a x=8x4:float32 --reference %S/Inputs/references.py:other | filecheck --check-prefix=OTHER %s
# RUN: not nkijit bisect %s -a x=8x4:float32 --reference %S/Inputs/references.py:nothing 2>&1 | filecheck --match-full-lines --check-prefix=NOTHING %s
# RUN: not nkijit bisect %s -a x=8x4:float32 --reference %S/Inputs/references.py:several 2>&1 | filecheck --check-prefix=SEVERAL %s
# RUN: not nkijit bisect %s -a x=8x4:float32 --reference %S/Inputs/references.py:nothing_named 2>&1 | filecheck --check-prefix=EMPTY %s

# Values that a reference function returns instead of named intermediates.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# SAME: nothing departs from the reference by more than rounding explains: 1 result agrees
# OTHER: references.py:[[# @LINE + 11]]: nisa.dma_copy departs: out[{{[0-9], [0-9]}}] is
# OTHER: compared with the reference: 1 result
# NOTHING: error: a run is compared with 'float32', a recording, an array for each result of the kernel (8x4 for 'out'), or a dict from names of variables to arrays, got None (NoneType); the kernel's variables are tile, twice, out
# SEVERAL: got float32 of shape (8, 4), float32 of shape (8, 4); the kernel's variables
# EMPTY: got {} (dict); the kernel's variables are tile, twice, out
@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    twice = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=twice, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=twice)
    return out
