# Arrays come from files and go to files, in NumPy's format.
# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s write %t
# RUN: nkijit run %s:scaled -i x=%t/x.npy -a scale=3.0 -o %t/scaled.npy
# RUN: %python %s check %t/scaled.npy %t/x.npy 3.0

# Without a name the files are the arguments in order, without -o the results are printed.
# RUN: nkijit run %s:sum_and_difference -i %t/x.npy -i %t/y.npy -o %t/sum.npy -o %t/difference.npy
# RUN: %python %s check %t/sum.npy %t/x.npy 3.0
# RUN: %python %s check %t/difference.npy %t/x.npy -1.0
# RUN: nkijit run %s:sum_and_difference -i y=%t/x.npy -i %t/x.npy | filecheck --match-full-lines %s
# CHECK: {{\[\[}} 0. 2. 4. 6.]
# CHECK-NEXT: [ 8. 10. 12. 14.]]
# CHECK-NEXT: {{\[\[}}0. 0. 0. 0.]
# CHECK-NEXT: [0. 0. 0. 0.]]

# The format has no bfloat16: it is read and written as its bits, and -a gives the type.
# RUN: nkijit run %s:scaled -i x=%t/x.bits.npy -a x=2x4:bfloat16 -a scale=3.0 -o %t/scaled.bits.npy
# RUN: %python %s check %t/scaled.bits.npy %t/x.npy 3.0

# A file of IR says the types of its arguments itself.
# RUN: nkijit trace %s:scaled -a x=2x4:bfloat16 -a scale=3.0 -o %t/scaled.mlir
# RUN: nkijit run %t/scaled.mlir -i x=%t/x.bits.npy -o %t/scaled.mlir.npy
# RUN: %python %s check %t/scaled.mlir.npy %t/x.npy 3.0

# Errors: a message, exit code 1, and no result.
# RUN: not nkijit run %s:scaled -i x=%t/nothing.npy 2>&1 | filecheck --check-prefix=MISSING %s
# MISSING: error: -i x={{.*}}nothing.npy: no such file: {{.*}}nothing.npy
# RUN: not nkijit run %s:scaled -i x=%s 2>&1 | filecheck --check-prefix=FORMAT %s
# FORMAT: error: -i x={{.*}}run.py: cannot read {{.*}}run.py:
# RUN: not nkijit run %s:scaled 2>&1 | filecheck --match-full-lines --check-prefix=INPUT %s
# INPUT: error: argument 'x' is missing; {{.*}} has x, scale. Add -i x=x.npy if it is a tensor, -a x=2.0 if it is a value
# RUN: not nkijit run %s:scaled -i z=%t/x.npy 2>&1 | filecheck --match-full-lines --check-prefix=NAME %s
# NAME: error: {{.*}} has no argument 'z'; it has x, scale
# RUN: not nkijit run %s:scaled -i %t/x.npy -i %t/x.npy -i %t/x.npy 2>&1 | filecheck --match-full-lines --check-prefix=MANY %s
# MANY: error: more inputs than the kernel has arguments
# RUN: not nkijit run %s:scaled -i x=%t/x.npy -o %t/a.npy -o %t/b.npy 2>&1 | filecheck --match-full-lines --check-prefix=RESULTS %s
# RESULTS: error: the kernel has 1 result, -o is given 2 times
# RUN: not nkijit run %t/scaled.mlir -i x=%t/x.npy 2>&1 | filecheck --match-full-lines --check-prefix=DTYPE %s
# DTYPE: error: input 'x': expected bfloat16, the file holds float32
# RUN: not nkijit run %t/scaled.mlir -i y=random 2>&1 | filecheck --match-full-lines --check-prefix=IRINPUT %s
# IRINPUT: error: no tensor argument 'y'; there are x
# RUN: nkijit run %t/scaled.mlir --seed 2 > %t/random
# RUN: not nkijit run %s:wrong -i x=%t/x.npy 2>&1 | filecheck --match-full-lines --check-prefix=WRONG %s
# WRONG: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
# WRONG: 1 error

import sys
from pathlib import Path

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def scaled(x, scale=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nl.store(out, tile)
    return out


@nki.jit
def sum_and_difference(x, y):
    out = {"sum": nl.add, "difference": nl.subtract}
    left, right = nl.load(x), nl.load(y)
    for name, op in out.items():
        tile = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=tile, data1=left, data2=right, op=op)
        out[name] = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out[name], tile)
    return out


@nki.jit
def wrong(x):
    tile = nl.load(x)
    nisa.activation(dst=tile, op=nl.add, data=tile)
    return x


def write(folder):
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", x * 2)
    # Small integers are exact in bfloat16, the upper half of a float32.
    np.save(folder / "x.bits.npy", (x.view(np.uint32) >> 16).astype(np.uint16))


def check(result, reference, factor):
    array = np.load(result)
    if array.dtype == np.uint16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    assert array.dtype == np.float32, array.dtype
    np.testing.assert_array_equal(array, np.load(reference) * np.float32(factor))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "write":
        write(Path(arguments[0]))
    else:
        check(*arguments)
