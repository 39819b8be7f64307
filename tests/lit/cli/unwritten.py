# RUN: not nkijit verify %s:tail -a x=128x500:float32 | filecheck --match-full-lines --check-prefix=TAIL %s
# RUN: not nkijit verify %s:forgotten -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=FORGOTTEN %s
# RUN: nkijit verify %s:result -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=RESULT %s
# RUN: nkijit verify %s:right -a x=128x500:float32 | filecheck --match-full-lines --check-prefix=RIGHT %s
# RUN: not nkijit list %s:tail -a x=128x500:float32 2>&1 | filecheck --match-full-lines --check-prefix=LIST %s
# RUN: nkijit verify %s:shared_rows -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=ONE %s
# RUN: nkijit verify %s:shared_rows -a x=128x512:float32 -c 2 | filecheck --match-full-lines --check-prefix=BOTH %s
# RUN: not nkijit verify %s:second_core -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=SECOND %s
# RUN: nkijit verify %s:counted -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=RIGHT %s
# RUN: not nkijit verify %s:classic_maximum -a x=128x512:float32 | filecheck --check-prefix=MAXIMUM %s
# RUN: nkijit verify %s:blocks -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=ALONE %s
# RUN: nkijit verify %s:two_blocks -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=PAIR %s
# RUN: nkijit verify %s:four_blocks -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=FOUR %s
# RUN: nkijit verify %s:square -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=SQUARE %s
# RUN: not nkijit verify %s:blocks -c 4 -a x=512x256:float32 2>&1 | filecheck --match-full-lines --check-prefix=GRID %s

# Unwritten memory: its uses, the reads that bring it in, and the unwritten elements.

import neuronxcc.nki as classic
import neuronxcc.nki.language as cl
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# The last tile is not full, but all of it is reduced.
@nki.jit
def tail(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, 0:500], src=x)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    # LIST: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:128, 0:1]
    # TAIL: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:128, 0:1]
    # TAIL-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 11]]:5
    # TAIL-NEXT: |
    # TAIL-NEXT: [[# @LINE + 9]] | nisa.dma_copy(dst=out, src=total)
    # TAIL-NEXT: | ^^^^^^^^^^^^^
    # TAIL-NEXT: ::: {{.*}}unwritten.py:[[# @LINE - 7]]:5
    # TAIL-NEXT: |
    # TAIL-NEXT: [[# @LINE - 9]] | nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
    # TAIL-NEXT: | ------------------ 'data' is read here, but nothing has written its elements [0:128, 500:512]
    # TAIL-NEXT: = result 0: %out, shared_hbm 128x1 float32, allocated at {{.*}}unwritten.py:[[# @LINE - 15]]:11
    # TAIL-NEXT: = data: %tile, sbuf 128x512 float32, allocated at {{.*}}unwritten.py:[[# @LINE - 15]]:12
    # TAIL-NEXT: = help: write all of the tile first, e.g. with nisa.memset or nisa.dma_copy, or use only the part that is written
    nisa.dma_copy(dst=out, src=total)
    # TAIL: 1 error for trn3 (default)
    return out


# The same where only the part is reduced that is written.
# RIGHT: no findings for trn3 (default)
@nki.jit
def right(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, 0:500], src=x)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile[:, 0:500], axis=1)
    nisa.dma_copy(dst=out, src=total)
    return out


# A tile that a loop sums up in, and that nothing has set to zero.
@nki.jit
def forgotten(x):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    for column in range(0, 512, 128):
        part = nl.load(x[:, column : column + 128])
        # FORGOTTEN: error[read-unwritten]: nisa.tensor_tensor: 'data1' is read, but nothing has written it
        # FORGOTTEN-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 2]]:45
        # FORGOTTEN: = data1: %total, sbuf 128x128 float32, allocated at {{.*}}unwritten.py:[[# @LINE - 5]]:13
        nisa.tensor_tensor(dst=total, data1=total, data2=part, op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    # FORGOTTEN: 1 error for trn3 (default)
    return out


# A running maximum of the classic API without a start.
@classic.jit
def classic_maximum(x):
    out = cl.ndarray((128, 128), dtype=x.dtype, buffer=cl.shared_hbm)
    largest = cl.ndarray((128, 128), dtype=x.dtype, buffer=cl.sbuf)
    for column in range(0, 512, 128):
        # MAXIMUM: error[read-unwritten]: nl.maximum: 'x' is read, but nothing has written it
        # MAXIMUM: = help: fill largest before the loop: allocate it with nl.full and fill_value=float("-inf")
        largest[...] = cl.maximum(largest, cl.load(x[:, column : column + 128]))
    cl.store(out, largest)
    return out


# The last of four blocks is unwritten: its elements may be unused.
@nki.jit
def result(x):
    # RESULT: warning[output-partly-unwritten]: nl.ndarray: 'out' is returned, but nothing has written its elements [0:128, 384:512]
    # RESULT-NEXT: --> {{.*}}unwritten.py:[[# @LINE + 6]]:11
    # RESULT-NEXT: |
    # RESULT-NEXT: [[# @LINE + 4]] | out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    # RESULT-NEXT: | ^^^^^^^^^^
    # RESULT-NEXT: = result 0: %out, shared_hbm 128x512 float32, allocated at {{.*}}unwritten.py:[[# @LINE + 2]]:11
    # RESULT-NEXT: = help: let the loops reach the rest of it, or allocate and return a smaller tensor
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for column in range(0, 384, 128):
        nl.store(out[:, column : column + 128], nl.load(x[:, column : column + 128]))
    # RESULT: 1 warning for trn3 (default)
    return out


# A kernel for two cores that is launched on one.
@nki.jit
def shared_rows(x):
    # ONE: warning[output-partly-unwritten]: nl.ndarray: 'out' is returned, but nothing has written its elements [64:128, 0:512]
    # ONE: = nl.program_id is 0 of 1 at {{.*}}unwritten.py:[[# @LINE + 3]]:13
    # ONE-NEXT: = help: launch with -c 2, in Python kernel[2](…), if the other program writes the rest; else let the loops reach the rest of it, or allocate and return a smaller tensor
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first = nl.program_id(0) * 64
    nl.store(out[first : first + 64], nl.load(x[first : first + 64]))
    # ONE: 1 warning for trn3 (default)
    # BOTH: no findings for trn3 (default)
    return out


# One that writes nothing on the first core.
@nki.jit
def second_core(x):
    # SECOND: error[output-unwritten]: nl.ndarray: 'out' is returned, but nothing has written it
    # SECOND: = nl.program_id is 0 of 1 at {{.*}}unwritten.py:[[# @LINE + 3]]:8
    # SECOND-NEXT: = help: launch with -c 2, in Python kernel[2](…), if the other program writes the rest; else write it before the kernel ends, e.g. nl.store(out, tile), also when a loop or a branch is not entered; or do not return it
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if nl.program_id(0) == 1:
        nl.store(out, nl.load(x))
    return out


# One whose share depends on the number of cores.
@nki.jit
def counted(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = 128 // nl.num_programs()
    first = nl.program_id(0) * rows
    nl.store(out[first : first + rows], nl.load(x[first : first + rows]))
    return out


# A classic kernel, launched on a grid with too few instances.
@classic.jit
def blocks(x):
    # ALONE: warning[output-partly-unwritten]: nl.ndarray: 'out' is returned, but nothing has written its elements [128:512, 0:256]
    # ALONE: = nl.program_id is 0 of 1 at {{.*}}unwritten.py:[[# @LINE + 6]]:11
    # ALONE-NEXT: = help: launch kernel[4](…), if each program writes 128 of the 512 rows; else let the loops reach the rest of it, or allocate and return a smaller tensor
    # PAIR: = nl.program_id is 0 to 1 of 2 at {{.*}}unwritten.py:[[# @LINE + 4]]:11
    # PAIR-NEXT: = help: launch kernel[4](…), if each program writes 128 of the 512 rows; else let the loops reach the rest of it, or allocate and return a smaller tensor
    # FOUR: no findings for trn2 (default)
    out = cl.ndarray(x.shape, dtype=x.dtype, buffer=cl.shared_hbm)
    row = cl.program_id(0) * 128
    cl.store(out[row : row + 128], cl.load(x[row : row + 128]))
    return out


two_blocks = blocks[2]
four_blocks = blocks[4]
# GRID: error: kernel 'blocks': 2 cores at most, got 4: for a grid of 4, write blocks4 = blocks[4] in the file and name that: FILE.py:blocks4


@classic.jit
def corners(x):
    # SQUARE: warning[output-partly-unwritten]: nl.ndarray: 'out' is returned, but nothing has written its elements [256:512, 0:256]
    # SQUARE: = help: let the loops reach the rest of it, or allocate and return a smaller tensor
    out = cl.ndarray(x.shape, dtype=x.dtype, buffer=cl.shared_hbm)
    row, column = cl.program_id(0) * 128, cl.program_id(1) * 128
    at = (slice(row, row + 128), slice(column, column + 128))
    cl.store(out[at], cl.load(x[at]))
    return out


square = corners[2, 2]
