# RUN: nkijit verify --portable --nki 0.3 %s:private | filecheck %s
# RUN: nkijit verify --portable %s:private | filecheck %s
# RUN: nkijit verify --portable --nki 0.2 %s:private | filecheck %s --check-prefix=NONE
# RUN: nkijit verify --portable %s:shared | filecheck %s --check-prefix=NONE

# The migration guide to NKI 0.3: kernels return tensors in shared HBM.

import nki
import nki.isa as nisa
import nki.language as nl

# NONE-NOT: portable-output


def copied(x, buffer):
    # CHECK: warning[portable-output]: nl.ndarray: 'out' is returned, and is in private_hbm
    # CHECK-NEXT: --> {{.*}}portable_output.py:[[# @LINE + 3]]:11
    # CHECK: = help: allocate the result with buffer=nl.shared_hbm
    # CHECK-NOT: [portable-output]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=buffer)
    scratch = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.hbm)
    nisa.dma_copy(dst=scratch, src=x)
    nisa.dma_copy(dst=out, src=scratch)
    return out


@nki.jit
@nki.example(x="128x512:float32")
def private(x):
    return copied(x, nl.hbm)


@nki.jit
@nki.example(x="128x512:float32")
def shared(x):
    return copied(x, nl.shared_hbm)
