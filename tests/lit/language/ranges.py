# RUN: not nkijit verify %s:divided | filecheck %s --check-prefix=DIVIDED
# RUN: not nkijit verify %s:missing | filecheck %s --check-prefix=MISSING
# RUN: not nkijit verify %s:tile_bound | filecheck %s --check-prefix=TILE
# RUN: not nkijit verify %s:array | filecheck %s --check-prefix=ARRAY
# RUN: not nkijit verify %s:no_step | filecheck %s --check-prefix=STEP
# RUN: not nkijit verify %s:classic_divided | filecheck %s --check-prefix=CLASSIC
# RUN: not nkijit verify %s:classic_tile | filecheck %s --check-prefix=CLASSIC-TILE

# Bounds of loops that are no integers.

import numpy as np

import neuronxcc.nki as classic
import neuronxcc.nki.language as cl
import nki
import nki.language as nl


@nki.jit
@nki.example(x="128x512:float32")
def divided(x):
    # DIVIDED: error[argument]: nl.affine_range: 'stop': expected an integer, got 4.0
    # DIVIDED-NEXT: --> {{.*}}ranges.py:[[# @LINE + 2]]:14
    # DIVIDED: = help: divide with // for an integer, e.g. x.shape[1] // 128
    for _ in nl.affine_range(x.shape[1] / 128):
        pass


@nki.jit
@nki.example(x="128x512:float32")
def missing(x, count=None):
    # MISSING: error[argument]: nl.sequential_range: 'stop': expected an integer, got None
    # MISSING: = help: pass an integer that is known while the kernel is traced, e.g. x.shape[0] // 128
    for _ in nl.sequential_range(count):
        pass


@nki.jit
@nki.example(x="128x512:float32")
def tile_bound(x):
    # TILE: error[argument]: nl.static_range: 'stop': expected an integer, got NkiTensor(tile: sbuf 128x512 float32)
    # TILE: = help: a loop whose bound is known only at run time is nl.dynamic_range over a register: r = nisa.register_alloc(); nisa.register_load(dst=r, src=tile[0:1, 0:1])
    tile = nl.load(x)
    for _ in nl.static_range(tile):
        pass


@nki.jit
@nki.example(x="128x512:float32")
def array(x):
    # ARRAY: error[argument]: nl.affine_range: 'stop': expected an integer, got
    for _ in nl.affine_range(np.zeros((3, 5), np.int32)):
        pass


@nki.jit
@nki.example(x="128x512:float32")
def no_step(x):
    # STEP: error[argument]: nl.static_range: 'step' is 0
    # STEP: = help: pass a positive or a negative step
    for _ in nl.static_range(0, 4, 0):
        pass


@classic.jit
@nki.example(x="128x512:float32")
def classic_divided(x):
    # CLASSIC: error[argument]: nl.affine_range: 'stop': expected an integer, got 4.0
    # CLASSIC: = help: divide with // for an integer, e.g. x.shape[1] // 128
    for _ in cl.affine_range(x.shape[1] / 128):
        pass
    return x


@classic.jit
@nki.example(x="128x512:float32")
def classic_tile(x):
    # CLASSIC-TILE: error[argument]: nl.sequential_range: 'stop': expected an integer, got
    # CLASSIC-TILE: = help: values of tensors are known on the device only: pass the bound to the kernel
    tile = cl.load(x)
    for _ in cl.sequential_range(0, tile):
        pass
    return x
