# RUN: nkijit verify %s:matmul | filecheck %s --check-prefix=MATMUL
# RUN: nkijit verify %s:rows | filecheck %s --check-prefix=ROWS
# RUN: nkijit verify %s:reset | filecheck %s --check-prefix=RESET
# RUN: nkijit verify %s:classic_store | filecheck %s --check-prefix=CLASSIC
# RUN: nkijit verify %s:classic_matmul | filecheck %s --check-prefix=CLASSIC-SUM
# RUN: nkijit verify %s:classic_sum | filecheck %s --check-prefix=CLASSIC-PARTS
# RUN: nkijit verify %s:lost_maximum | filecheck %s --check-prefix=MAXIMUM
# RUN: nkijit verify %s:filled_once | filecheck %s --check-prefix=FILLED
# RUN: nkijit verify %s:tile_twice | filecheck %s --check-prefix=TWICE
# RUN: nkijit verify %s:hidden | filecheck %s --match-full-lines --check-prefix=HIDDEN
# RUN: nkijit verify %s:same_place | filecheck %s --match-full-lines --check-prefix=PLACE
# RUN: nkijit verify %s:running_maximum | filecheck %s --check-prefix=NONE
# RUN: not nkijit verify %s:rows --deny suspicious | filecheck %s --check-prefix=DENIED
# RUN: not nkijit lower %s:rows --deny overwritten-result 2>&1 | filecheck %s --check-prefix=DENIED
# RUN: not nkijit run %s:rows --deny warnings 2>&1 | filecheck %s --check-prefix=DENIED
# RUN: not nkijit cost %s:rows --deny suspicious | filecheck %s --check-prefix=COST
# RUN: not nkijit verify %s:rows --deny suspicius 2>&1 | filecheck %s --check-prefix=UNKNOWN
# RUN: nkijit verify %s:rows --deny portability --json | filecheck %s --check-prefix=JSON

# Results that are overwritten before anything reads them, and warnings that are denied.

import neuronxcc.nki as classic
import neuronxcc.nki.isa as cisa
import neuronxcc.nki.language as cl
import nki
import nki.isa as nisa
import nki.language as nl


def load(x, row):
    tile = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[row : row + 128])
    return tile


@nki.jit
@nki.example(x="1024x512:bfloat16", w="1024x128:bfloat16")
def matmul(x, w):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    for k in range(8):
        # MATMUL: warning[overwritten-result]: nisa.nc_matmul: 'acc' is overwritten before anything reads the result: 7 of 8 results are lost
        # MATMUL-NEXT: --> {{.*}}overwritten.py:[[# @LINE + 4]]:28
        # MATMUL: = help: to add up the iterations, pass accumulate=True in all but the first, e.g. accumulate=k > 0; else read 'dst' in every iteration
        a = load(w, k * 128)
        b = load(x, k * 128)
        nisa.nc_matmul(dst=acc, stationary=a, moving=b, accumulate=False)
    result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=acc)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
@nki.example(x="1024x512:bfloat16")
def rows(x):
    out = nl.ndarray((128, 512), nl.bfloat16, buffer=nl.shared_hbm)
    for k in range(8):
        # ROWS: warning[overwritten-result]: nisa.dma_copy: 'out' is overwritten before anything reads the result: 7 of 8 results are lost
        # ROWS: = help: let the place that is written follow the loop, e.g. out[i * 128 : (i + 1) * 128]
        # DENIED: error[overwritten-result]: nisa.dma_copy: 'out' is overwritten
        # DENIED: = a warning that counts as an error: deny {{(suspicious|overwritten-result|warnings)}}
        # COST: error[overwritten-result]: nisa.dma_copy: 'out' is overwritten
        # UNKNOWN: error: --deny: there is no warning 'suspicius' to deny; there are warnings, suspicious, advice, portability and the ids of rules; did you mean 'suspicious'?
        # JSON: "rule": "overwritten-result",
        # JSON: "severity": "warning",
        # JSON: "group": "suspicious",
        nisa.dma_copy(dst=out, src=load(x, k * 128))
    return out


@nki.jit
@nki.example(x="1024x512:bfloat16")
def reset(x):
    out = nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    for k in range(8):
        # RESET: warning[overwritten-result]: nisa.tensor_tensor: 'acc' is overwritten before anything reads the result: 7 of 8 results are lost
        # RESET: overwritten by nisa.memset
        # RESET: = help: fill the tile once, before the loop
        nisa.memset(dst=acc, value=0.0)
        nisa.tensor_tensor(dst=acc, data1=acc, data2=load(x, k * 128), op=nl.add)
    nisa.dma_copy(dst=out, src=acc)
    return out


@classic.jit
@nki.example(x="1024x512:float32")
def classic_store(x):
    out = cl.ndarray((128, 512), x.dtype, buffer=cl.shared_hbm)
    for k in cl.sequential_range(8):
        # CLASSIC: warning[overwritten-result]: nl.store: 'out' is overwritten before anything reads the result: 7 of 8 results are lost
        cl.store(out, cl.load(x[k * 128 : (k + 1) * 128]))
    return out


@classic.jit
@nki.example(x="512x512:float32", w="512x128:float32")
def classic_matmul(x, w):
    out = cl.ndarray((128, 512), x.dtype, buffer=cl.shared_hbm)
    total = cl.zeros((128, 512), cl.float32, buffer=cl.psum)
    for k in cl.sequential_range(4):
        # CLASSIC-SUM: warning[overwritten-result]: nisa.nc_matmul: 'total' is overwritten before anything reads the result: 3 of 4 results are lost
        # CLASSIC-SUM: = help: to add up the iterations, write total += ... to a tile of zeros
        rows = slice(k * 128, (k + 1) * 128)
        total[...] = cisa.nc_matmul(cl.load(w[rows]), cl.load(x[rows]))
    cl.store(out, cl.copy(total))
    return out


@classic.jit
@nki.example(x="512x512:bfloat16", w="512x128:bfloat16")
def classic_sum(x, w):
    out = cl.ndarray((128, 512), cl.float32, buffer=cl.shared_hbm)
    # The zeros are the start of the sum. Advice follows findings about the result.
    # CLASSIC-PARTS-NOT: redundant-fill
    total = cl.zeros((128, 512), cl.float32, buffer=cl.psum)
    for k in cl.affine_range(4):
        # CLASSIC-PARTS: warning[err_unexpected_output_dependencies]: nl.matmul: two iterations write the same elements of 'total'
        # CLASSIC-PARTS: = help: to add up the iterations, write total += ... to a tile of zeros; to keep each result, index total with the loop variable
        # CLASSIC-PARTS: warning[overwritten-result]: nl.matmul: 'total' is overwritten before anything reads the result: 3 of 4 results are lost
        # CLASSIC-PARTS: = help: to add up the iterations, write total += ... to a tile of zeros
        # CLASSIC-PARTS: warning[small-dma]: nl.load: {{.*}}
        a, b = cl.load(w[k * 128 : (k + 1) * 128]), cl.load(x[k * 128 : (k + 1) * 128])
        total[...] = cl.matmul(a, b, transpose_x=True)
    cl.store(out, cl.copy(total))
    return out


@nki.jit
@nki.example(x="128x2048:float32")
def lost_maximum(x):
    out = nl.ndarray((128, 1), x.dtype, buffer=nl.shared_hbm)
    largest = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    for k in range(4):
        tile = nl.load(x[:, k * 512 : (k + 1) * 512])
        # MAXIMUM: warning[overwritten-result]: nisa.tensor_reduce: 'largest' is overwritten before anything reads the result: 3 of 4 results are lost
        # MAXIMUM: = help: to combine the iterations, write nisa.tensor_tensor(dst=acc, data1=acc, data2=largest, op=nl.maximum) after it; to keep all results, allocate a tile for each ([tile] * 4 is one tile)
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1)
    nl.store(out, largest)
    return out


# There is no loop in front of which the tile could be filled.
@nki.jit
@nki.example(x="128x512:float32")
def filled_once(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = load(x, 0)
    # FILLED: warning[overwritten-result]: nisa.tensor_scalar: 'tile' is overwritten before anything reads the result
    # FILLED: = help: read it before it is overwritten, or write to another place
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.memset(dst=tile, value=1.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


# The place in HBM follows the loop already.
@nki.jit
@nki.example(x="1024x512:float32")
def tile_twice(x):
    out = nl.ndarray((128, 512), x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
    for k in range(8):
        # TWICE: warning[overwritten-result]: nisa.dma_copy: 'tile' is overwritten before anything reads the result: 7 of 8 results are lost
        # TWICE: = help: read it before it is overwritten, or write to another place
        nisa.dma_copy(dst=tile, src=x[k * 128 : (k + 1) * 128])
    nisa.dma_copy(dst=out, src=tile)
    return out


# The maximum of a block's end is not needed: the next block starts anew.
# NONE: no findings
@nki.jit
@nki.example(x="512x512:float32")
def running_maximum(x):
    out = nl.ndarray((2, 128, 512), nl.float32, buffer=nl.shared_hbm)
    last = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    for block in range(2):
        nisa.memset(dst=last, value=0.0)
        for k in range(2):
            tile = load(x, (2 * block + k) * 128)
            maximum = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=maximum, data1=tile, data2=last, op=nl.maximum)
            nisa.tensor_copy(dst=last, src=maximum)
        nisa.dma_copy(dst=out[block], src=maximum)
    return out


# The inner loop has the variable of the outer one.
@nki.jit
@nki.example(x="512x128:float32")
def hidden(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(4):
        tile = load(x, i * 128)
        for i in range(2):
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0 + i)
        # HIDDEN: warning[overwritten-result]: nisa.dma_copy: 'out' is overwritten before anything reads the result: 3 of 4 results are lost
        # HIDDEN: = help: the loop of line [[# @LINE - 3]] assigns i, the variable of the loop of line [[# @LINE - 5]]: give one of them another name
        nisa.dma_copy(dst=out[i * 128 : (i + 1) * 128], src=tile)
    return out


# The place follows the loop, but all iterations have the same.
@nki.jit
@nki.example(x="512x128:float32")
def same_place(x):
    out = nl.ndarray((256, 128), x.dtype, buffer=nl.shared_hbm)
    nl.store(out[128:256], nl.load(x[0:128]))
    for i in range(4):
        # PLACE: warning[overwritten-result]: nisa.dma_copy: 'out' is overwritten before anything reads the result: 3 of 4 results are lost
        # PLACE: = help: read it before it is overwritten, or write to another place
        nisa.dma_copy(dst=out[i // 4 * 128 : (i // 4 + 1) * 128], src=load(x, i * 128))
    return out
