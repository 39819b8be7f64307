# Errors that leave values undefined, and tiles that do not fit, stop commands by default. With
# --no-strict commands go on, and the first line of their output reports it.
# RUN: rm -rf %t && mkdir -p %t
# RUN: not nkijit list %s:sums -a x=128x20000:float32 2>&1 | filecheck --check-prefix=STRICT %s
# STRICT: error[sbuf-capacity]: nl.load: the tiles in use here need 320000 bytes per partition of SBUF, trn3 has 245752 for a kernel
# RUN: nkijit list --no-strict %s:sums -a x=128x20000:float32 | filecheck --match-full-lines --check-prefix=LIST %s
# LIST: does not fit: sbuf-capacity (shown as if it did)
# LIST-NEXT: schedule author: order and tiles as written; profile and report predict schedule compiler
# LIST-NEXT: kernel sums, trn3 (NeuronCore-v4)
# LIST: SBUF 320000 of 245752 bytes per partition, PSUM 0 of 16384

# The environment says so for all commands; an option outranks it.
# RUN: env NKIJIT_STRICT=0 nkijit list --json %s:sums -a x=128x20000:float32 > %t/list.json
# RUN: %python -c "import json, sys; print(json.load(open(sys.argv[1]))[0]['passed_over'])" %t/list.json | filecheck --match-full-lines --check-prefix=JSON %s
# JSON: {'does_not_fit': ['sbuf-capacity'], 'undefined': []}
# RUN: env NKIJIT_STRICT=0 not nkijit list --strict %s:sums -a x=128x20000:float32 2>&1 | filecheck --check-prefix=STRICT %s

# A file of IR; predictions, alone and compared; pages.
# RUN: nkijit trace %s:sums -a x=128x20000:float32 -o %t/sums.mlir 2> %t/findings
# RUN: nkijit list --no-strict %t/sums.mlir | filecheck --match-full-lines --check-prefix=LIST %s
# RUN: nkijit profile --no-strict %t/sums.mlir | filecheck --match-full-lines --check-prefix=PROFILE %s
# PROFILE: does not fit: sbuf-capacity (shown as if it did)
# PROFILE-NEXT: schedule compiler: order and tiles after the compiler's passes
# PROFILE-NEXT: profile of @sums for trn3: {{.*}}
# RUN: nkijit profile --no-strict %t/sums.mlir --against %t/sums.mlir | filecheck --match-full-lines --check-prefix=AGAINST %s
# AGAINST: this: does not fit: sbuf-capacity (shown as if it did)
# AGAINST-NEXT: other: does not fit: sbuf-capacity (shown as if it did)
# RUN: nkijit diff --no-strict %t/sums.mlir %t/sums.mlir | filecheck --check-prefix=DIFF %s
# DIFF: sums.mlir: does not fit: sbuf-capacity (shown as if it did)
# RUN: nkijit report --no-strict %t/sums.mlir -o %t/sums.html 2> %t/findings
# RUN: %unpack < %t/sums.html | filecheck --check-prefix=REPORT %s
# REPORT: does not fit: sbuf-capacity (shown as if it did)

# A run issues findings as warnings, at the author's line.
# RUN: %python %s write %t/x.npy
# RUN: not nkijit run %s:half -i %t/x.npy 2>&1 | filecheck --check-prefix=STOPS %s
# STOPS: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:2, 2:4]
# STOPS: 1 error
# STOPS-NEXT: --no-strict goes on with that, as compilers do
# RUN: nkijit run --no-strict %s:half -i %t/x.npy 2>&1 | filecheck --check-prefix=WARNS %s
# RUN: nkijit trace %s:half -a x=2x4:float32 -o %t/half.mlir 2> %t/findings
# RUN: nkijit run --no-strict %t/half.mlir -i %t/x.npy 2>&1 | filecheck --check-prefix=VALUES %s
# VALUES: {{\[\[}} 1. 2. nan nan]
# RUN: env NKIJIT_STRICT=maybe not nkijit run %s:half -i %t/x.npy 2>&1 | filecheck --check-prefix=WORD %s
# WORD: error: NKIJIT_STRICT is 'maybe', expected 0 or 1

# Illegal instructions stop commands in any case.
# RUN: not nkijit run --no-strict %s:illegal -i %t/x.npy 2>&1 | filecheck --check-prefix=ILLEGAL %s
# ILLEGAL: error[buffer]: nisa.tensor_scalar: 'dst' must be in sbuf or psum, it is in shared_hbm

import sys

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def sums(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x) for _ in range(4)]
    with nl.no_reorder():  # no compiler loads some of them later
        for tile in tiles[1:]:
            nisa.tensor_tensor(dst=tiles[0], data1=tiles[0], data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=tiles[0])
    return out


@nki.jit
def half(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, :2], src=x[:, :2])
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    # WARNS: {{.*}}strictness.py:[[# @LINE + 7]]: NkiWarning: error[undefined-use]: nisa.dma_copy: 'out', which is returned, gets undefined values in its elements [0:2, 2:4]
    # WARNS-NEXT: --> {{.*}}strictness.py:[[# @LINE + 6]]:5
    # WARNS-NEXT: |
    # WARNS-NEXT: [[# @LINE + 4]] | nisa.dma_copy(dst=out, src=tile)
    # WARNS: {{\[\[}} 1. 2. nan nan]
    # WARNS-NEXT: [ 5. 6. nan nan]]
    #
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def illegal(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.tensor_scalar(dst=out, data=x, op0=nl.add, operand0=1.0)
    return out


if __name__ == "__main__":
    np.save(sys.argv[2], np.arange(8, dtype=np.float32).reshape(2, 4))
