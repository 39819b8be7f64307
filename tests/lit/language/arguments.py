# RUN: %python %S/../Inputs/verify_kernels.py %s -a x=128x64:float32 | filecheck --match-full-lines %s

# Arguments and results of another kind, with the text to write instead.

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def byte_address(x):
    # CHECK: error[argument]: nl.ndarray: 'address': expected (partition offset, byte offset in the partition), got 0
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 5]]:62
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] |     nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf, address=0)
    # CHECK-NEXT: |                                                              ^
    # CHECK-NEXT: = help: write address=(0, 0): partition 0 and the byte in each partition
    nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf, address=0)


@nki.jit
def short_address(x):
    # CHECK: error[argument]: nl.ndarray: 'address': expected (partition offset, byte offset in the partition), got (64,)
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:62
    # CHECK: = help: write address=(partition, byte), e.g. address=(0, 0), or leave address= out
    nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf, address=(64,))


@nki.jit
def float_address(x):
    # CHECK: error[argument]: nl.ndarray: 'address': expected (partition offset, byte offset in the partition), got (0, 256.0)
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:62
    # CHECK: = help: divide sizes with //, which gives ints; / gives floats
    nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf, address=(0, 512 / 2))


@nki.jit
def address_beyond(x):
    # CHECK: error[alloc-address]: nl.ndarray: at address (64, 0) the tile reaches partition 192 of 128
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:5
    # CHECK: = help: write address=(0, 0) or a smaller partition
    nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf, address=(64, 0))


@nki.jit
def address_in_hbm(x):
    # CHECK: error[alloc-address]: nl.ndarray: a tensor in private_hbm has no fixed address
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:5
    # CHECK: = help: leave address= out, or allocate the tile with buffer=nl.sbuf
    nl.ndarray((128, 64), nl.float32, buffer=nl.private_hbm, address=(0, 0))


@nki.jit
def address_in_a_bank(x):
    # CHECK: error[psum-address]: nl.ndarray: the tile is at byte 52 of PSUM bank 1
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:5
    # CHECK: = help: begin at a bank, e.g. address=(0, 2048); a bank has 2048 bytes (nl.tile_size.psum_bank_fmax_bytes)
    nl.ndarray((128, 64), nl.float32, buffer=nl.psum, address=(0, 2100))


@nki.jit
def number_as_a_name(x):
    # CHECK: error[argument]: nl.ndarray: 'name': expected a string or None, got 3
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:60
    # CHECK: = help: pass a word in quotes
    nl.ndarray((128, 64), nl.float32, buffer=nl.sbuf, name=3)


@nki.jit
def tile_as_a_bound(x):
    count = nl.load(x[0:1, 0:1])
    # CHECK: error[argument]: nl.dynamic_range: 'stop': expected an int32 or a register, got NkiTensor(count: sbuf 1x1 float32)
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:14
    # CHECK: = help: load the number into a register, r = nisa.register_alloc(); nisa.register_load(dst=r, src=count), and pass r
    for _ in nl.dynamic_range(count):
        pass


@nki.jit
def tile_as_a_bound_of_fori(x):
    t = nl.load(x)
    # CHECK: error[argument]: nl.fori_loop: 'upper': expected an int32 or a register, got NkiTensor(t: sbuf 128x64 float32)
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:21
    # CHECK: = help: load the number into a register, r = nisa.register_alloc(); nisa.register_load(dst=r, src=t[0:1, 0:1]), and pass r
    nl.fori_loop(0, t, lambda i: None)


@nki.jit
def register_as_a_bound(x):
    count = nisa.register_alloc(3)
    # CHECK: error[argument]: nl.sequential_range: 'stop': expected an integer, got VirtualRegister(count)
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:14
    # CHECK: = help: a loop whose bound is in a register is nl.dynamic_range
    for _ in nl.sequential_range(count):
        pass


@nki.jit
# CHECK: error[return-value]: kernel 'returned_tile': the result is tensor 't' in sbuf
# CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 8]]:12
# CHECK-NEXT: |
# CHECK-NEXT: [[# @LINE + 6]] | return t
# CHECK-NEXT: |            ^
# CHECK-NEXT: = the result: %t, sbuf 128x64 float32, allocated at {{.*}}arguments.py:[[# @LINE + 3]]:9
# CHECK-NEXT: = help: write out = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm), copy the tile to it with nl.store, and return out
def returned_tile(x):
    t = nl.load(x)
    return t


@nki.jit
# CHECK: error[return-value]: kernel 'returned_psum': the result is tensor 'c' in psum
# CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 6]]:12
# CHECK: = help: write out = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm), copy the tile to it with nisa.tensor_copy and nl.store, and return out
def returned_psum(x):
    t = nl.load(x)
    c = nl.ndarray((64, 64), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(c, t, t)
    return c


@nki.jit
# CHECK: error[return-value]: kernel 'keys_of_numbers': the key 3 of the result is no string
# CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 5]]:12
# CHECK: = help: write the key as "3", or return a tuple of the tensors
def keys_of_numbers(x):
    out = nl.ndarray((128, 64), nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return {3: out}


@nki.jit
# CHECK: error[return-value]: kernel 'returned_shape': the result is not a tensor but 128 (int)
# CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 3]]:12
# CHECK: = help: leave it out: the caller can compute it; or make it a tensor with nl.shared_constant
def returned_shape(x):
    return x.shape[0]


@nki.jit
# CHECK: error[return-value]: kernel 'returned_array': the result is not a tensor but array({{\[\[}}0., 0., 0.], [0., 0., 0.]]) (ndarray)
# CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 3]]:12
# CHECK: = help: leave it out: the caller can compute it; or make it a tensor with nl.shared_constant
def returned_array(x):
    return np.zeros((2, 3))


@nki.jit
# CHECK: error[return-value]: kernel 'returned_function': the result is not a tensor but nl.exp (UnaryOperator)
# CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 3]]:12
# CHECK: = help: call the function, store its result to a tensor in HBM, and return that
def returned_function(x):
    return nl.exp


@nki.jit
def second_axis(x):
    # CHECK: error[unsupported]: nl.program_id: the launch grid has one axis, got axis 1
    # CHECK-NEXT: --> {{.*}}arguments.py:[[# @LINE + 2]]:12
    # CHECK: = help: write nl.program_id(0): kernel[2](…), or -c 2, launches two programs along axis 0
    half = nl.program_id(1)
    nl.load(x[nl.ds(64 * half, 64)])


@nki.jit
def operator_as_a_tile(x):
    t = nl.load(x)
    # CHECK: error[argument]: nisa.tensor_tensor: 'data2': expected a tile, got nl.add (BinaryOperator)
    # CHECK: = help: pass the tiles first, and the operator by name: op=nl.add
    nisa.tensor_tensor(t, t, nl.add, t)
