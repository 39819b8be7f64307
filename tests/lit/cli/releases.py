# RUN: nkijit verify --portable --nki 0.3 %s:kernel | filecheck --match-full-lines --check-prefix=OLD %s
# RUN: nkijit verify --portable --nki 0.6.0 %s:kernel | filecheck --match-full-lines --check-prefix=SIX %s
# RUN: nkijit verify --portable %s:kernel | filecheck --match-full-lines --check-prefix=NEW %s
# RUN: not nkijit verify --portable --nki 1.0 %s:kernel 2>&1 | filecheck --match-full-lines --check-prefix=UNKNOWN %s
# RUN: not nkijit verify --nki 0.3 %s:kernel 2>&1 | filecheck --match-full-lines --check-prefix=ALONE %s
# RUN: nkijit explain nisa.tensor_scalar_reduce | filecheck --match-full-lines --check-prefix=EXPLAIN %s
# RUN: nkijit explain nisa.topk | filecheck --match-full-lines --check-prefix=TOPK %s

# Names and arguments that a release of NKI does not have, yet or any more, at the author's line.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def kernel(x):
    tile = nl.ndarray((128, 128), x.dtype, buffer=nl.sbuf)
    # OLD: warning[portable-argument]: kernel 'kernel': 'priority' of 'nisa.dma_copy' is there since NKI 0.4, not in NKI 0.3
    # OLD-NEXT: --> {{.*}}releases.py:[[# @LINE + 2]]:45
    # OLD: = help: use what the release has; --nki names another one
    nisa.dma_copy(dst=tile, src=x, priority=0)
    # OLD: warning[portable-name]: kernel 'kernel': 'nl.abs_max' is there since NKI 0.4, not in NKI 0.3
    nl.abs_max(tile, tile)
    # OLD: warning[portable-name]: kernel 'kernel': 'tile.permute' is there since NKI 0.5, not in NKI 0.3
    tile.permute((0, 1))
    # OLD: warning[portable-name]: kernel 'kernel': 'nisa.topk' is there since NKI 0.6, not in NKI 0.3
    nisa.topk(tile, tile, tile, 8)
    going = nisa.register_alloc(1)
    # NEW: warning[portable-loop]: kernel 'kernel': 'going' is a register
    # NEW: = help: use nl.while_loop
    while going:
        nisa.register_move(going, 0)
    # NEW: warning[portable-name]: kernel 'kernel': 'nl.dynamic_range' was removed in NKI 0.7; use nl.fori_loop
    for _ in nl.dynamic_range(4):
        nisa.dma_copy(tile, x)
    # NEW: 2 warnings
    # OLD: 5 warnings
    # SIX: warning[portable-identity]: kernel 'kernel': 'is' is used
    # SIX: 1 warning
    return x is None


# UNKNOWN: error: unknown release '1.0' of NKI; known: 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7
# ALONE: error: --nki needs --portable

# Since when there is an instruction, and an argument that came later.
# EXPLAIN: release      NKI 0.1 (Neuron SDK 2.27) and newer
# EXPLAIN: reduce_cmd {{.*}}
# EXPLAIN: Since NKI 0.4.
# EXPLAIN: reduce_res_negate {{.*}}
# EXPLAIN: Since NKI 0.6.
# TOPK: release      NKI 0.6 (Neuron SDK 2.32) and newer
# TOPK: sorted {{.*}}
# TOPK-NEXT: {{.*}}
# TOPK-NEXT: {{.*}}
# TOPK-NEXT: Since NKI 0.7.
# TOPK-NOT: {{.*}}Since NKI{{.*}}
