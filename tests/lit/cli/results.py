# RUN: nkijit verify %s:forgets_to_return -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=FORGETS %s
# RUN: nkijit verify %s:computes_only -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=COMPUTES %s
# RUN: nkijit verify %s:writes_its_argument -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=LEGAL %s
# RUN: nkijit verify %s:prints -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=LEGAL %s
# RUN: nkijit verify %s:returns_one_of_two -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=ONE %s
# RUN: nkijit verify %s:works_through_hbm -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=LEGAL %s
# RUN: nkijit verify %s:copies -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=COPIES %s

# A kernel with a lost result, and copies that only look like transposes, run without an error
# and return other results than intended.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

# LEGAL: no findings for trn3 (default)


@nki.jit
# FORGETS: warning[no-result]: kernel 'forgets_to_return': it writes out, but returns nothing
# FORGETS-NEXT: --> {{.*}}results.py:[[# @LINE + 5]]:5
# FORGETS-NEXT: |
# FORGETS-NEXT: [[# @LINE + 3]] | def forgets_to_return(x):
# FORGETS-NEXT: | ^^^^^^^^^^^^^^^^^
# FORGETS-NEXT: = help: end the kernel with: return out
def forgets_to_return(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    # FORGETS: 1 warning for trn3 (default)


# COMPUTES: warning[no-result]: kernel 'computes_only': it returns nothing, and writes none of its arguments
# COMPUTES: = help: return the tensor in HBM that has the result, e.g. return out
@nki.jit
def computes_only(x):
    nl.exp(nl.load(x))


@nki.jit
def writes_its_argument(x):
    nl.store(x, nl.exp(nl.load(x)))


@nki.jit
def prints(x):
    nl.device_print("x", nl.load(x))


@nki.jit
def returns_one_of_two(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    # ONE: warning[lost-result]: nl.ndarray: 'doubled' (shared_hbm 128x512 float32) is written, but not returned or read
    # ONE-NEXT: --> {{.*}}results.py:[[# @LINE + 5]]:15
    # ONE-NEXT: |
    # ONE-NEXT: [[# @LINE + 3]] | doubled = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    # ONE-NEXT: | ^^^^^^^^^^
    # ONE-NEXT: ::: {{.*}}results.py:[[# @LINE + 9]]:5
    doubled = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile)
    # ONE-NEXT: |
    # ONE-NEXT: [[# @LINE + 4]] | nl.store(doubled, nl.multiply(tile, 2.0))
    # ONE-NEXT: | -------- written here
    # ONE-NEXT: = help: return the tensor too, e.g. return out, stats; or remove it with what writes it
    # ONE: 1 warning for trn3 (default)
    nl.store(doubled, nl.multiply(tile, 2.0))
    return out


@nki.jit
def works_through_hbm(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    between = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.hbm)
    nl.store(between, nl.exp(nl.load(x)))
    nl.store(out, nl.load(between))
    return out


@nki.jit
def copies(x):
    turned, moved = (nl.ndarray((512, 128), x.dtype, buffer=nl.shared_hbm) for _ in range(2))
    split, merged, last = (
        nl.ndarray((128, 2, 256), x.dtype, buffer=nl.shared_hbm) for _ in range(3)
    )
    tile = nl.load(x)
    # COPIES: warning[transposed-copy]: {{.*}} 'dst' has shape (512, 128) and {{'src'|'value'}} (128, 512): the elements are copied in row-major order, not transposed
    # COPIES-NEXT: --> {{.*}}results.py:[[# @LINE + 1]]:{{[0-9]+}}
    nl.store(turned, tile)
    # COPIES: warning[transposed-copy]: nisa.dma_copy: 'dst' has shape (512, 128) and 'src' (128, 512): {{.*}}
    nisa.dma_copy(dst=moved, src=x)
    # Other shapes of as many elements are how dimensions are split and merged.
    nl.store(split, tile)
    nl.store(merged.reshape((128, 512)), tile)
    columns = nl.ndarray((128, 32, 16), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=columns, src=tile.reshape((128, 32, 16)).permute((0, 2, 1)))
    # COPIES: warning[transposed-copy]: nisa.tensor_copy: 'dst' has shape (128, 32, 16) and 'src' (128, 16, 32): {{.*}}
    # COPIES: 3 warnings for trn3 (default)
    nl.store(last, columns.reshape((128, 2, 256)))
    return turned, moved, split, merged, last
