# RUN: nkijit verify %s:weights -a x=128x16:float32 | filecheck %s --check-prefix=WEIGHTS
# RUN: nkijit verify %s:toggle -a x=128x16:float32 | filecheck %s --check-prefix=TOGGLE
# RUN: nkijit verify %s:counted -a x=128x16:float32 | filecheck %s --check-prefix=COUNTED
# RUN: nkijit verify %s:names -a x=128x16:float32 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:assigned_first -a x=128x16:float32 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:once -a x=128x16:float32 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:unrolled_inside -a x=128x16:float32 | filecheck %s --check-prefix=NONE

# Python numbers that the body of a loop on the device changes.

import nki
import nki.isa as nisa
import nki.language as nl

# NONE-NOT: loop-number


@nki.jit
def weights(x):
    tile, weight = nl.load(x), 1.0
    # WEIGHTS: warning[loop-number]: nl.dynamic_range: its body is traced once, so 'weight' changes once, from 1.0 to 0.5, and not in each iteration
    # WEIGHTS-NEXT: --> {{.*}}loop-numbers.py:[[# @LINE + 2]]:{{[0-9]+}}
    # WEIGHTS: = help: write range(4), which traces the body for each iteration; or keep weight in a tile or a register that the body updates
    for _ in nl.dynamic_range(4):
        nisa.tensor_scalar(tile, tile, nl.add, weight)
        weight = weight / 2
    nl.store(x, tile)


@nki.jit
def toggle(x):
    tile, first = nl.load(x), True
    count = nisa.register_alloc(3)
    # TOGGLE: warning[loop-number]: nl.dynamic_range: its body is traced once, so 'first' changes once, from True to False, and not in each iteration
    # TOGGLE: = help: keep first in a tile or a register that the body updates
    for _ in nl.dynamic_range(count):
        nisa.tensor_scalar(tile, tile, nl.add, 1.0 if first else 2.0)
        first = False
    nl.store(x, tile)


# The number is read after the loop.
@nki.jit
def counted(x):
    tile, steps = nl.load(x), 0
    # COUNTED: warning[loop-number]: nl.dynamic_range: its body is traced once, so 'steps' changes once, from 0 to 1, and not in each iteration
    # COUNTED: = help: write range(2, 8, 2), which traces the body for each iteration; or keep steps in a tile or a register that the body updates
    for _ in nl.dynamic_range(2, 8, 2):
        nisa.tensor_scalar(tile, tile, nl.multiply, 0.5)
        steps += 1
    nisa.tensor_scalar(tile, tile, nl.add, steps)
    nl.store(x, tile)


# A counter for names.
@nki.jit
def names(x):
    tile, number = nl.load(x), 0
    for _ in nl.dynamic_range(4):
        part = nl.ndarray((128, 16), nl.float32, buffer=nl.sbuf, name=f"part{number}")
        nisa.tensor_scalar(part, tile, nl.multiply, 0.5)
        nisa.tensor_copy(tile, part)
        number += 2
    nl.store(x, tile)
    # NONE: for trn3 (default)


# Each iteration assigns the number before it reads it.
@nki.jit
def assigned_first(x):
    tile, scale = nl.load(x), 1.0
    nisa.tensor_scalar(tile, tile, nl.multiply, scale)
    for _ in nl.dynamic_range(4):
        scale = 0.5
        nisa.tensor_scalar(tile, tile, nl.multiply, scale)
    nl.store(x, tile)


@nki.jit
def once(x):
    tile, weight = nl.load(x), 1.0
    for _ in nl.dynamic_range(1):
        nisa.tensor_scalar(tile, tile, nl.add, weight)
        weight = weight / 2
    nl.store(x, tile)


# The sum of the inner loop starts anew in each iteration.
@nki.jit
def unrolled_inside(x):
    tile, total, k = nl.load(x), 7, 9
    nisa.tensor_scalar(tile, tile, nl.multiply, total * k)
    for _ in nl.dynamic_range(4):
        total = 0
        for k in range(3):
            total += k
        nisa.tensor_scalar(tile, tile, nl.multiply, total)
    nl.store(x, tile)
