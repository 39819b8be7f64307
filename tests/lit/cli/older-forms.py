# RUN: nkijit verify %s:numbers -a x=128x64:float32 > %t
# RUN: filecheck --match-full-lines --check-prefix=NUMBERS %s < %t
# RUN: nkijit verify %s:truth -a x=128x64:float32 -a y=128x64:float32 > %t
# RUN: filecheck --match-full-lines --check-prefix=TRUTH %s < %t
# RUN: nkijit verify %s:fields -a x=128x512:float32 > %t
# RUN: filecheck --match-full-lines --check-prefix=FIELDS %s < %t
# RUN: nkijit verify %s:barriers -c 2 -a x=8x16:float32 > %t
# RUN: filecheck --match-full-lines --check-prefix=BARRIERS %s < %t

# Forms of the device or of earlier releases that the vendor's compiler refuses: warnings.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# Members of enumerations by their numbers; floats that are integers.
@nki.jit
def numbers(x):
    tile = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    # NUMBERS: warning[memset-float]: nisa.memset: 'dst' is int32, but 'value' is the float 1.0
    nisa.memset(tile, value=1.0)
    # NUMBERS: warning[portable-enum-number]: nisa.dma_copy: 'dge_mode' is the number 3, which stands for dge_mode.none
    # NUMBERS-NEXT: --> {{.*}}older-forms.py:[[# @LINE + 6]]:39
    # NUMBERS-NEXT: |
    # NUMBERS-NEXT: [[# @LINE + 4]] | nisa.dma_copy(out, tile, dge_mode=3)
    # NUMBERS-NEXT: | ^
    # NUMBERS-NEXT: = help: write nisa.dge_mode.none
    out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile, dge_mode=3)
    return out
    # NUMBERS: 2 warnings for trn3 (default)


# Tensors in the place of truth values.
@nki.jit
def truth(x, y=None):
    # TRUTH: warning[truth-value]: tensor 'y': a tensor counts as true
    # TRUTH-NEXT: --> {{.*}}older-forms.py:[[# @LINE + 5]]:20
    # TRUTH-NEXT: |
    # TRUTH-NEXT: [[# @LINE + 3]] | tile = nl.load(y or x)
    # TRUTH-NEXT: | ^
    # TRUTH-NEXT: = help: ask what is known while tracing: t is None, t.shape, t.dtype; choose by values with nl.where
    tile = nl.load(y or x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out
    # TRUTH: 1 warning for trn3 (default)


class Options(nl.NKIObject):
    factor: float
    columns = 64


# A field without a default that is left out.
@nki.jit
def fields(x):
    # FIELDS: warning[portable-field]: class 'Options': field 'factor' has no default and is left out, so it is None
    # FIELDS-NEXT: --> {{.*}}older-forms.py:[[# @LINE + 5]]:15
    # FIELDS-NEXT: |
    # FIELDS-NEXT: [[# @LINE + 3]] | options = Options(columns=256)
    # FIELDS-NEXT: | ^^^^^^^
    # FIELDS-NEXT: = help: give the field, or a default in the class
    options = Options(columns=256)
    out = nl.ndarray((128, options.columns), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x[:, : options.columns]))
    return out
    # FIELDS: 1 warning for trn3 (default)


# Barriers on a tile that belongs to one core, and of one core.
@nki.jit
def barriers(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ds(nl.program_id(0) * 4, 4)
    tile = nl.load(x[rows])
    nl.store(out[rows], tile)
    # BARRIERS: warning[barrier-on-chip]: nisa.core_barrier: 'tile' must be in shared_hbm, it is in sbuf
    # BARRIERS-NEXT: --> {{.*}}older-forms.py:[[# @LINE + 5]]:23
    # BARRIERS-NEXT: |
    # BARRIERS-NEXT: [[# @LINE + 3]] | nisa.core_barrier(tile, cores=(0, 1))
    # BARRIERS-NEXT: | ^^^^
    # BARRIERS-NEXT: = help: pass the tensor in shared HBM that both cores use
    nisa.core_barrier(tile, cores=(0, 1))
    # BARRIERS: warning[barrier-alone]: nisa.core_barrier: 'cores' is 0, which is one core
    # BARRIERS: = help: pass cores=(0, 1), or leave the barrier out
    nisa.core_barrier(out, cores=(0))
    return out
