# RUN: not nkijit verify %s:in_place -c 2 | filecheck %s --check-prefix=IN-PLACE
# RUN: not nkijit verify %s:read_last -c 2 | filecheck %s --check-prefix=LAST
# RUN: nkijit verify %s:filled -c 2 | filecheck %s --check-prefix=FILLED
# RUN: not nkijit verify %s:later_phase -c 2 | filecheck %s --check-prefix=LATER
# RUN: nkijit verify %s:with_barriers -c 2 | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:read_back -c 2 | filecheck %s --check-prefix=SAME
# RUN: nkijit verify %s:read_back | filecheck %s --check-prefix=NONE
# RUN: nkijit verify %s:divided -c 2 | filecheck %s --check-prefix=NONE

# Two cores with the same program write the same values, but not at the same time.

import nki
import nki.isa as nisa
import nki.language as nl

# NONE: no findings


# Core 1 may add before core 0 loads.
@nki.jit
@nki.example(x="128x512:float32")
def in_place(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.exp(nl.load(x)))
    # IN-PLACE: error[core-race]: nl.load: core 0 reads 'out', which core 1 writes without a barrier between
    # IN-PLACE: {{[0-9]+}} |     nl.store(out, nl.add(tile, 1.0))
    # IN-PLACE: core 1 writes it here
    # IN-PLACE: = help: both cores run the same program: let each write its own part, chosen by nl.program_id(0), or call nisa.core_barrier on 'out' between writes and reads
    tile = nl.load(out)
    nl.store(out, nl.add(tile, 1.0))
    return out


# Core 1 may write 'x' after core 0 has written its square.
@nki.jit
@nki.example(x="128x512:float32")
def read_last(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    shared = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(shared, tile)
    nl.store(shared, nl.square(tile))
    # LAST: error[core-race]: nl.load: core 0 reads 'shared', which core 1 writes without a barrier between
    # LAST: {{[0-9]+}} |     nl.store(shared, tile)
    # LAST: core 1 writes it here
    nl.store(out, nl.load(shared))
    return out


@nki.jit
@nki.example(x="128x512:float32")
def filled(x):
    out = nl.ndarray((256, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    zeros = nl.zeros(x.shape, dtype=x.dtype)
    for k in range(2):
        # FILLED: warning[core-double-write]: nl.store: both cores write the same bytes of 'out' without a barrier between
        nl.store(out[k * 128 : (k + 1) * 128], zeros)
    tile = nl.load(x)
    nl.store(out[0:128], tile)
    return out


# A barrier orders only the writes before it.
@nki.jit
@nki.example(x="128x512:float32")
def later_phase(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    shared = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if nl.program_id(0) == 0:
        nl.store(shared, tile)
    nisa.core_barrier(shared, (0, 1))
    if nl.program_id(0) == 1:
        nl.store(shared, nl.square(tile))
    else:
        # LATER: error[core-race]: nl.load: core 0 reads 'shared', which core 1 writes without a barrier between
        nl.store(out, nl.load(shared))
    return out


@nki.jit
@nki.example(x="128x512:float32")
def with_barriers(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.exp(nl.load(x)))
    nisa.core_barrier(out, (0, 1))
    tile = nl.load(out)
    nisa.core_barrier(out, (0, 1))
    nl.store(out, nl.add(tile, 1.0))
    return out


@nki.jit
@nki.example(x="128x512:float32")
def read_back(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    shared = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    # SAME: warning[same-work]: nl.store: both cores compute and write the same results
    # SAME-NEXT: --> {{.*}}same_program.py:[[# @LINE + 4]]:5
    # SAME: = help: split the work by nl.program_id(0), which is 0 on one core and 1 on the other, e.g. for i in range(nl.program_id(0), n, 2); or launch the kernel on one core
    # SAME: 1 warning
    nl.store(shared, nl.exp(nl.load(x)))
    nl.store(out, nl.load(shared))
    return out


@nki.jit
@nki.example(x="256x512:float32")
def divided(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for block in range(nl.program_id(0), 2, 2 if nl.num_programs() > 1 else 1):
        rows = nl.ds(block * 128, 128)
        nl.store(out[rows], nl.exp(nl.load(x[rows])))
    return out
