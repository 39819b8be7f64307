# A kernel on two cores is one kernel for each core, under one name for users.
# RUN: rm -rf %t && mkdir -p %t
# RUN: nkijit trace %s:pair -a x=4x8:float32 -o %t/pair.mlir
# RUN: filecheck --match-full-lines %s < %t/pair.mlir
# RUN: nkijit trace %t/pair.mlir | diff %t/pair.mlir -
# RUN: nkijit verify %t/pair.mlir | filecheck --check-prefix=VERIFY %s
# RUN: nkijit list %t/pair.mlir | filecheck --match-full-lines --check-prefix=LIST %s
# RUN: nkijit list %s:pair -a x=4x8:float32 | filecheck --match-full-lines --check-prefix=LIST %s

# The command line launches, too.
# RUN: nkijit trace %s:single -c 2 -a x=4x8:float32 | diff %t/pair.mlir -
# RUN: not nkijit trace %s:single -c 3 -a x=4x8:float32 2>&1 | filecheck --check-prefix=THREE %s
# THREE: error: kernel 'swapped': a launch grid is 1 or 2 cores, got 3: loop over the blocks in the kernel, and launch swapped[2] to share them between the cores
# RUN: not nkijit trace %t/pair.mlir -c 2 2>&1 | filecheck --check-prefix=TRACED %s
# TRACED: error: a .mlir file is traced already: -a, -t and -c do not apply

# From Python and from the text it runs with the same results.
# RUN: %python %s write %t
# RUN: nkijit run %s:pair -i x=%t/x.npy -o %t/python.npy
# RUN: nkijit run %t/pair.mlir -i x=%t/x.npy -o %t/text.npy
# RUN: %python %s check %t

# A file that has lost a core.
# RUN: sed -e s/@swapped_core1/@gone/ -e "s/ program=.1, 2.//" %t/pair.mlir > %t/half.mlir
# RUN: not nkijit verify %t/half.mlir 2>&1 | filecheck --check-prefix=HALF %s
# HALF: error: {{.*}}kernel 'swapped' is launched on 2 cores, there is core 0

# A race, with both lines.
# RUN: not nkijit run %s:racing -i x=%t/x.npy 2>&1 | filecheck --match-full-lines --check-prefix=RACE %s

# Differences between the cores, private memory, and edges.
# RUN: not nkijit verify %s:wrong -a x=4x8:float32 | filecheck --check-prefix=WRONG %s
# RUN: not nkijit verify %s:branching -a x=4x8:float32 | filecheck --check-prefix=BRANCH %s
# RUN: not nkijit verify %s:cyclic -a x=4x8:float32 | filecheck --check-prefix=CYCLE %s
# RUN: not nkijit verify %s:looping -a x=4x8:float32 2>&1 | filecheck --check-prefix=LOOP %s

import sys
from pathlib import Path

import numpy as np

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl


def swapped(x):
    """Each core doubles a half; the halves change places in shared HBM."""
    me = nl.program_id()
    shared = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    half = x.shape[0] // 2
    mine = nl.load(x[nl.ds(me * half, half)])
    rank = ncc.rank_id()
    nisa.register_store(nl.ndarray((1, 1), nl.int32), rank)
    nisa.tensor_scalar(dst=mine, data=mine, op0=nl.multiply, operand0=2.0)
    nl.store(shared[nl.ds(me * half, half)], mine)
    nisa.core_barrier(shared, cores=(0, 1), engine=nisa.engine.sync, name="halves")
    theirs = nl.load(shared[nl.ds((1 - me) * half, half)])
    nl.store(out[nl.ds(me * half, half)], theirs)
    return out


# CHECK:      builtin.module {
# CHECK-NEXT:   nki.kernel @swapped_core0(%x: memref<4x8xf32, #nki.shared_hbm>) target=trn3 program=[0, 2] {
# CHECK:          nisa.core_barrier data=%shared, cores=[0, 1], engine=sync, name="halves"
# CHECK:          nki.return %out
# CHECK-NEXT:   }
# CHECK-NEXT:   nki.kernel @swapped_core1(%x: memref<4x8xf32, #nki.shared_hbm>) target=trn3 program=[1, 2] {
# CHECK:          nisa.core_barrier data=%shared, cores=[0, 1], engine=sync, name="halves"
# CHECK:          nki.return %out
# CHECK-NEXT:   }
# CHECK-NEXT: }

# VERIFY-NOT: error[

# LIST:      kernel swapped_core0, trn3 (NeuronCore-v4)
# LIST:      sync: 7 instructions
# LIST:      {{[0-9]+}} RANK_ID dst=rank{{.*}}
# LIST-NEXT: {{[0-9]+}} REGISTER_STORE {{.*}}
# LIST:      {{[0-9]+}} wait(dma_store>=1) CORE_BARRIER data=shared[shared_hbm 0, 8:4 1:8, float32], cores={{.*}}
# LIST:      kernel swapped_core1, trn3 (NeuronCore-v4)

single = nki.jit(swapped)
pair = single[2]


def race(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=float(nl.program_id()))
    # RACE: error: core 1 writes bytes of shared tensor 'out' in nisa.dma_copy at {{.*}}two-cores.py:[[# @LINE + 1]]:5, which the other core writes in nisa.dma_copy at {{.*}}two-cores.py:[[# @LINE + 1]]:5, without nisa.core_barrier between them
    nisa.dma_copy(dst=out, src=tile)
    return out


racing = nki.jit(race)[2]


def private(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


# WRONG: error[return-shared]: nki.return: result 0 lives in private_hbm
# WRONG: 1 error for trn3 (default)
wrong = nki.jit(private)[2]


def branch(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    if nl.program_id() == 1:
        # BRANCH: error[cores-differ]: nl.ndarray: core 0 of 'branch' allocates nothing more in shared HBM where core 1 allocates 'more' (shared_hbm 4x8 float32)
        # BRANCH-NEXT: two-cores.py:[[# @LINE + 1]]:16
        more = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=more, src=x)
        nisa.dma_copy(dst=out, src=more)
    return out


branching = nki.jit(branch)[2]


def edges(x):
    a, b = nl.ndarray(x.shape, x.dtype), nl.ndarray(x.shape, x.dtype)
    first = nisa.memset(a, 0.0)
    # CYCLE: error[schedule-cycle]: nisa.memset: the edges form a cycle: 'memset.0' after 'memset.1' after 'memset.0'
    # CYCLE: 1 error for trn3 (default)
    second = nisa.memset(b, 0.0).depends_on(first)
    first.depends_on(second)


cyclic = nki.jit(edges)[2]


def loop(x):
    a = nl.ndarray(x.shape, x.dtype)
    with nl.no_reorder():
        # LOOP: error[no-reorder-loop]: nl.fori_loop: a loop on the device is inside nl.no_reorder
        nl.fori_loop(0, 2, lambda i: nisa.memset(a, 0.0))


looping = nki.jit(loop)[2]


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    if sys.argv[1] == "write":
        np.save(folder / "x.npy", x)
    else:
        for name in ("python.npy", "text.npy"):
            assert np.array_equal(np.load(folder / name), np.roll(x * 2, 2, axis=0)), name
