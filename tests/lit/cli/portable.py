# RUN: nkijit verify --portable --nki 0.6 %s:kernel > %t
# RUN: filecheck --match-full-lines %s < %t
# RUN: filecheck --match-full-lines --check-prefix=HELPER %s < %t
# RUN: not nkijit verify --portable --nki 0.6 %s:other -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=OTHER %s
# RUN: not nkijit verify --portable %S/Inputs/two_kernels.mlir 2>&1 | filecheck --check-prefix=IR %s

# Python that nkijit runs and the vendor's compiler does not take. These are warnings: the command
# succeeds. Nothing is traced unless there are arguments.

from enum import Enum

import nkijit as nki


class Colour(Enum):
    red = 1


class Plain:
    pass


exec("def unread(x):\n    return x")


@nki.jit
def inner(x):
    return x


def helper(x):
    # HELPER: warning[portable-identity]: function 'helper': 'is' is used
    # HELPER-NEXT: --> {{.*}}portable.py:[[# @LINE + 6]]:14
    # HELPER-NEXT: |
    # HELPER-NEXT: [[# @LINE + 4]] | return x is None
    # HELPER-NEXT: | ^^
    # HELPER-NEXT: = called from {{.*}}portable.py:[[# @LINE + 40]]:5
    # HELPER-NEXT: = help: compare with == or !=
    return x is None


TABLE = {}


@nki.jit
# CHECK: warning[portable-list-argument]: kernel 'kernel': a parameter's default is a list
# CHECK: warning[portable-keyword-only]: kernel 'kernel': 'b' comes after a * and is keyword-only
def kernel(x, a=[1, 2], *, b=1):  # noqa: B006
    # CHECK: warning[portable-try]: kernel 'kernel': try is not part of the language
    try:
        x = x.reshape((1, 2))
    finally:
        pass
    # CHECK: warning[portable-control-flow]: kernel 'kernel': match is not part of the language
    match a:
        case _:
            pass
    # CHECK: warning[portable-generator]: kernel 'kernel': a generator expression is not a value of the language
    tuple(i for i in a)
    # CHECK: warning[portable-import]: kernel 'kernel': an import is in the body
    import math

    # CHECK: warning[portable-dict-key]: kernel 'kernel': the key 1 is not a string
    tiles = {1: math.pi}
    # CHECK: warning[portable-value]: kernel 'kernel': a set is not a value of the language
    tiles["set"] = {1, 2}
    # CHECK: warning[portable-class]: class 'Plain': it inherits from object, not from NKIObject alone
    tiles["plain"] = Plain()
    # CHECK: warning[portable-enum]: kernel 'kernel': Colour.red is the operand of an operator
    tiles["enum"] = Colour.red | 2
    # CHECK: warning[portable-state]: kernel 'kernel': 'TABLE' is a dict outside of the function
    tiles["state"] = TABLE
    # CHECK: warning[portable-nested-kernel]: kernel 'kernel': 'inner' is decorated with nki.jit
    inner(x)
    # CHECK: warning[portable-source]: function 'unread': its source cannot be read, so it has not been checked
    unread(x)  # noqa: F821
    helper(x)
    # CHECK: 14 warnings


@nki.jit
def other(x):
    # OTHER: error[return-value]: kernel 'other': {{.*}}
    # OTHER: warning[portable-identity]: kernel 'other': 'is not' is used
    # OTHER: 1 error and 1 warning for trn3 (default)
    return x is not None


# IR: error: --portable checks Python source, which a .mlir file does not have
