# RUN: nkijit verify %s:count -a flags=128x256:uint8 | filecheck %s --check-prefix=COUNT
# RUN: nkijit verify %s:count -a flags=128x255:uint8 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:count -a flags=128x128:int8 | filecheck %s --check-prefix=SIGNED
# RUN: nkijit verify %s:count -a flags=128x512:int16 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:largest -a flags=128x512:uint8 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:counted_in_steps | filecheck %s --check-prefix=STEPS
# RUN: nkijit verify %s:total -a x=64x128x512:bfloat16 | filecheck %s --check-prefix=TOTAL
# RUN: nkijit verify %s:total -a x=63x128x512:bfloat16 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:total -a x=64x128x512:float16 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:total -a x=64x128x512:float32 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:on_the_device -a x=64x128x512:bfloat16 | filecheck %s --check-prefix=DEVICE
# RUN: nkijit verify %s:new_tiles -a x=64x128x512:bfloat16 | filecheck %s --check-prefix=TILES
# RUN: nkijit verify %s:short_sums -a x=64x128x512:bfloat16 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:columns -a x=64x128x512:bfloat16 | filecheck %s --check-prefix=NONE

# Sums of many terms in data types that saturate or round them.

import nki
import nki.isa as nisa
import nki.language as nl

# NONE-NOT: -sum]


@nki.jit
def count(flags):
    out = nl.ndarray((128, 1), flags.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 1), flags.dtype, buffer=nl.sbuf)
    # COUNT: warning[saturated-sum]: nisa.tensor_reduce: adds up 256 integers, but 'dst' is uint8, which saturates at 255
    # COUNT: = dst: %total, sbuf 128x1 uint8
    # COUNT: = help: give the sum the data type nl.int32 or nl.float32
    # SIGNED: warning[saturated-sum]: nisa.tensor_reduce: adds up 128 integers, but 'dst' is int8, which saturates at 127
    nisa.tensor_reduce(dst=total, op=nl.add, data=nl.load(flags), axis=1)
    nisa.dma_copy(dst=out, src=total)
    # NONE: for trn3 (default)
    return out


@nki.jit
def largest(flags):
    out = nl.ndarray((128, 1), flags.dtype, buffer=nl.shared_hbm)
    high = nl.ndarray((128, 1), flags.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=high, op=nl.maximum, data=nl.load(flags), axis=1)
    nisa.dma_copy(dst=out, src=high)
    return out


@nki.jit
def counted_in_steps():
    out = nl.ndarray((128, 8), nl.uint8, buffer=nl.shared_hbm)
    total, one = nl.zeros((128, 8), nl.uint8), nl.ones((128, 8), nl.uint8)
    for _ in nl.dynamic_range(20):
        for _ in nl.dynamic_range(20):
            # STEPS: warning[saturated-sum]: nisa.tensor_tensor: adds 400 integers one after the other, but 'dst' is uint8, which saturates at 255
            nisa.tensor_tensor(dst=total, data1=total, data2=one, op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


@nki.jit
def total(x):
    out = nl.ndarray((128, 512), x.dtype, buffer=nl.shared_hbm)
    result = nl.zeros((128, 512), x.dtype)
    for k in range(x.shape[0]):
        # TOTAL: warning[rounded-sum]: nisa.tensor_tensor: adds 64 terms one after the other, and rounds each sum to bfloat16
        # TOTAL: = help: allocate result as nl.float32, and convert it to bfloat16 after the last addition
        # TOTAL-NOT: -sum]
        nisa.tensor_tensor(dst=result, data1=result, data2=nl.load(x[k]), op=nl.add)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def on_the_device(x):
    out = nl.ndarray((128, 512), x.dtype, buffer=nl.shared_hbm)
    result = nl.zeros((128, 512), x.dtype)
    for k in nl.dynamic_range(64):
        # DEVICE: warning[rounded-sum]: nisa.tensor_tensor: adds 64 terms one after the other, and rounds each sum to bfloat16
        nisa.tensor_tensor(dst=result, data1=result, data2=nl.load(x[k]), op=nl.add)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def new_tiles(x):
    out = nl.ndarray((128, 512), x.dtype, buffer=nl.shared_hbm)
    result = nl.zeros((128, 512), x.dtype)
    for k in range(64):
        # TILES: warning[rounded-sum]: nl.add: adds 64 terms one after the other, and rounds each sum to bfloat16
        result = nl.add(result, nl.load(x[k]))
    nisa.dma_copy(dst=out, src=result)
    return out


# Each sum has eight terms.
@nki.jit
def short_sums(x):
    out = nl.ndarray((8, 128, 512), x.dtype, buffer=nl.shared_hbm)
    result = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
    for block in range(8):
        nisa.memset(dst=result, value=0.0)
        for k in range(8):
            tile = nl.load(x[block * 8 + k])
            nisa.tensor_tensor(dst=result, data1=result, data2=tile, op=nl.add)
        nisa.dma_copy(dst=out[block], src=result)
    return out


# Each iteration adds to another column.
@nki.jit
def columns(x):
    out = nl.ndarray((128, 64), x.dtype, buffer=nl.shared_hbm)
    result = nl.zeros((128, 64), x.dtype)
    for k in range(64):
        part = nl.sum(nl.load(x[k]), axis=1, keepdims=True)
        column = result[:, k : k + 1]
        nisa.tensor_tensor(dst=column, data1=column, data2=part, op=nl.add)
    nisa.dma_copy(dst=out, src=result)
    return out
