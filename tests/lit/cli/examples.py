# Examples next to a kernel are its default arguments.

# RUN: nkijit verify %s:scaled %s:under | filecheck --check-prefix=VERIFY %s
# RUN: nkijit trace %s:scaled | filecheck --check-prefix=FIRST %s
# RUN: nkijit trace %s:scaled -a x=4x8:int8 | filecheck --check-prefix=OTHER %s
# RUN: nkijit run %s:under | filecheck --check-prefix=RUNNING %s
# RUN: not nkijit verify %s:wrong 2>&1 | filecheck --check-prefix=WRONG %s
# RUN: not nkijit verify %s:unknown 2>&1 | filecheck --check-prefix=UNKNOWN %s
# RUN: mkdir -p %t && cp %s %t/kernels.py
# RUN: echo '[tool.nkijit.kernels."kernels.py:scaled"]' > %t/pyproject.toml
# RUN: echo 'arguments = { x = "2x2:float32", scale = 1 }' >> %t/pyproject.toml
# RUN: nkijit trace %t/kernels.py:scaled | filecheck --check-prefix=PROJECT %s

import nkijit
import nkijit as nki
import nkijit.language as nl

# FIRST: nki.kernel @scaled(%x: memref<128x512xbf16
# OTHER: nki.kernel @scaled(%x: memref<4x8xi8
# PROJECT: nki.kernel @scaled(%x: memref<2x2xf32


@nkijit.example(x="128x512:bfloat16", scale=2.0)
@nkijit.example(x="64x64:float32", scale=3.0)
@nki.jit
def scaled(x, scale):
    # VERIFY: {{.*}}:scaled: no findings for trn3 (default)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), scale))
    return out


# RUNNING: ...
@nki.jit
@nkijit.example(x="128x64:float32", dtype=nl.bfloat16)
def under(x, dtype):
    # VERIFY: {{.*}}:under: no findings for trn3 (default)
    out = nl.ndarray(x.shape, dtype=dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x, dtype=dtype))
    return out


# WRONG: error: {{.*}}examples.py:[[# @LINE + 2]]:1: @nkijit.example: x: a tensor needs a data type, e.g. 128x512:float32
# WRONG-NEXT:   128x512
@nkijit.example(x="128x512")
@nki.jit
def wrong(x):
    return x


# UNKNOWN: error: {{.*}} has no argument 'y'; it has x
@nkijit.example(y="128x512:float32")
@nki.jit
def unknown(x):
    return x
