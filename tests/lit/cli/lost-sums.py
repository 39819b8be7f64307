# RUN: nkijit verify %s:preset -a a=128x64:bfloat16 -a b=128x512:bfloat16 | filecheck %s --check-prefix=PRESET
# RUN: nkijit verify %s:preset -t trn2 -a a=128x64:bfloat16 -a b=128x512:bfloat16 | filecheck %s --check-prefix=OLDER
# RUN: nkijit verify %s:cleared -a a=128x64:bfloat16 -a b=128x512:bfloat16 | filecheck %s --check-prefix=CLEARED
# RUN: nkijit verify %s:rebound -a a=512x64:bfloat16 -a b=512x512:bfloat16 | filecheck %s --check-prefix=REBOUND
# RUN: nkijit verify %s:rebound -a a=256x64:bfloat16 -a b=256x512:bfloat16 | filecheck %s --check-prefix=TWICE
# RUN: nkijit verify %s:in_the_loop -a a=512x64:bfloat16 -a b=512x512:bfloat16 | filecheck %s --check-prefix=INSIDE
# RUN: nkijit verify %s:added -a a=512x64:bfloat16 -a b=512x512:bfloat16 | filecheck %s --check-prefix=ADDED

# Starts of sums that matmuls do not add to.

import neuronxcc.nki as classic
import neuronxcc.nki.isa as cisa
import neuronxcc.nki.language as cl
import nki
import nki.isa as nisa
import nki.language as nl


def product(a, b, start):
    out = nl.ndarray((64, 512), nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((64, 512), nl.float32, buffer=nl.psum)
    nisa.memset(dst=total, value=start)
    nisa.nc_matmul(dst=total, stationary=nl.load(a), moving=nl.load(b), accumulate=False)
    nl.store(out, nl.copy(total))
    return out


@nki.jit
def preset(a, b):
    # PRESET: warning[overwritten-result]: nisa.memset: 'total' is overwritten before anything reads the result
    # PRESET: overwritten by nisa.nc_matmul
    # PRESET: = help: pass accumulate=True to add to it, or add it after the last matmul, e.g. with nisa.tensor_tensor
    # OLDER: warning[overwritten-result]: nisa.memset: 'total' is overwritten before anything reads the result
    # OLDER: = help: add it after the last matmul, e.g. with nisa.tensor_tensor
    return product(a, b, 1.5)


# Zeros change no sum: the fill only takes time.
@nki.jit
def cleared(a, b):
    # CLEARED-NOT: overwritten-result
    # CLEARED: warning[redundant-fill]: nisa.memset: nothing reads what it writes
    return product(a, b, 0.0)


@classic.jit
def rebound(a, b):
    out = cl.ndarray((64, 512), cl.float32, buffer=cl.shared_hbm)
    # REBOUND-NOT: redundant-fill
    # TWICE: warning[redundant-fill]: nl.zeros: nothing reads what it writes
    # TWICE: = help: line [[# @LINE + 6]] gives the name psum to another tile: to add to this one, write psum += ...
    psum = cl.zeros((64, 512), cl.float32, buffer=cl.psum)
    for k in cl.affine_range(a.shape[0] // 128):
        rows = slice(k * 128, (k + 1) * 128)
        # REBOUND: warning[dead-store]: nisa.nc_matmul: 3 of 4 results of this line are never read
        # REBOUND: = help: to add up the iterations, write psum += ..., with psum = nl.zeros(...) before the loop
        psum = cisa.nc_matmul(cl.load(a[rows]), cl.load(b[rows]))
    # REBOUND-NOT: redundant-fill
    cl.store(out, cl.copy(psum))
    return out


@classic.jit
def in_the_loop(a, b):
    out = cl.ndarray((64, 512), cl.float32, buffer=cl.shared_hbm)
    for k in cl.affine_range(4):
        rows = slice(k * 128, (k + 1) * 128)
        # INSIDE: warning[dead-store]: nisa.nc_matmul: 3 of 4 results of this line are never read
        # INSIDE: = help: to add up the iterations, allocate 'total' before the loop
        total = cl.zeros((64, 512), cl.float32, buffer=cl.psum)
        total += cisa.nc_matmul(cl.load(a[rows]), cl.load(b[rows]))
    cl.store(out, cl.copy(total))
    return out


@classic.jit
def added(a, b):
    # ADDED-NOT: dead-store
    # ADDED-NOT: redundant-fill
    out = cl.ndarray((64, 512), cl.float32, buffer=cl.shared_hbm)
    total = cl.zeros((64, 512), cl.float32, buffer=cl.psum)
    for k in cl.affine_range(4):
        rows = slice(k * 128, (k + 1) * 128)
        total += cisa.nc_matmul(cl.load(a[rows]), cl.load(b[rows]))
    cl.store(out, cl.copy(total))
    # ADDED: for trn2 (default)
    return out
