# RUN: nkijit verify %s:psum | filecheck %s --check-prefix=PSUM
# RUN: nkijit verify %s:escapes | filecheck %s --check-prefix=ESCAPES
# RUN: nkijit verify %s:blocks | filecheck %s --check-prefix=BLOCKS
# RUN: nkijit verify %s:resets | filecheck %s --check-prefix=RESETS
# RUN: nkijit verify %s:fused | filecheck %s --check-prefix=FUSED
# RUN: nkijit verify %s:not_indented | filecheck %s --match-full-lines --check-prefix=INDENT
# RUN: nkijit verify %s:not_indented_twice | filecheck %s --match-full-lines --check-prefix=TWICE
# RUN: nkijit verify %s:one_place | filecheck %s --match-full-lines --check-prefix=PLACE
# RUN: nkijit verify %s:at_the_end | filecheck %s --match-full-lines --check-prefix=END
# RUN: nkijit verify %s:psum_before | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:prefetch | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:reduces | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:columns | filecheck %s --check-prefix=NONE
# RUN: not nkijit verify %s:psum --deny suspicious | filecheck %s --check-prefix=DENIED

# Results of most iterations that nothing reads, and iterations whose results are read later.

import neuronxcc.nki as classic
import neuronxcc.nki.language as cl
import nki
import nki.isa as nisa
import nki.language as nl

# NONE: no findings


def load(x, row):
    tile = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[row : row + 128])
    return tile


def product(x, w, before):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    if before:
        total = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    for k in range(4):
        if not before:
            total = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        # PSUM: warning[dead-store]: nisa.nc_matmul: 3 of 4 results of this line are never read: about {{[0-9]+}} cycles each
        # PSUM: = help: to add up the iterations, allocate 'total' before the loop
        # PSUM-NOT: [dead-store]
        # DENIED: error[dead-store]: nisa.nc_matmul: 3 of 4 results of this line are never read
        nisa.nc_matmul(dst=total, stationary=load(w, k * 128), moving=load(x, k * 128))
    nl.store(out, nl.copy(total))
    return out


@nki.jit
@nki.example(x="512x512:float32", w="512x128:float32")
def psum(x, w):
    return product(x, w, before=False)


@nki.jit
@nki.example(x="512x512:float32", w="512x128:float32")
def psum_before(x, w):
    return product(x, w, before=True)


@classic.jit
@nki.example(x="512x512:float32")
def escapes(x):
    out = cl.ndarray((128, 512), x.dtype, buffer=cl.shared_hbm)
    for k in cl.static_range(4):
        # ESCAPES: warning[dead-store]: nl.exp: 3 of 4 results of this line are never read: about 512 cycles each
        # ESCAPES: = help: read 'tile' in every iteration, or run the instruction only when needed
        # ESCAPES-NOT: [dead-store]
        tile = cl.exp(cl.load(x[k * 128 : (k + 1) * 128]))
    cl.store(out, tile)
    return out


# Each block uses the result of its last iteration.
@nki.jit
@nki.example(x="768x512:float32")
def blocks(x):
    out = nl.ndarray((2, 128, 512), nl.float32, buffer=nl.shared_hbm)
    for block in range(2):
        for k in range(3):
            # BLOCKS: warning[dead-store]: nl.exp: 4 of 6 results of this line are never read: about 512 cycles each
            tile = nl.exp(load(x, (3 * block + k) * 128))
        nl.store(out[block], tile)
    return out


def sums(x, command):
    out = nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    powers = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    for k in range(4):
        nisa.activation(
            # RESETS: warning[overwritten-result]: nisa.activation: 'total' is overwritten before anything reads the result: 3 of 4 results are lost
            # RESETS-NEXT: --> {{.*}}unread.py:[[# @LINE + 8]]:24
            # RESETS: = help: to reduce over all iterations, pass reduce_cmd=nisa.reduce_cmd.reduce in all but the first; else read 'reduce_res' in every iteration
            # RESETS-NOT: [overwritten-result]
            dst=powers,
            op=nl.exp,
            data=nl.load(x[:, k * 512 : (k + 1) * 512]),
            reduce_op=nl.add,
            reduce_cmd=command(k),
            reduce_res=total,
        )
    nisa.dma_copy(dst=out, src=total)
    return out


@nki.jit
@nki.example(x="128x2048:float32")
def resets(x):
    return sums(x, lambda k: nisa.reduce_cmd.reset_reduce)


@nki.jit
@nki.example(x="128x2048:float32")
def reduces(x):
    return sums(x, lambda k: nisa.reduce_cmd.reduce if k else nisa.reduce_cmd.reset_reduce)


@nki.jit
@nki.example(x="128x2048:float32")
def fused(x):
    out = nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    powers = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    for k in range(4):
        tile = nl.load(x[:, k * 512 : (k + 1) * 512])
        # FUSED: warning[overwritten-result]: nisa.activation_reduce: 'total' is overwritten before anything reads the result: 3 of 4 results are lost
        # FUSED: = help: to reduce over all iterations, add each 'reduce_res' to a sum in the loop
        nisa.activation_reduce(powers, nl.exp, tile, reduce_op=nl.add, reduce_res=total)
    nisa.dma_copy(dst=out, src=total)
    return out


# Each iteration has its own column of sums.
@nki.jit
@nki.example(x="128x2048:float32")
def columns(x):
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    powers = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    for k in range(4):
        tile = nl.load(x[:, k * 512 : (k + 1) * 512])
        nisa.activation_reduce(
            powers, nl.exp, tile, reduce_op=nl.add, reduce_res=total[:, k : k + 1]
        )
    nisa.dma_copy(dst=out, src=total)
    return out


# The last iteration loads a tile for an iteration that does not run.
@nki.jit
@nki.example(x="384x512:float32")
def prefetch(x):
    out = nl.ndarray((256, 512), nl.float32, buffer=nl.shared_hbm)
    after = nl.load(x[0:128])
    for k in range(2):
        tile = after
        after = nl.load(x[(k + 1) * 128 : (k + 2) * 128])
        nl.store(out[k * 128 : (k + 1) * 128], nl.exp(tile))
    return out


@nki.jit
@nki.example(x="512x256:float32")
def not_indented(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for k in range(4):
        rows = slice(k * 128, (k + 1) * 128)
        # INDENT: warning[dead-store]: nl.exp: 3 of 4 results of this line are never read: about 256 cycles each
        # INDENT: [[# @LINE + 4]] | nl.store(out[rows], tile)
        # INDENT-NEXT: | -------- reads only the last result
        # INDENT: = help: line [[# @LINE + 2]] runs once, after the loop of line [[# @LINE - 5]], and stores only its last result: indent it into the loop
        tile = nl.exp(load(x, k * 128))
    nl.store(out[rows], tile)
    return out


# The tile is the same in all iterations, and the outer loop has the store.
@nki.jit
@nki.example(x="1024x256:float32")
def not_indented_twice(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 256), x.dtype, buffer=nl.sbuf)
    for k in range(2):
        for j in range(4):
            rows = slice((4 * k + j) * 128, (4 * k + j + 1) * 128)
            # TWICE: warning[overwritten-result]: nisa.dma_copy: 'tile' is overwritten before anything reads the result: 6 of 8 results are lost
            # TWICE: = help: read it before it is overwritten, or write to another place
            nisa.dma_copy(dst=tile, src=x[rows])
        nisa.dma_copy(dst=out[rows], src=tile)
    return out


# The place of the store does not follow the loop.
@nki.jit
@nki.example(x="512x256:float32")
def one_place(x):
    out = nl.ndarray((256, 256), x.dtype, buffer=nl.shared_hbm)
    nl.store(out[0:128], nl.load(x[0:128]))
    for k in range(4):
        # PLACE: warning[dead-store]: nl.exp: 3 of 4 results of this line are never read: about 256 cycles each
        # PLACE: = help: read 'tile' in every iteration, or run the instruction only when needed
        tile = nl.exp(load(x, k * 128))
    nl.store(out[128:256], tile)
    return out


# The store is in the loop.
@nki.jit
@nki.example(x="512x256:float32")
def at_the_end(x):
    out = nl.ndarray((256, 256), x.dtype, buffer=nl.shared_hbm)
    nl.store(out[0:128], nl.load(x[0:128]))
    for k in range(4):
        # END: warning[dead-store]: nl.exp: 3 of 4 results of this line are never read: about 256 cycles each
        # END: = help: read 'tile' in every iteration, or run the instruction only when needed
        tile = nl.exp(load(x, k * 128))
        if k == 3:
            nl.store(out[128:256], tile)
    return out
