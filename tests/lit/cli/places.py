# RUN: not nkijit verify %s:in_a_loop -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=LOOP %s
# RUN: not nkijit verify %s:in_a_function -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=CALL %s
# RUN: not nkijit verify %s:on_one_line -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=LINE %s
# RUN: not nkijit verify %s:of_a_view -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=VIEW %s

# Where findings are shown when one line runs several times, or one instruction is wrong twice.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# A mistake in an unrolled loop is reported once, also if sizes differ between iterations.
@nki.jit
def in_a_loop(x):
    tile = nl.load(x)
    for columns in (16, 32, 64):
        # LOOP: error[free-size-match]: nisa.reciprocal: different numbers of elements per partition: 'data' has 512, 'dst' has 16
        # LOOP-NEXT: --> {{.*}}places.py:[[# @LINE + 8]]:54
        # LOOP-NEXT: |
        # LOOP-NEXT: [[# @LINE + 6]] | nisa.reciprocal(dst=tile[:, 0:columns], data=tile)
        # LOOP-NEXT: | ^^^^^^^^^^^^^^^^^^       ^^^^
        # LOOP-NEXT: = data: %tile, sbuf 128x512 float32, allocated at {{.*}}places.py:[[# @LINE - 7]]:12
        # LOOP-NEXT: = dst: %tile, sbuf 128x16 float32, a view of %tile (sbuf 128x512 float32), allocated at {{.*}}places.py:[[# @LINE - 8]]:12
        # LOOP-NEXT: = the same finding 3 times at this place, in an unrolled loop or call
        # LOOP-NEXT: = help: slice the larger one, tile[:, 0:16], or allocate 'dst' with 512 elements per partition
        nisa.reciprocal(dst=tile[:, 0:columns], data=tile)
    # LOOP: 1 error for trn3 (default)


def exponentials(dst, data):
    nisa.activation(dst=dst, op=nl.power, data=data)


# The line that is wrong comes first, then the lines that called it.
@nki.jit
def in_a_function(x):
    tile = nl.load(x)
    # CALL: error[activation-function]: nisa.activation: 'op' is nl.power, which is not an activation function
    # CALL-NEXT: --> {{.*}}places.py:[[# @LINE - 8]]:33
    # CALL-NEXT: |
    # CALL-NEXT: [[# @LINE - 10]] | nisa.activation(dst=dst, op=nl.power, data=data)
    # CALL-NEXT: | ^^^^^^^^
    # CALL-NEXT: = called from {{.*}}places.py:[[# @LINE + 2]]:5
    # CALL-NEXT: = help: pass an activation function, e.g. nl.exp or nl.gelu; operators such as nl.add go to nisa.tensor_tensor and nisa.tensor_scalar
    exponentials(tile, tile)
    # CALL: error[activation-function]: {{.*}}
    # CALL: = called from {{.*}}places.py:[[# @LINE + 1]]:5
    exponentials(tile, tile)
    # CALL: 2 errors for trn3 (default)


# One instruction breaks one rule with two of its operands: two findings.
@nki.jit
def on_one_line(x):
    tile = nl.load(x)
    short = nl.ndarray((64, 1), dtype=nl.float32, buffer=nl.sbuf)
    wide = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
    for column in (short, wide):
        nisa.memset(dst=column, value=1.0)
    # LINE: error[column]: nisa.activation: 'scale' must have shape (128, 1), one element for each partition of 'data', it is 64x1
    # LINE: error[column]: nisa.activation: 'bias' must have shape (128, 1), one element for each partition of 'data', it is 128x2
    nisa.activation(dst=tile, op=nl.exp, data=tile, scale=short, bias=wide)
    # LINE: 2 errors for trn3 (default)


# A view is shown with its own shape and data type, and with its tensor.
@nki.jit
def of_a_view(x):
    tile = nl.load(x)
    bits = tile.view(nl.int16)
    # VIEW: error[bitvec-dtype]: nisa.tensor_tensor: integers of different widths: 'data1' is int16, 'data2' is int32, 'dst' is int16
    # VIEW: = data1: %tile, sbuf 128x1024 int16, a view of %tile (sbuf 128x512 float32), allocated at {{.*}}places.py:[[# @LINE - 3]]:12
    words = nl.zeros((128, 1024), dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=bits, data1=bits, data2=words, op=nl.bitwise_and)
    # VIEW: 1 error for trn3 (default)
