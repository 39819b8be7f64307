# RUN: not nkijit verify %s:immutable -a x=8x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=IMMUTABLE %s
# RUN: not nkijit verify %s:not_returned -a x=8x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=UNRETURNED %s
# RUN: not nkijit verify %s:no_output -a x=8x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=SILENT %s
# RUN: not nkijit verify %s:forgotten -a x=8x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=FORGOTTEN %s
# RUN: not nkijit verify %s:dead_loop -a x=8x4:float32 2>&1 | filecheck --check-prefix=DEAD-LOOP %s
# RUN: nkijit trace %s:mutable -a x=8x4:float32 2>&1 | filecheck --check-prefix=MUTABLE %s
# RUN: nkijit trace %s:traced -a x=8x4:float32 -a y=8x4:float32 2>&1 | filecheck --check-prefix=TRACED %s
# RUN: nkijit trace %s:older -a x=8x4:float32 -a y=8x4:float32 2>&1 | filecheck --check-prefix=OLDER %s

# The parameters that a kernel may write depend on its results.

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt


@nki.jit
def immutable(x):
    # IMMUTABLE: error[err_cannot_update_immutable_parameter]: nl.store: parameter 'x' is written
    # IMMUTABLE-NEXT: --> {{.*}}parameters.py:[[# @LINE + 4]]:5
    # IMMUTABLE: = help: annotate the parameter with nt.mutable_tensor, of neuronxcc.nki.typing, and return it; or write to a tensor allocated with buffer=nl.shared_hbm
    # IMMUTABLE: 1 error for trn2 (default)
    tile = nl.load(x)
    nl.store(x, tile)
    return x


@nki.jit
def not_returned(x: nt.mutable_tensor):
    # UNRETURNED: error[err_mutable_parameter_not_returned]: nl.store: parameter 'x' is written, and not returned
    # UNRETURNED-NEXT: --> {{.*}}parameters.py:[[# @LINE + 6]]:5
    # UNRETURNED: = help: add the parameter to the kernel's return statement
    # UNRETURNED: 1 error for trn2 (default)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    nl.store(x, tile)
    return out


@nki.jit
def forgotten(x):
    # FORGOTTEN: error[err_tensor_output_not_written_to]: kernel 'forgotten': it writes out, but returns nothing
    # FORGOTTEN-NEXT: --> {{.*}}parameters.py:[[# @LINE - 2]]:5
    # FORGOTTEN: = help: end the kernel with: return out
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))


@nki.jit
def no_output(x):
    # SILENT: error[err_tensor_output_not_written_to]: kernel 'no_output': it returns nothing, and writes no parameter
    # SILENT-NEXT: --> {{.*}}parameters.py:[[# @LINE - 2]]:5
    # SILENT: = help: check that the loops and conditions around the stores are entered
    nl.load(x)


@nki.jit
def dead_loop(x):
    # A rule that both APIs share finds unwritten results; the note has the classic name.
    # DEAD-LOOP: error[output-unwritten]:
    # DEAD-LOOP: = nki.errors: err_tensor_output_not_written_to
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for _ in nl.affine_range(x.shape[0] // 128):
        nl.store(out, nl.load(x))
    return out


@nki.jit
def mutable(x: nt.mutable_tensor):
    # MUTABLE: nisa.dma_copy dst=%tile, src=%x
    # MUTABLE-NEXT: nisa.dma_copy dst=%x, src=%tile
    # MUTABLE-NEXT: nki.return %x
    tile = nl.load(x)
    nl.store(x, tile)
    return x


@nki.trace
def traced(x, y):
    # TRACED: nisa.dma_copy dst=%y, src=
    # TRACED-NEXT: nki.return %y
    nl.store(y, nl.load(x))
    return y


@nki.jit
def older(x, y):
    # OLDER: nisa.dma_copy dst=%y, src=
    # OLDER-NEXT: nki.return
    nl.store(y, nl.load(x))
