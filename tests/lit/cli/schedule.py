# The compiler's version of a kernel: a buffer that is filled again becomes several tiles.

# RUN: nkijit profile %s:refilled -a x=512x512:float32 -t trn2 --schedule compiler | filecheck --check-prefix=PROFILE %s
# PROFILE: schedule compiler: order and tiles after the compiler's passes
# PROFILE-NEXT: profile of @refilled for trn2
# PROFILE-NEXT: predicted, not measured
# PROFILE-NEXT: the range is ±{{[0-9]+}}%
# PROFILE-NEXT: author {{.+}} us, compiled {{.+}} us, bound {{.+}} us (dma)
# PROFILE-NEXT: author is {{[0-9.]+}} times compiled; published times of such kernels are nearer to compiled

# RUN: nkijit list %s:refilled -a x=512x512:float32 -t trn2 --schedule compiler | filecheck --check-prefix=LIST %s
# LIST: schedule compiler: rename-tiles 3
# LIST-NEXT: kernel refilled, trn2

# RUN: nkijit list %s:refilled -a x=512x512:float32 -t trn2 --schedule author | filecheck --check-prefix=AUTHOR %s
# AUTHOR: schedule author: order and tiles as written
# AUTHOR-NEXT: kernel refilled, trn2

# A lowered kernel has a fixed order.
# RUN: nkijit lower %s:refilled -a x=512x512:float32 -t trn2 -o %t.mlir
# RUN: not nkijit list %t.mlir --schedule compiler 2>&1 | filecheck --check-prefix=LOWERED %s
# LOWERED: error: --schedule does not apply to lowered kernels, whose order is fixed

# RUN: not nkijit profile %s:refilled --schedule mine 2>&1 | filecheck --check-prefix=UNKNOWN %s
# UNKNOWN: Invalid value for '--schedule'

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def refilled(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
    for i in range(x.shape[0] // 128):
        rows = slice(i * 128, (i + 1) * 128)
        nisa.dma_copy(dst=a, src=x[rows, :])
        nisa.activation(dst=a, op=nl.exp, data=a)
        nisa.dma_copy(dst=out[rows, :], src=a)
    return out
