# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x512:float32 | filecheck --match-full-lines %s

# Reads of memory that nothing has written: exchanged operands, sums without a start, a wrong order.

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def exchanged_store(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    t = nl.load(x)
    # CHECK: error[read-unwritten]: nl.store: 'value' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 7]]:17
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 5]] |     nl.store(t, out)
    # CHECK-NEXT: |                 ^^^
    # CHECK-NEXT: = value: %out, shared_hbm 128x512 float32, allocated at {{.*}}unwritten.py:[[# @LINE - 7]]:11
    # CHECK-NEXT: = nl.store is implemented with nisa.dma_copy
    # CHECK-NEXT: = help: 'dst' has been written: if the two are exchanged, pass out as 'dst' and t as 'value'; else store to out first, or read an argument of the kernel
    nl.store(t, out)
    return out


@nki.jit
def exchanged_copy(x):
    t = nl.load(x)
    u = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.tensor_copy: 'src' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:25
    # CHECK: = help: 'dst' has been written: if the two are exchanged, pass u as 'dst' and t as 'src'; else write u first, e.g. with nisa.memset or nisa.dma_copy
    nisa.tensor_copy(t, u)
    nl.store(x, u)


@nki.jit
def exchanged_activation(x):
    t = nl.load(x)
    u = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.activation: 'data' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:32
    # CHECK: = help: 'dst' has been written: if the two are exchanged, pass u as 'dst' and t as 'data'; else write u first, e.g. with nisa.memset or nisa.dma_copy
    nisa.activation(t, nl.exp, u)
    nl.store(x, u)


@nki.jit
def exchanged_load(x):
    t = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.dma_copy: 'src' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:22
    # CHECK: = help: 'dst' has been written: if the two are exchanged, pass t as 'dst' and x as 'src'; else write t first, e.g. with nisa.memset or nisa.dma_copy
    nisa.dma_copy(x, t)
    nisa.activation(t, nl.exp, t)
    nl.store(x, t)


@nki.jit
def sum_without_a_start(x):
    t = nl.load(x)
    total = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    for i in range(512):
        # CHECK: error[read-unwritten]: nisa.tensor_tensor: 'data1' is read, but nothing has written it
        # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:35
        # CHECK: = help: fill total before the loop: write nisa.memset(total, 0)
        nisa.tensor_tensor(total, total, t[:, i : i + 1], nl.add)
    nl.store(x[:, 0:1], total)


@nki.jit
def maximum_without_a_start(x):
    t = nl.load(x)
    largest = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    for i in range(512):
        # CHECK: error[read-unwritten]: nisa.tensor_tensor: 'data1' is read, but nothing has written it
        # CHECK: = help: fill largest before the loop: write nisa.memset(largest, float("-inf"))
        nisa.tensor_tensor(largest, largest, t[:, i : i + 1], nl.maximum)
    nl.store(x[:, 0:1], largest)


@nki.jit
def minimum_without_a_start(x):
    t = nl.ndarray((128, 512), nl.int32, buffer=nl.sbuf)
    nisa.memset(t, 1)
    least = nl.ndarray((128, 1), nl.int32, buffer=nl.sbuf)
    for i in nl.dynamic_range(512):
        # CHECK: error[read-unwritten]: nisa.tensor_tensor: 'data2' is read, but nothing has written it
        # CHECK: = help: fill least before the loop: write nisa.memset(least, 2147483647)
        nisa.tensor_tensor(least, t[:, nl.ds(i, 1)], least, nl.minimum)
    nl.store(x[:, 0:1], least)


@nki.jit
def product_without_a_start(x):
    t = nl.load(x)
    product = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.tensor_tensor: 'data1' is read, but nothing has written it
    # CHECK: = help: fill product before the instruction reads it: write nisa.memset(product, 1)
    nisa.tensor_tensor(product, product, t, nl.multiply)
    nl.store(x, product)


@nki.jit
def scaled_sum_without_a_start(x):
    t = nl.load(x)
    total = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.scalar_tensor_tensor: 'data' is read, but nothing has written it
    # CHECK: = help: fill total before the instruction reads it: write nisa.memset(total, 0)
    nisa.scalar_tensor_tensor(total, total, nl.multiply, 0.9, nl.add, t)
    nl.store(x, total)


@nki.jit
def exponential_of_nothing(x):
    t = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.activation: 'data' is read, but nothing has written it
    # CHECK: = help: write t first, e.g. with nisa.memset or nisa.dma_copy
    nisa.activation(t, nl.exp, t)
    nl.store(x, t)


@nki.jit
def too_early(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    # CHECK: error[read-unwritten]: nl.load: 'src' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:17
    # CHECK: = help: out is written later, in line [[# @LINE + 2]]: move the read after it
    t = nl.load(out)
    nl.store(out, nl.load(x))
    nl.store(x, t)
    return out


@nki.jit
def other_buffer(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    buffers = [nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf) for _ in range(2)]
    for i in range(4):
        nisa.dma_copy(buffers[(i + 1) % 2], x[:, i * 128 : (i + 1) * 128])
        # CHECK: error[read-unwritten]: nl.store: 'src' is read, but nothing has written it
        # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:9
        # CHECK: = help: 'src' is written in a later iteration, by line [[# @LINE - 3]]: write it in the same iteration (compare the indices of the two lines), or before the loop
        nl.store(out[:, i * 128 : (i + 1) * 128], buffers[i % 2])
    return out


# The write is in the statement of the read.
@nki.jit
def in_one_statement(x):
    t = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nl.exp: 'x' is read, but nothing has written it
    # CHECK: = help: write t first, e.g. with nisa.memset or nisa.dma_copy
    nisa.tensor_copy(
        t,
        nl.exp(t),
    )
    nl.store(x, t)


@nki.jit
def not_written(x):
    t = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    # CHECK: error[read-unwritten]: nl.store: 'value' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:19
    # CHECK: = help: write t first, e.g. with nisa.memset or nisa.dma_copy
    nl.store(out, t)
    return out


@nki.jit
def empty_psum(x):
    c = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    # CHECK: error[read-unwritten]: nl.copy: 'x' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:25
    # CHECK: = help: write c first, e.g. with nisa.nc_matmul
    nl.store(x, nl.copy(c))


# Another operand than the main one is not the other's place.
@nki.jit
def unwritten_bias(x):
    t = nl.load(x)
    bias = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    # CHECK: error[read-unwritten]: nisa.activation: 'bias' is read, but nothing has written it
    # CHECK-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:40
    # CHECK: = help: write bias first, e.g. with nisa.memset or nisa.dma_copy
    nisa.activation(t, nl.exp, t, bias=bias)
    nl.store(x, t)
