# Suggestions that make a kernel faster: each was tried on a copy of the kernel.

# RUN: nkijit advise %s:tiled -a a=512x512:float32 -a b=512x1024:float32 -t trn2 --schedule author | filecheck --match-full-lines %s
# CHECK:advice on @tiled for trn2: 45.46 us, 7 changes of {{[0-9]+}} tried
# CHECK-NEXT:  predicted, not measured; each was tried by itself, so gains do not add up
# CHECK-EMPTY:
# CHECK-NEXT:{{.*}}advise.py:[[# @LINE + 76]]: launch on two cores, of which each does half of the 8 stores: 45.46 -> 25.72 us (-43.4%) [two-cores]
# CHECK-NEXT:  the time of one core for the first half of them; starting two cores takes longer
# CHECK-NEXT:  an estimate: it requires rewriting the kernel
# CHECK-EMPTY:
# CHECK-NEXT:{{.*}}advise.py:[[# @LINE + 67]]: put the loop over n inside the loop over k: 45.46 -> 36.24 us (-20.3%) [loop-order]
# CHECK-NEXT:  16 loads bring bytes that the previous iteration has: 1 MiB of HBM
# CHECK-NEXT:  stationary tiles are loaded 16 times, not 32
# CHECK-NEXT:  other instructions of its body get their own loop over n
# CHECK-NEXT:  level of results: bits, proven for all inputs
# CHECK-EMPTY:
# CHECK-NEXT:{{.*}}advise.py:[[# @LINE + 61]]: put the loop over m inside the loops over n, k: 45.46 -> 36.24 us (-20.3%) [loop-order]
# CHECK-NEXT:  24 loads bring bytes that the previous iteration has: 6 MiB of HBM
# CHECK-NEXT:  other instructions of its body get their own loop over m
# CHECK-NEXT:  level of results: bits, proven for all inputs
# CHECK-EMPTY:
# CHECK-NEXT:{{.*}}advise.py:[[# @LINE + 56]]: hoist the load of %lhs out of the loop over n: 45.46 -> 36.68 us (-19.3%) [repeated-load]
# CHECK-NEXT:  16 loads of 32 bring bytes that SBUF held before: 1 MiB of HBM
# CHECK-NEXT:  level of results: bits, proven for all inputs
# CHECK-EMPTY:
# CHECK-NEXT:{{.*}}advise.py:[[# @LINE + 53]]: hoist the load of %rhs out of the loop over m: 45.46 -> 36.85 us (-18.9%) [repeated-load]
# CHECK:{{.*}}: load 2 slices of %rhs with one DMA: 45.46 -> 43.05 us (-5.3%) [merged-dma]
# CHECK-NEXT:  32 DMAs of 256 KiB, with descriptors of 2 KiB, become 16

# The compiled kernel may be faster already.
# RUN: nkijit advise %s:tiled -a a=128x512:float32 -a b=128x1024:float32 -t trn2 --schedule author | filecheck --check-prefix=ITSELF %s
# ITSELF: [repeated-load]
# ITSELF:   the compiler does this itself: {{.*}} us

# By default, advice is about the compiled kernel.
# RUN: nkijit advise %s:tiled -a a=512x512:float32 -a b=512x1024:float32 -t trn2 | filecheck --check-prefix=COMPILER %s
# COMPILER: advice on @tiled for trn2:
# COMPILER-NOT: the compiler does this itself

# As JSON.
# RUN: nkijit advise %s:tiled -a a=512x512:float32 -a b=512x1024:float32 -t trn2 --schedule author --json -o %t.json
# RUN: %python -c "import json, sys; a = json.load(open(sys.argv[1])); s = a['suggestions'][3]; print(a['kernel'], s['kind'], s['numbers'], s['level'], s['proven'], round(s['before']), round(s['after']))" %t.json | filecheck --match-full-lines --check-prefix=JSON %s
# JSON:tiled repeated-load same bits True 45458 36679

# A kernel as text: nothing is known of loops.
# RUN: nkijit trace %s:tiled -a a=512x512:float32 -a b=512x1024:float32 -t trn2 -o %t.mlir
# RUN: nkijit advise %t.mlir --schedule author | filecheck --check-prefix=IR %s
# IR: advice on @tiled for trn2: 45.46 us

# RUN: nkijit advise --list | filecheck --check-prefix=LIST %s
# LIST: repeated-load
# LIST: loop-order
# LIST: merged-dma

# Nothing to say.
# RUN: nkijit advise %s:doubled -a x=128x512:float32 -t trn2 | filecheck --match-full-lines --check-prefix=NOTHING %s
# NOTHING:advice on @doubled for trn2: {{.*}} us, 0 changes of {{[0-9]+}} tried
# NOTHING:  nothing that was tried gains 2% of the time

# A kernel with errors has its findings.
# RUN: not nkijit advise %s:doubled -a x=256x512:float32 -t trn2 2>&1 | filecheck --check-prefix=WRONG %s
# WRONG: error[alloc-partitions]

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def tiled(a, b):
    out = nl.ndarray((a.shape[1], b.shape[1]), a.dtype, buffer=nl.shared_hbm)
    for m in range(0, a.shape[1], 128):
        for n in range(0, b.shape[1], 512):
            product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
            for k in range(0, a.shape[0], 128):
                lhs = nl.ndarray((128, 128), a.dtype, buffer=nl.sbuf)
                rhs = nl.ndarray((128, 512), b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=lhs, src=a[k : k + 128, m : m + 128])
                nisa.dma_copy(dst=rhs, src=b[k : k + 128, n : n + 512])
                nisa.nc_matmul(dst=product, stationary=lhs, moving=rhs, accumulate=k > 0)
            result = nl.ndarray((128, 512), a.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=product)
            nisa.dma_copy(dst=out[m : m + 128, n : n + 512], src=result)
    return out


@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)
    nisa.dma_copy(dst=out, src=tile)
    return out
