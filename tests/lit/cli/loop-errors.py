# RUN: not nkijit verify %s:step -a x=1x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=STEP %s
# RUN: not nkijit verify %s:left -a x=1x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=LEFT %s
# RUN: not nkijit verify %s:rebound -a x=1x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=REBOUND %s
# RUN: not nkijit verify %s:ordered -a x=1x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=ORDERED %s
# RUN: not nkijit verify %s:frozen -a x=1x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=FROZEN %s
# RUN: not nkijit verify %s:branch -a x=1x4:float32 2>&1 | filecheck --check-prefix=BRANCH %s

# Loops on the device that cannot be traced.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def step(x):
    # STEP: error[loop-step]: nl.dynamic_range: 'step' must be an int of at least 1, it is -1
    # STEP-NEXT: --> {{.*}}loop-errors.py:[[# @LINE + 5]]:{{[0-9]+}}
    # STEP-NEXT: |
    # STEP-NEXT: [[# @LINE + 3]] | for i in nl.dynamic_range(4, 0, -1):
    # STEP-NEXT: | {{\^+}}
    # STEP-NEXT: = help: pass a positive int, or count backwards in the body
    for i in nl.dynamic_range(4, 0, -1):
        nisa.register_move(nisa.register_alloc(), i)
    return x


@nki.jit
def left(x):
    for _ in nl.dynamic_range(4):
        # LEFT: error[loop-left]: nl.dynamic_range: its body was left before its end
        # LEFT: = help: leave the loop by its condition: no break, return or exception in its body
        break
    register = nisa.register_alloc(1)
    # LEFT: error[loop-left]: while: there is a break in the body of the loop
    while register:
        break
    return x


@nki.jit
def rebound(x):
    register = nisa.register_alloc(1)
    # REBOUND: error[loop-condition]: while: the test of the loop has become another register
    # REBOUND: = help: write that register with nisa.register_load or nisa.register_move, do not rebind its name
    while register:
        register = nisa.register_alloc(0)
    return x


@nki.jit
def ordered(x):
    with nl.no_reorder():
        # ORDERED: error[no-reorder-loop]: nl.dynamic_range: a loop on the device is inside nl.no_reorder
        # ORDERED: = help: put the no_reorder block into the body of the loop
        for _ in nl.dynamic_range(4):
            pass
    return x


@nki.jit
def frozen(x):
    for i in nl.dynamic_range(4):
        # FROZEN: error[frozen-register]: register: the induction variable is written
        # FROZEN: = help: move its value to a register of your own with nisa.register_move
        nisa.register_move(i, 0)
    return x


@nki.jit
def branch(x):
    # BRANCH: error[python-on-tensor]: a register: what it holds is known on the device only, so Python cannot branch on it with Python's if, or negate or combine it
    if nisa.register_alloc(1):
        return x
    return x
