# RUN: not nkijit verify %s -a x=128x64:float32 > %t
# RUN: filecheck --match-full-lines %s < %t
# RUN: nkijit verify --portable --nki 0.6 %s | filecheck --match-full-lines --check-prefix=PYTHON %s

# Comments that suppress warnings, and findings about comments that do not.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def kernel(x):
    # CHECK: error[activation-function]: nisa.activation: 'op' is nl.add, which is not an activation function
    # CHECK: warning[unused-suppression]: ignore[buffer]: no warning of this rule is reported here
    # CHECK-NEXT: --> {{.*}}suppression.py:[[# @LINE + 4]]:26
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 2]] | tile = nl.load(x)  # nkijit: ignore[buffer]
    # CHECK-NEXT: | ^^^^^^
    tile = nl.load(x)  # nkijit: ignore[buffer]
    # CHECK: warning[unknown-rule]: ignore[buffers]: there is no rule 'buffers'; did you mean 'buffer'?
    # CHECK: = help: name rules by the ids that findings show in brackets, e.g. # nkijit: ignore[dead-store]
    # PYTHON: warning[unknown-rule]: ignore[buffers]: there is no rule 'buffers'; did you mean 'buffer'?
    nisa.reciprocal(
        dst=tile,  # nkijit: ignore[buffers]
        data=tile,
    )
    # CHECK: warning[suppression-of-error]: ignore[activation-function]: an error of this rule is reported here
    # CHECK-NEXT: --> {{.*}}suppression.py:[[# @LINE + 7]]:56
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 5]] | nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    # CHECK-NEXT: | ^^^^^^
    # CHECK-NEXT: ::: {{.*}}suppression.py:[[# @LINE + 3]]:5
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 1]] | nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    nisa.activation(dst=tile, op=nl.add, data=tile)  # nkijit: ignore[activation-function]
    # CHECK-NEXT: | --------------- the error
    # CHECK-NEXT: = help: fix the error and remove the comment
    if x is None:  # nkijit: ignore[portable-identity]
        return tile
    # PYTHON-NOT: {{.*}}portable-identity{{.*}}
    # PYTHON: warning[portable-value]: kernel 'kernel': a set is not a value of the language
    # PYTHON: warning[unknown-rule]: ignore[portable-values]: there is no rule 'portable-values'; did you mean 'portable-value'?
    # PYTHON: 3 warnings
    nisa.memset(dst=tile, value=len({1}))  # nkijit: ignore[portable-values]
    # CHECK: 1 error and 4 warnings for trn3 (default)
    return x
