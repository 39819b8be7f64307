# RUN: not nkijit verify -p verify-accumulators %s:softmax -a x=128x512:float32 2>&1 | filecheck --match-full-lines %s
# RUN: not nkijit verify -p verify-accumulators %s:matmul -a a=128x128:bfloat16 -a b=128x512:bfloat16 2>&1 | filecheck --match-full-lines --check-prefix=PSUM %s
# RUN: nkijit verify -p verify-accumulators %s:chunks -a x=128x512:float32 2>&1 | filecheck --match-full-lines --check-prefix=CHUNKS %s
# RUN: not nkijit verify -p verify-accumulators %s:new_in_each_iteration -a a=512x128:bfloat16 2>&1 | filecheck --match-full-lines --check-prefix=NEW %s

# Findings about clobbered or lost accumulators, and about accumulation groups, show every line
# that is involved.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def softmax(x):
    tile = nl.load(x)
    scaled = nl.ndarray(tile.shape, dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((tile.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    command = nisa.reduce_cmd
    for start in range(0, 512, 256):
        part = tile[:, start : start + 256]
        # CHECK: error[accumulator-undefined]: nisa.exponential: reduce_cmd.reduce continues on the accumulators of the Vector Engine, which are undefined here
        # CHECK-NEXT: --> {{.*}}accumulators.py:[[# @LINE + 16]]:9
        # CHECK-NEXT: |
        # CHECK-NEXT: [[# @LINE + 14]] | nisa.exponential(
        # CHECK-NEXT: | ^^^^^^^^^^^^^^^^
        # CHECK-NEXT: ::: {{.*}}accumulators.py:[[# @LINE + 12]]:9
        # CHECK-NEXT: |
        # CHECK-NEXT: [[# @LINE + 10]] | nisa.exponential(
        # CHECK-NEXT: | ---------------- accumulated by nisa.exponential 'sum0'
        # CHECK-NEXT: ::: {{.*}}accumulators.py:[[# @LINE + 15]]:9
        # CHECK-NEXT: |
        # CHECK-NEXT: [[# @LINE + 13]] | nisa.exponential(dst=scaled[:, start : start + 256], src=part)
        # CHECK-NEXT: | ---------------- clobbered by nisa.exponential
        # CHECK-NEXT: = help: pass reduce_cmd=nisa.reduce_cmd.reset_reduce to the first instruction of the reduction
        first = start == 0
        res = None if first else total
        # The sum goes on from the part before.
        nisa.exponential(
            dst=part,
            src=part,
            reduce_res=res,
            reduce_cmd=command.reset_reduce if first else command.reduce,
            name=f"sum{start}",
        )
        nisa.exponential(dst=scaled[:, start : start + 256], src=part)
    # CHECK: warning[accumulator-lost]: nisa.activation: what it accumulates in the Scalar Engine is never read out
    # CHECK-NEXT: --> {{.*}}accumulators.py:[[# @LINE + 7]]:5
    # CHECK: ::: {{.*}}accumulators.py:[[# @LINE + 7]]:5
    # CHECK: | ---------------------- reset by nisa.activation_reduce
    # CHECK: = help: continue the reduction with reduce_cmd=nisa.reduce_cmd.reduce, pass reduce_res= to its last instruction, or do not reduce
    # CHECK: 1 error and 1 warning for trn3 (default)
    sums = nl.ndarray((tile.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    wanted = {"reduce_op": nl.add, "reduce_cmd": command.reset_reduce}
    nisa.activation(dst=scaled, op=nl.exp, data=tile, **wanted)
    nisa.activation_reduce(dst=scaled, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=sums)
    return x


@nki.jit
def matmul(a, b):
    left, right = nl.load(a), nl.load(b)
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    product = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    half = product[:, 0:256]
    nisa.nc_matmul(dst=half, stationary=left, moving=right[:, 0:256], accumulate=False)
    # PSUM: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but a part of 'dst' has not been written before
    # PSUM-NEXT: --> {{.*}}accumulators.py:[[# @LINE + 3]]:24
    # PSUM: = dst: %product, psum 128x512 float32, allocated at {{.*}}accumulators.py:[[# @LINE - 5]]:{{[0-9]+}}
    # PSUM-NEXT: = the part has partitions 0 to 127, bytes 1024 to 2047 of each
    nisa.nc_matmul(dst=product, stationary=left, moving=right, accumulate=True)
    nisa.tensor_copy(dst=out, src=product)
    # PSUM: warning[psum-open-read]: nisa.nc_matmul: accumulate=None adds to a result that has been read already
    # PSUM: ::: {{.*}}accumulators.py:[[# @LINE - 2]]:5
    # PSUM: | ---------------- read by nisa.tensor_copy
    # PSUM: 1 error and 1 warning for trn3 (default)
    nisa.nc_matmul(dst=product, stationary=left, moving=right)
    return a


@nki.jit
def chunks(x):
    tile = nl.load(x)
    total = nl.ndarray((tile.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(4):
        part = tile[:, i * 128 : i * 128 + 128]
        # Each iteration loses the sum of the one before.
        # CHUNKS: warning[accumulator-lost]: nisa.activation: what it accumulates in the Scalar Engine is never read out
        # CHUNKS: = the same finding 3 times at this place, in an unrolled loop or call
        # CHUNKS: = help: reset in the first iteration only, and continue in the others: reduce_cmd=nisa.reduce_cmd.reset_reduce if i == 0 else nisa.reduce_cmd.reduce
        nisa.activation(
            dst=part,
            op=nl.exp,
            data=part,
            reduce_op=nl.add,
            reduce_res=total if i == 3 else None,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )
    nl.store(nl.ndarray(total.shape, dtype=total.dtype, buffer=nl.shared_hbm), total)


@nki.jit
def new_in_each_iteration(a):
    out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(0, 512, 128):
        # NEW: error[psum-accumulate]: nisa.nc_matmul: 'accumulate' is True, but nothing to add to has been written in 'dst' before
        # NEW: = help: each iteration of its loop allocates a new product: allocate product before the loop over the products that it sums
        product = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        part = nl.load(a[i : i + 128])
        nisa.nc_matmul(dst=product, stationary=part, moving=part, accumulate=i > 0)
    nl.store(out, nl.copy(product))
    return out
