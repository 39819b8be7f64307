# RUN: not nkijit migrate %s:scaled -a x=200x64:float32 -o %t.py 2> %t.report
# RUN: filecheck --match-full-lines --check-prefix=NEW %s < %t.py
# RUN: filecheck --check-prefix=REPORT %s < %t.report

# The migrated source is portable, and its kernels need no further migration.
# RUN: nkijit verify --portable %t.py:scaled | filecheck --check-prefix=PORTABLE %s
# PORTABLE: no findings

# REPORT: migrate.py:[[#]]: import: import neuronxcc.nki as nki
# REPORT: mask: row < rows
# REPORT: scaled: rewritten
# REPORT-NEXT: agrees bit by bit, for all inputs, at x=200x64:float32
# REPORT-NEXT: agrees bit by bit, for all inputs, at x=199x64:float32
# REPORT: triangle: left: nobody says what its arguments are
# REPORT: 2 kernels: 1 rewritten, 1 left; 1 proven bit by bit

# Nothing is written with --diff and --check; a document says the same as the report.
# RUN: not nkijit migrate %s:scaled -a x=200x64:float32 --diff 2>/dev/null | filecheck --check-prefix=DIFF %s
# DIFF: -import neuronxcc.nki as nki
# DIFF-NEXT: -import neuronxcc.nki.language as nl
# DIFF-NEXT: +import nki
# RUN: not nkijit migrate %s:triangle -a x=8x8:float32 --check --json | filecheck --check-prefix=JSON %s
# JSON: "name": "triangle",
# JSON: "how": "exported",
# JSON-NEXT: "why": "a mask that is no block of the tile",
# JSON: "proven": [
# JSON-NEXT: "x=8x8:float32"

# Commands that fail.
# RUN: cp %s %t.same.py
# RUN: not nkijit migrate %t.same.py -o %t.same.py 2>&1 | filecheck --check-prefix=SAME %s
# SAME: is the input file: write to another one
# RUN: diff %s %t.same.py
# RUN: not nkijit migrate %s -o %t.none/new.py 2>&1 | filecheck --check-prefix=FOLDER %s
# FOLDER: no such folder: {{.*}}none
# RUN: not nkijit migrate %S/none.py 2>&1 | filecheck --check-prefix=FILE %s
# FILE: no such file: {{.*}}none.py
# RUN: not nkijit migrate %s --to 9.9 2>&1 | filecheck --check-prefix=RELEASE %s
# RELEASE: unknown release '9.9' of NKI
# RUN: not nkijit migrate %s:scald 2>&1 | filecheck --check-prefix=NAME %s
# NAME: has no kernel 'scald'; it has scaled, triangle; did you mean 'scaled'?
# RUN: not nkijit migrate %s --json 2>&1 | filecheck --check-prefix=WHERE %s
# WHERE: --json prints the report: add -o FILE for the new file, or --check
# RUN: echo "def f(:" > %t.wrong.py
# RUN: not nkijit migrate %t.wrong.py 2>&1 | filecheck --check-prefix=SYNTAX %s
# SYNTAX: SyntaxError
# RUN: echo "x = 1" > %t.empty.py
# RUN: not nkijit migrate %t.empty.py 2>&1 | filecheck --check-prefix=EMPTY %s
# EMPTY: has no classic kernels, and does not import the current API

# Between releases of today's API.
# RUN: not nkijit migrate %S/Inputs/older-release.py -o %t.newer.py 2>&1 | filecheck --check-prefix=LATER %s
# RUN: filecheck --match-full-lines --check-prefix=NEWER %s < %t.newer.py
# LATER: older-release.py:10: loop: nl.affine_range
# LATER: older-release.py:12: argument: is_moving_zero=True
# LATER: older-release.py:12: argument: psumAccumulateFlag=0
# LATER: older-release.py:13: left to do: `nisa.tensor_copy_dynamic_src` was removed in NKI 0.4; use nisa.tensor_copy with t.ap(..., scalar_offset=...)
# LATER: 3 rewrites, 1 left to do
# NEWER:     for _ in range(2):
# NEWER-NEXT:         psum = nl.ndarray((128, 512), nl.float32, nl.psum)
# NEWER-NEXT:         nisa.nc_matmul(psum, a, b, is_moving_onezero=True)

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

# NEW: import nki
# NEW-NEXT: import nki.language as nl
# NEW-NEXT: import nki.isa as nisa


# NEW: @nki.jit
# NEW-NEXT: def scaled(x, scale=2.0):
# NEW-NEXT:     rows, columns = x.shape
# NEW-NEXT:     out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
# NEW-NEXT:     for tile in range(-(-rows // 128)):  # rows
# NEW-NEXT:         row = tile * 128
# NEW-NEXT:         rows_left = min(128, rows - row)
# NEW-NEXT:         x_tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
# NEW-NEXT:         nisa.dma_copy(dst=x_tile[0:rows_left], src=x[row : row + rows_left, 0:columns])
# NEW-NEXT:         # scaled
# NEW-NEXT:         scaled = nl.ndarray(x_tile.shape, dtype=x_tile.dtype, buffer=nl.sbuf)
# NEW-NEXT:         nisa.tensor_scalar(
# NEW-NEXT:             dst=scaled[0:rows_left],
# NEW-NEXT:             data=x_tile[0:rows_left],
# NEW-NEXT:             op0=nl.multiply,
# NEW-NEXT:             operand0=scale,
# NEW-NEXT:         )
# NEW-NEXT:         nisa.dma_copy(
# NEW-NEXT:             dst=out[row : row + rows_left, 0:columns], src=scaled[0:rows_left]
# NEW-NEXT:         )
# NEW-NEXT:     return out


@nki.jit
def scaled(x, scale=2.0):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(128)[:, None], nl.arange(columns)[None, :]
    for tile in nl.affine_range(-(-rows // 128)):  # rows
        row = tile * 128 + i_p
        x_tile = nl.load(x[row, i_f], mask=row < rows)
        # scaled
        scaled = nl.multiply(x_tile, scale, mask=row < rows)
        nl.store(out[row, i_f], scaled, mask=row < rows)
    return out


@nki.jit
def triangle(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.mgrid[0:8, 0:8]
    nl.store(out[i, j], nl.load(x[i, j], mask=j <= i))
    return out
