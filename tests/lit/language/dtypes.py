# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x64:float32 2>&1 | filecheck --match-full-lines %s

# Words of other libraries for data types, and data types that NKI does not have.

import numpy as np

import nki
import nki.language as nl


@nki.jit
def short_word(x):
    # CHECK: error[argument]: nl.ndarray: 'dtype': unknown data type 'fp32'; did you mean 'float32'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 5]]:33
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.ndarray((128, 64), dtype="fp32", buffer=nl.sbuf)
    # CHECK-NEXT: |                                 ^^^^^^
    # CHECK-NEXT: = help: write nl.float32
    nl.ndarray((128, 64), dtype="fp32", buffer=nl.sbuf)


@nki.jit
def shorter_word(x):
    # CHECK: error[argument]: nl.load: 'dtype': unknown data type 'f32'; did you mean 'float32'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:22
    # CHECK: = help: write nl.float32
    nl.load(x, dtype="f32")


@nki.jit
def word_of_c(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type 'half'; did you mean 'float16'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float16
    nl.zeros((128, 64), dtype="half", buffer=nl.sbuf)


@nki.jit
def short_bfloat(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type 'bf16'; did you mean 'bfloat16'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.bfloat16
    nl.zeros((128, 64), dtype="bf16", buffer=nl.sbuf)


@nki.jit
def eight_bits(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type 'fp8'; did you mean 'float8_e4m3'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float8_e4m3
    nl.zeros((128, 64), dtype="fp8", buffer=nl.sbuf)


@nki.jit
def type_code(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type '<f4'; did you mean 'float32'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float32
    nl.zeros((128, 64), dtype="<f4", buffer=nl.sbuf)


@nki.jit
def misspelt(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type 'flaot32'; did you mean 'float32'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float32
    nl.zeros((128, 64), dtype="flaot32", buffer=nl.sbuf)


@nki.jit
def class_of_python(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type float; did you mean 'float32'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float32
    nl.zeros((128, 64), dtype=float, buffer=nl.sbuf)


@nki.jit
def int_of_python(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type int; did you mean 'int32'?
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.int32
    nl.zeros((128, 64), dtype=int, buffer=nl.sbuf)


@nki.jit
def double_of_numpy(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type numpy.float64; NKI has no float64
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float32, the widest of its kind
    nl.zeros((128, 64), dtype=np.float64, buffer=nl.sbuf)


@nki.jit
def wide_word(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type ':float64'; NKI has no float64
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.float32, the widest of its kind
    nl.zeros((128, 64), dtype=":float64", buffer=nl.sbuf)


@nki.jit
def wide_integer(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type 'int64'; NKI has no int64
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: write nl.int32, the widest of its kind
    nl.zeros((128, 64), dtype="int64", buffer=nl.sbuf)


@nki.jit
def memory(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type <MemoryRegion.sbuf: 'sbuf'>
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:25
    # CHECK: = help: pass the memory as buffer=nl.sbuf, and e.g. dtype=nl.float32
    nl.zeros((128, 64), nl.sbuf)


@nki.jit
def tensor(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type NkiTensor(x: private_hbm 128x64 float32)
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: pass the data type of the tensor, e.g. dtype=x.dtype
    nl.zeros((128, 64), dtype=x, buffer=nl.sbuf)


@nki.jit
def nothing(x):
    # CHECK: error[argument]: nl.zeros: 'dtype': unknown data type None; known: bool_, int8, int16, int32, uint8, uint16, uint32, float16, float32, bfloat16, tfloat32, float8_e4m3, float8_e4m3fn, float8_e5m2, float8_e8m0fnu, float8_e5m2_x4, float8_e4m3fn_x4, float4_e2m1fn_x4
    # CHECK-NEXT: --> {{.*}}dtypes.py:[[# @LINE + 2]]:31
    # CHECK: = help: pass a data type of nl, e.g. dtype=nl.float32
    nl.zeros((128, 64), dtype=None, buffer=nl.sbuf)
