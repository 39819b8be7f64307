# Proofs that kernels are equal for all inputs, and terms of elements.

# RUN: nkijit prove %s:old %s:reordered -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=BITS %s
# BITS:equal for all inputs: bits

# RUN: nkijit prove %s:old %s:narrow -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=ROUNDING %s
# RUN: not nkijit prove %s:old %s:narrow -a x=128x512:float32 --level bits | filecheck --match-full-lines --check-prefix=NARROW %s
# ROUNDING:equal for all inputs: rounding
# ROUNDING-NEXT:  new: {{.*}}prove.py:44 rounds to bfloat16
# NARROW:not proven equal: y[0, 0] differs, and 65535 more elements
# NARROW-NEXT:  old: (x[0, 0] - max(x[0, 0:512])) * 0.125  at {{.*}}prove.py:44 inside exp
# NARROW-NEXT:  new: bfloat16((x[0, 0] - max(x[0, 0:512])) * 0.125)  at {{.*}}prove.py:44

# RUN: not nkijit prove %s:old %s:wrong -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=WRONG %s
# WRONG:not proven equal: y[0, 0] differs, and 65535 more elements
# WRONG-NEXT:  old: 0.125  at {{.*}}prove.py:44 inside multiply of exp
# WRONG-NEXT:  new: 0.25  at {{.*}}prove.py:44

# RUN: nkijit prove %s:narrow -a x=128x512:float32 --element 'y[3, 7]' | filecheck --match-full-lines --check-prefix=ELEMENT %s
# ELEMENT:y[3, 7]: exp(bfloat16((x[3, 7] - max(x[3, 0:512])) * 0.125))  at {{.*}}prove.py:47
# ELEMENT-NEXT:  depends on 512 elements of x

# RUN: nkijit prove %s:tiled -a x=128x512:float32 -a tile=512 -b tile=128 | filecheck --match-full-lines --check-prefix=BITS %s

# RUN: not nkijit prove %s:old -a x=128x512:float32 2>&1 | filecheck --check-prefix=ONE %s
# RUN: not nkijit prove %s:old -a x=128x512:float32 --element 'z[0, 0]' 2>&1 | filecheck --check-prefix=NAME %s
# ONE: prove compares two kernels: nkijit prove OLD NEW; or one kernel with other arguments: -b NAME=VALUE; or give --element
# NAME: --element z[0, 0]: there is no result 'z'; there are y

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


def made(x, dtype, scale, halves):
    y = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    scaled = nl.ndarray((128, 512), dtype, buffer=nl.sbuf)
    result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    top = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    nisa.tensor_reduce(top, op=nl.maximum, data=tile, axis=1)
    for part in halves:
        nisa.tensor_scalar(
            scaled[:, part], tile[:, part], nl.subtract, top, op1=nl.multiply, operand1=scale
        )
        nisa.activation(result[:, part], nl.exp, scaled[:, part])
    nisa.dma_copy(y, result)
    return y


WHOLE = [slice(0, 512)]


@nki.jit
def old(x):
    return made(x, nl.float32, 0.125, WHOLE)


@nki.jit
def reordered(x):
    return made(x, nl.float32, 0.125, [slice(256, 512), slice(0, 256)])


@nki.jit
def narrow(x):
    return made(x, nl.bfloat16, 0.125, WHOLE)


@nki.jit
def wrong(x):
    return made(x, nl.float32, 0.25, WHOLE)


@nki.jit
def tiled(x, tile):
    return made(x, nl.float32, 0.125, [slice(at, at + tile) for at in range(0, 512, tile)])
