# RUN: not nkijit verify %s:unwritten | filecheck %s --check-prefix=UNWRITTEN
# RUN: not nkijit verify %s:late | filecheck %s --check-prefix=LATE
# RUN: not nkijit verify %s:unwritten_index | filecheck %s --check-prefix=INDEX
# RUN: nkijit verify %s:bits | filecheck %s --check-prefix=BITS
# RUN: nkijit verify %s:bits_moved | filecheck %s --check-prefix=MOVED
# RUN: nkijit verify %s:bits_of_index | filecheck %s --check-prefix=BITS-INDEX
# RUN: nkijit verify %s:condition | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:written_again | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:written_in_loop | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:endless | filecheck %s --match-full-lines --check-prefix=ENDLESS
# RUN: nkijit verify %s:endless_function | filecheck %s --match-full-lines --check-prefix=FUNCTION
# RUN: nkijit verify %s:in_an_inner_loop | filecheck %s --check-prefix=NONE

# Registers that nothing has written, and registers with the bits of a float that count or select.

import nki
import nki.isa as nisa
import nki.language as nl

# NONE: no findings


def repeated(x, count):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)

    def body(i):
        nisa.activation(dst=tile, op=nl.tanh, data=tile)

    # UNWRITTEN: error[read-unwritten]: nl.fori_loop: register 'count' is read, but nothing has written it
    # UNWRITTEN-NEXT: --> {{.*}}registers.py:[[# @LINE + 2]]
    # UNWRITTEN: = help: write it first: nisa.register_load(count, tile), where the tile has one integer, or nisa.register_move(count, 4)
    nl.fori_loop(0, count, body)
    nl.store(out, tile)
    return out


@nki.jit
@nki.example(x="128x512:float32")
def unwritten(x):
    count = nisa.register_alloc()
    return repeated(x, count)


# The loop reads the register before its body writes it.
@nki.jit
@nki.example(x="128x512:float32")
def late(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    more = nisa.register_alloc()
    # LATE: error[read-unwritten]: {{[a-z.]+}}: register 'more' is read, but nothing has written it
    while more:
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
        nisa.register_move(more, 0)
    nl.store(out, tile)
    return out


@nki.jit
@nki.example(x="512x512:float32")
def unwritten_index(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    row = nisa.register_alloc()
    # INDEX: error[read-unwritten]: nisa.dma_copy: register 'row' is read, but nothing has written it
    nisa.dma_copy(dst=tile, src=x.ap([[512, 128], [1, 512]], scalar_offset=row, indirect_dim=0))
    nl.store(out, tile)
    return out


@nki.jit
@nki.example(x="128x512:float32", n="1x1:float32")
def bits(x, n):
    count = nisa.register_alloc()
    # BITS: warning[register-bits]: nisa.register_load: 'src' is float32: 'count' gets its bits, and is used as an integer
    # BITS: used as an integer here
    # BITS: = help: convert the value first: copy it with nisa.tensor_copy into an int32 tile, and load that
    nisa.register_load(count, nl.load(n))
    return repeated(x, count)


@nki.jit
@nki.example(x="128x512:float32", n="1x1:bfloat16")
def bits_moved(x, n):
    first = nisa.register_alloc()
    count = nisa.register_alloc()
    # MOVED: warning[register-bits]: nisa.register_load: 'src' is bfloat16: 'first' gets its bits, and is used as an integer
    nisa.register_load(first, n)
    nisa.register_move(count, first)
    return repeated(x, count)


@nki.jit
@nki.example(x="512x512:float32", n="1x1:float32")
def bits_of_index(x, n):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    row = nisa.register_alloc()
    # BITS-INDEX: warning[register-bits]: nisa.register_load: 'src' is float32: 'row' gets its bits, and is used as an integer
    nisa.register_load(row, n)
    nisa.dma_copy(dst=tile, src=x.ap([[512, 128], [1, 512]], scalar_offset=row, indirect_dim=0))
    nl.store(out, tile)
    return out


# A condition is true for all bits but zero, so also for all numbers but zero; a register moves
# a float from one tensor to another.
@nki.jit
@nki.example(x="128x512:float32", n="1x1:float32")
def condition(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    copied = nl.ndarray(n.shape, dtype=n.dtype, buffer=nl.shared_hbm)
    tile, left = nl.load(x), nl.load(n)
    more = nisa.register_alloc()
    nisa.register_load(more, left)
    nisa.register_store(copied, more)
    while more:
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1.0)
        nisa.register_load(more, left)
    nl.store(out, tile)
    return out, copied


@nki.jit
@nki.example(x="128x512:float32", n="1x1:float32", m="1x1:int32")
def written_again(x, n, m):
    copied = nl.ndarray(n.shape, dtype=n.dtype, buffer=nl.shared_hbm)
    count = nisa.register_alloc()
    nisa.register_load(count, n)
    nisa.register_store(copied, count)
    nisa.register_load(count, m)
    return repeated(x, count), copied


# Whether the first loop runs is known only on the device.
@nki.jit
@nki.example(x="128x512:float32", m="1x1:int32")
def written_in_loop(x, m):
    first = nisa.register_alloc()
    count = nisa.register_alloc()
    nisa.register_load(first, m)
    nl.fori_loop(0, first, lambda i: nisa.register_move(count, 3))
    return repeated(x, count)


@nki.jit
@nki.example(x="128x512:float32", n="1x1:int32")
def endless(x, n):
    tile, more = nl.load(x), nisa.register_alloc()
    nisa.register_load(more, n)
    # ENDLESS: warning[loop-condition]: while: nothing in its body writes 'more', so the loop does not end
    # ENDLESS-NEXT: --> {{.*}}registers.py:[[# @LINE + 5]]:11
    # ENDLESS-NEXT: |
    # ENDLESS-NEXT: [[# @LINE + 3]] | while more:
    # ENDLESS-NEXT: | ^^^^
    # ENDLESS-NEXT: = help: write it at the end of the body: nisa.register_load(more, tile), where the tile has one integer, or nisa.register_move(more, 0)
    while more:
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
    nl.store(x, tile)


@nki.jit
@nki.example(x="128x512:float32")
def endless_function(x):
    tile = nl.load(x)
    more = nisa.register_alloc(1)

    def body(condition):
        nisa.activation(dst=tile, op=nl.tanh, data=tile)
        return condition

    # FUNCTION: warning[loop-condition]: while: nothing in its body writes 'more', so the loop does not end
    nl.while_loop(more, body)
    nl.store(x, tile)


@nki.jit
@nki.example(x="128x512:float32")
def in_an_inner_loop(x):
    tile = nl.load(x)
    more = nisa.register_alloc(1)
    while more:
        for _ in nl.dynamic_range(2):
            nisa.activation(dst=tile, op=nl.tanh, data=tile)
            nisa.register_move(more, 0)
    nl.store(x, tile)
