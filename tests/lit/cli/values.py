"""The values of a run: the first NaN, every value, and the place where two kernels depart."""

# RUN: not nkijit run %s:softmax -a x=128x64:float32 -a scale=1000.0 --first-nan | filecheck --check-prefix=NAN %s
# NAN: values.py:56: nisa.activation made it: p[0, 0] is inf
# NAN-NEXT:     nisa.activation(dst=p, op=nl.exp, data=tile, scale=scale)
# NAN-NEXT:   {{[0-9,]+}} of 8,192 elements of p (128x64 float32) are such, dst[0, 0] is the first
# NAN-NEXT:   data = tile[0, 0] = {{[0-9.]+}}
# NAN-NEXT:   scale = 1000

# RUN: nkijit run %s:softmax -a x=128x64:float32 --first-nan | filecheck --check-prefix=NONE %s
# NONE: no NaN or infinity in the results of 3 instructions

# RUN: not nkijit bisect %s:shifted -a x=128x64:float32 --against %s:softmax | filecheck --check-prefix=PART %s
# PART: values.py:67: nisa.activation departs: p[{{[0-9]+, [0-9]+}}] is {{[0-9.]+}}, the reference has {{[0-9.]+}}
# PART-NEXT:     nisa.activation(dst=p, op=nl.exp, data=tile, scale=scale + 0.5)
# PART:   scale is 1.5, there missing
# PART-NEXT:   data = tile is the same, bit by bit

# RUN: nkijit bisect %s:softmax -a x=128x64:float32 --float32 | filecheck --check-prefix=AGREE %s
# AGREE: nothing departs from the same kernel in float32 by more than rounding explains: 3 results agree

# RUN: not nkijit bisect %s:softmax -a x=128x64:float32 2>&1 | filecheck --check-prefix=NOTHING %s
# NOTHING: error: give exactly one of --reference, --against and --float32

# RUN: nkijit record %s:softmax -a x=128x64:float32 | filecheck --check-prefix=RECORD %s
# RECORD: record of @softmax: 3 instructions, 3 variables
# RECORD: values.py:54  1  nisa.dma_copy  tile  128x64 float32
# RECORD: values.py:56  1  nisa.activation  p  128x64 float32

# RUN: nkijit report %s:softmax -a x=128x64:float32 -a scale=1000.0 --record -o %t.html && %unpack < %t.html | filecheck --check-prefix=PAGE %s
# PAGE: "turns":[["NaN or infinity",1,"{{.*}}values.py:56: nisa.activation made it: p[0, 0] is inf

# RUN: nkijit report %s:softmax -a x=128x64:float32 --record --against %s:shifted -o %t.html && %unpack < %t.html | filecheck --check-prefix=AGAINST %s
# AGAINST: "departed":{"text":"{{.*}}values.py:56: nisa.activation departs: p[

# RUN: rm -f %t.html && not nkijit report %s:softmax -a x=128x64:float32 --seed 1 -o %t.html 2>&1 | filecheck --check-prefix=SEED %s && not ls %t.html
# SEED: error: --seed needs --record

# RUN: not nkijit report %s:softmax -i x=missing.npy --record -o %t.html 2>&1 | filecheck --check-prefix=MISSING %s && not ls %t.html
# MISSING: error: -i x=missing.npy: no such file: missing.npy

# RUN: not nkijit report %s:softmax -a x=128x64:float32 --record -c 2 -o %t.html 2>&1 | filecheck --check-prefix=CORES %s && not ls %t.html
# CORES: kernel 'softmax' runs on 2 cores, whose instructions have no order between them

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def softmax(x, scale=1.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    p = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=p, op=nl.exp, data=tile, scale=scale)
    nisa.dma_copy(dst=out, src=p)
    return out


@nki.jit
def shifted(x, scale=1.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    p = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=p, op=nl.exp, data=tile, scale=scale + 0.5)
    nisa.dma_copy(dst=out, src=p)
    return out


# RUN: nkijit record %s:counted -a x=2x4:int32 2>/dev/null | filecheck --check-prefix=ROUNDED %s
# ROUNDED: integers that float32 arithmetic rounded
# ROUNDED-NEXT:   {{.*}}values.py:83: t[0, 2] is 16777216, exact is 16777217; 2 of 8 elements are rounded
# ROUNDED-NEXT:   {{.*}}values.py:84: t[0, 1] is 16777216, exact is 16777217; 6 of 8 elements are rounded


@nki.jit
def counted(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.iota(t, [[1, 4]], offset=2**24 - 1)
    nisa.tensor_scalar(t, t, nl.add, 0)
    nisa.tensor_scalar(t, t, nl.add, 1)
    nisa.dma_copy(dst=out, src=t)
    return out
