# RUN: nkijit export %s:sums -a x=256x1024:bfloat16 -t trn2 -o %t.py
# RUN: filecheck --match-full-lines --check-prefix=SUMS %s < %t.py

# The exported source is portable, and traces to the same kernel.
# RUN: nkijit verify --portable %t.py | filecheck --check-prefix=PORTABLE %s
# PORTABLE: no findings
# RUN: nkijit trace %s:sums -a x=256x1024:bfloat16 -t trn2 -o %t.mlir
# RUN: nkijit trace %t.py -a x=256x1024:bfloat16 -t trn2 | diff %t.mlir -

# So is the text of its IR, without loops and without the author's lines.
# RUN: nkijit export %t.mlir --no-loops --no-comments | filecheck --match-full-lines --check-prefix=FLAT %s
# RUN: nkijit export - < %t.mlir | filecheck --match-full-lines --check-prefix=IR %s

# Passes of the compiler make tiles of each iteration's own.
# RUN: nkijit-opt -p rename-tiles %t.mlir | nkijit export - -o %t.renamed.py
# RUN: filecheck --match-full-lines --check-prefix=RENAMED %s < %t.renamed.py

# RUN: nkijit export %s:device -a x=8x64:float32 -a n=1x1:int32 | filecheck --match-full-lines --check-prefix=DEVICE %s
# RUN: nkijit export %s:halves -a x=128x512:float32 -c 2 | filecheck --match-full-lines --check-prefix=CORES %s

# A kernel without a source form is not exported.
# RUN: not nkijit export %S/Inputs/one-dimension.mlir -o %t.none.py 2>&1 | filecheck --check-prefix=ERROR %s
# ERROR: error: kernel.py:5:9: nki.alloc cannot be exported: a tile has at least two dimensions
# RUN: not ls %t.none.py

import numpy as np

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl

# SUMS: """A kernel of NKI, written by nkijit from IR.
# SUMS: sums, for trn2
# SUMS: {{ }}   x: 256x1024:bfloat16
# SUMS: {{ }}   returns 256x2:float32
# SUMS: import nki
# SUMS-NEXT: import nki.isa as nisa
# SUMS-NEXT: import nki.language as nl
# SUMS: @nki.jit
# SUMS-NEXT: def sums(x: nl.NkiTensor) -> nl.NkiTensor:
# SUMS-NEXT:     # export.py:{{[0-9]+}}: out = nl.ndarray((x.shape[0], 2), nl.float32, buffer=nl.shared_hbm)
# SUMS-NEXT:     out = nl.ndarray((256, 2), dtype=nl.float32, buffer=nl.shared_hbm)
# SUMS:     tile = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
# SUMS:     for row in range(2):
# SUMS:         for part in range(2):
# SUMS:             nisa.dma_copy(
# SUMS-NEXT:                 dst=tile,
# SUMS-NEXT:                 src=x[128 * row : 128 * row + 128, 512 * part : 512 * part + 512],
# SUMS-NEXT:             )
# SUMS:             # export.py:{{[0-9]+}}: nisa.tensor_reduce(total, nl.add, tile, axis=1)
# SUMS-NEXT:             nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
# SUMS:                 dst=out[128 * row : 128 * row + 128, part : part + 1], src=total
# SUMS:     return out

# FLAT: def sums(x: nl.NkiTensor) -> nl.NkiTensor:
# FLAT-NEXT:     out = nl.ndarray((256, 2), dtype=nl.float32, buffer=nl.shared_hbm)
# FLAT-NEXT:     tile = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
# FLAT-NEXT:     total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
# FLAT-NEXT:     nisa.dma_copy(dst=tile, src=x[0:128, 0:512])
# FLAT-NEXT:     nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
# FLAT-NEXT:     nisa.dma_copy(dst=out[0:128, 0:1], src=total)
# FLAT-NEXT:     nisa.dma_copy(dst=tile, src=x[0:128, 512:1024])

# IR: {{ }}       for j in range(2):
# IR-NEXT:             nisa.dma_copy(

# RENAMED: {{ }}       for j in range(2):
# RENAMED-NEXT:             tile = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)


@nki.jit
def sums(x):
    out = nl.ndarray((x.shape[0], 2), nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    for row in range(0, x.shape[0], 128):
        for part in range(2):
            nisa.dma_copy(tile, x[row : row + 128, nl.ds(512 * part, 512)])
            nisa.tensor_reduce(total, nl.add, tile, axis=1)
            nisa.dma_copy(out[row : row + 128, part : part + 1], total)
    return out


# Loops on the device, registers, scalars, constants, order, containers.
# DEVICE: def device(x: nl.NkiTensor, n: nl.NkiTensor) -> dict[str, nl.NkiTensor]:
# DEVICE:     table = nl.shared_constant(np.arange(64, dtype=np.float32).reshape((1, 64)))
# DEVICE:     identity = nl.shared_identity_matrix(8, dtype=nl.float32)
# DEVICE:     count = nisa.register_alloc()
# DEVICE:     nisa.register_load(dst=count, src=left)
# DEVICE:     def body(i: nisa.VirtualRegister) -> None:
# DEVICE:         nisa.dma_copy(dst=row, src=x[i, 0:64])
# DEVICE:     nl.fori_loop(0, count, body)
# DEVICE:     def body_1(j: nisa.NkiScalar) -> None:
# DEVICE:         nisa.dma_copy(dst=out[j, 0:64], src=row)
# DEVICE:     nl.fori_loop(0, 7, body_1)
# DEVICE:     def body_2(j_1: nisa.NkiScalar) -> None:
# DEVICE:         next_row = j_1 + 1
# DEVICE:         nisa.dma_copy(dst=out[next_row, 0:64], src=row)
# DEVICE:     nl.fori_loop(0, 7, body_2)
# DEVICE:     again = nisa.register_alloc(1)
# DEVICE:     def body_3(again_1: nisa.VirtualRegister) -> nisa.VirtualRegister:
# DEVICE:         return zero
# DEVICE:     nl.while_loop(again, body_3)
# DEVICE:     rank = ncc.rank_id()
# DEVICE:     with nl.no_reorder():
# DEVICE:         nisa.memset(dst=row, value=float("-inf"), engine=nisa.engine.vector)
# DEVICE:     first = nisa.memset(dst=row, value=0.0, name="first")
# DEVICE:     nisa.memset(dst=left, value=1).depends_on(first)
# DEVICE:     nl.device_print("row", row)
# DEVICE:     return {"out": out}


@nki.jit
def device(x, n):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    table = nl.shared_constant(np.arange(64, dtype=np.float32).reshape(1, 64))
    identity = nl.shared_identity_matrix(8, nl.float32)
    nisa.dma_copy(out[0:8, 0:8], identity)
    row = nl.ndarray((1, 64), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(row, table)
    left = nl.load(n)
    count = nisa.register_alloc()
    nisa.register_load(count, left)

    def load(i):
        nisa.dma_copy(row, x[i])

    nl.fori_loop(0, count, load)
    for j in nl.dynamic_range(7):
        nisa.dma_copy(out[j], row)

    def store(j):
        next_row = j + 1
        nisa.dma_copy(out[next_row], row)

    nl.fori_loop(0, 7, store)
    again = nisa.register_alloc(1)

    def once(condition):
        zero = nisa.register_alloc(0)
        return zero

    nl.while_loop(again, once)
    rank = ncc.rank_id()
    nisa.register_store(left, rank)
    with nl.no_reorder():
        nisa.memset(row, float("-inf"), engine=nisa.vector_engine)
        nisa.memset(row, 1)
    first = nisa.memset(row, 0.0, name="first")
    nisa.memset(left, 1).depends_on(first)
    nl.device_print("row", row)
    return {"out": out}


# Numbers that differ between two cores are affine in the core.
# CORES: def halves(x: nl.NkiTensor) -> nl.NkiTensor:
# CORES-NEXT:     core = nl.program_id(0)
# CORES:     nisa.dma_copy(dst=tile, src=x[0:128, 256 * core : 256 * core + 256])
# CORES:     if core == 0:
# CORES:         nisa.memset(dst=tile[0:128, 0:1], value=0.5)
# CORES:     nisa.core_barrier(data=out, cores=(0, 1))


@nki.jit
def halves(x):
    core = nl.program_id(0)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x[:, nl.ds(256 * core, 256)])
    if core == 0:
        nisa.memset(tile[:, 0:1], 0.5)
    nisa.dma_copy(out[:, nl.ds(256 * core, 256)], tile)
    nisa.core_barrier(out, (0, 1))
    return out
