# How long a kernel is predicted to take, and why.

# RUN: nkijit profile %s:add_one -a x=128x512:float32 -t trn2 | filecheck --match-full-lines --strict-whitespace %s

# With a product there is more to tell.
# RUN: nkijit profile %s:product -a x=128x512:float32 -t trn2 | filecheck --match-full-lines --check-prefix=PRODUCT %s

# Two cores, each with its queues. A kernel as text has no lines.
# RUN: nkijit profile %s:add_one -a x=128x512:float32 -t trn2 -c 2 | filecheck --match-full-lines --check-prefix=CORES %s
# RUN: nkijit trace %s:add_one -a x=128x512:float32 -t trn2 -o %t.mlir
# RUN: nkijit profile %t.mlir | filecheck --match-full-lines --check-prefix=IR %s

# A loop of which only the device knows how often it runs.
# RUN: nkijit profile %s:looped -a x=128x512:float32 -a bound=1x1:int32 -t trn2 --iterations 3 | filecheck --match-full-lines --check-prefix=LOOP %s
# RUN: nkijit profile %s:looped -a x=128x512:float32 -a bound=1x1:int32 -t trn2 | filecheck --match-full-lines --check-prefix=ONCE %s

# As JSON, as a trace beside the text, and against another kernel, which may be text.
# RUN: nkijit profile %s:add_one -a x=128x512:float32 -t trn2 --json > %t.json
# RUN: %python -c "import json, sys; p = json.load(open(sys.argv[1])); print(p['kernel'], round(p['time']), p['bound'])" %t.json | filecheck --match-full-lines --check-prefix=JSON %s
# RUN: nkijit profile %s:add_one -a x=128x512:float32 -t trn2 -o %t.trace | filecheck --match-full-lines --strict-whitespace %s
# RUN: %python -c "import json, sys; print(len([e for e in json.load(open(sys.argv[1]))['traceEvents'] if e['ph'] == 'X']))" %t.trace | filecheck --match-full-lines --check-prefix=TRACE %s
# RUN: nkijit profile %s:product -a x=128x512:float32 -t trn2 --against %t.mlir | filecheck --match-full-lines --check-prefix=AGAINST %s
# RUN: nkijit diff %s:add_one %s:product -a x=128x512:float32 -t trn2 | filecheck --match-full-lines --check-prefix=DIFF %s
# RUN: nkijit diff %t.mlir %t.mlir | filecheck --match-full-lines --check-prefix=SAME %s

# Other constants: a semaphore takes 1030 ns instead of 30, and is on the way once.
# RUN: sed 's/^latency_ns = 30$/latency_ns = 1030/' %S/../../../dialects/timings/trn2.toml > %t.toml
# RUN: nkijit profile %t.mlir --constants %t.toml | filecheck --match-full-lines --check-prefix=SLOW %s

# Wrong usage, and kernels that have no profile.
# RUN: not nkijit profile %t.mlir --json --against %t.mlir 2>&1 | filecheck --match-full-lines --check-prefix=BOTH %s
# RUN: not nkijit profile %t.mlir --constants %t.nowhere 2>&1 | filecheck --match-full-lines --check-prefix=NOWHERE %s
# RUN: not nkijit profile %t.mlir --iterations -1 2>&1 | filecheck --check-prefix=NEGATIVE %s
# RUN: not nkijit profile %t.mlir --against %t.none.mlir 2>&1 | filecheck --match-full-lines --check-prefix=OTHER %s
# RUN: not nkijit diff %S/Inputs/two_kernels.mlir %t.mlir 2>&1 | filecheck --match-full-lines --check-prefix=SEVERAL %s
# RUN: not nkijit profile %s:wrong -a x=128x512:float32 2>&1 | filecheck --check-prefix=WRONG %s

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def add_one(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def looped(x, bound):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    limit = nl.load(bound)
    count = nisa.register_alloc(0)
    nisa.register_load(count, limit)
    tile = nl.load(x)
    for _ in nl.dynamic_range(0, count, 1):
        nisa.tensor_scalar(tile, tile, nl.add, 1.0, engine=nisa.engine.vector)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def product(x):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(total, tile[:, 0:128], tile)
    result = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(result, total, engine=nisa.engine.vector)
    nisa.dma_copy(out, result)
    return out


@nki.jit
def wrong(x):
    tile = nl.load(x)
    nisa.tensor_copy(dst=x, src=tile)


# A load of 256 KiB: 599 ns to trigger, 751 until data moves, 293 + 1.305 x 256 KiB / 368 for the
# bytes, 315 to notify. The Vector Engine: 512 elements at 2 a cycle of 0.96 GHz, and 156 until the
# result is there. 30 for the semaphore. The store: 609 + 566 + 162 + 0.963 x 256 KiB / 368 + 355.
# CHECK:profile of @add_one for trn2: 5.718 us, 5 instructions
# CHECK-NEXT:  predicted, not measured; starting and ending a kernel takes about 9.4 us more
# CHECK-NEXT:  1.0% of SBUF and 0.0% of PSUM in use at the peak
# CHECK-EMPTY:
# CHECK-NEXT:  queue      instructions   busy  waits   idle                                  waits for
# CHECK-NEXT:  vector                1   4.7%  50.5%  44.8%  #---------------..............  dma_load 2.888 us
# CHECK-NEXT:  sync                  2  21.1%  47.9%  30.9%  ######--------------..........  vector 2.741 us
# CHECK-NEXT:  dma_load              1  21.4%  23.6%  55.0%  ######-------.................  dispatch 1.35 us
# CHECK-NEXT:  dma_store             1  14.8%  79.0%   6.2%  ####------------------------..  dispatch 4.515 us
# CHECK-NEXT:  # busy, - waits, . idle behind its last instruction
# CHECK-EMPTY:
# CHECK-NEXT:bound by latency: dma 29.9%, hbm 24.4%, vector 4.7% busy
# CHECK-EMPTY:
# CHECK-NEXT:  DMA          transfers    bytes  descriptor       rate
# CHECK-NEXT:  HBM to SBUF          1  256 KiB       2 KiB  45.8 GB/s
# CHECK-NEXT:  SBUF to HBM          1  256 KiB       2 KiB  45.8 GB/s
# CHECK-NEXT:  24.9% of what the DMA engines could move
# CHECK-EMPTY:
# CHECK-NEXT:critical path, by lines
# CHECK-NEXT:  line           queue      instruction        time  share  begins after
# CHECK-NEXT:  profile.py:46  dma_load   DMA_COPY       1.538 us  26.9%  dispatch
# CHECK-NEXT:  profile.py:46  sync       DMA_TRIGGER     1.35 us  23.6%  start
# CHECK-NEXT:  profile.py:48  dma_store  DMA_COPY       1.203 us  21.0%  dispatch
# CHECK-NEXT:  profile.py:48  sync       DMA_TRIGGER    1.175 us  20.5%  semaphore
# CHECK-NEXT:  profile.py:47  vector     TENSOR_SCALAR    453 ns   7.9%  semaphore
# CHECK-EMPTY:
# CHECK-NEXT:engines wait the longest
# CHECK-NEXT:  line           queue   waits for  at             because of{{.*}}
# CHECK-NEXT:  profile.py:47  vector  dma_load   profile.py:46  %tile {{.*}} 2.888 us
# CHECK-NEXT:  profile.py:48  sync    vector     profile.py:47  %tile {{.*}} 2.741 us

# Of float32 the array multiplies 2 x 128 x 128 x 2.4 GHz / 4 at the peak; 2 x 128 x 128 x 512 flops
# for 512 KiB are 32 for each byte, of which HBM moves 375 in a ns.
# PRODUCT:profile of @product for trn2: 7.688 us, 7 instructions
# PRODUCT:  1.0% of SBUF and 12.5% of PSUM in use at the peak
# PRODUCT:  tensor                2 {{.*}}
# PRODUCT:bound by latency: dma 22.3%, hbm 18.2%, tensor 14.0% busy
# PRODUCT-NEXT:  2.18 TFLOPS of 19.7 TFLOPS: MFU 11.1%, 79.3% of the Tensor Engine's busy time
# PRODUCT-NEXT:  32.0 flops for each byte of HBM: memory-bound, at most 12 TFLOPS
# PRODUCT:  profile.py:{{[0-9]+}}  tensor     LOAD_STATIONARY, MULTIPLY_MOVING  {{.*}}  weights

# CORES:profile of @add_one for trn2 on 2 cores: 5.718 us, 10 instructions
# CORES-NEXT:  predicted, not measured; starting and ending a kernel takes about 16 us more
# CORES-NEXT:  core 0: 1.0% of SBUF and 0.0% of PSUM in use at the peak
# CORES-NEXT:  core 1: 1.0% of SBUF and 0.0% of PSUM in use at the peak
# CORES:  core  queue      instructions   busy  waits   idle                                  waits for
# CORES-NEXT:  0     vector                1   4.7% {{.*}}
# CORES:  1     vector                1   4.7% {{.*}}
# CORES:  HBM to SBUF          2  512 KiB       2 KiB  91.7 GB/s

# IR:profile of @add_one for trn2: 5.718 us, 5 instructions
# IR:critical path, by lines
# IR-NEXT:  queue      instruction        time  share  begins after
# IR-NEXT:  sync       DMA_TRIGGER    2.525 us  44.2%  start
# IR-NEXT:  dma_load   DMA_COPY       1.538 us  26.9%  dispatch

# LOOP:  vector                4 {{.*}}
# LOOP:note: the loop at {{.*}}profile.py:59:5 is taken to run for 3 iterations: how often is known on the device only
# ONCE:note: the loop at {{.*}}profile.py:59:5 is taken to run for 1 iteration: how often is known on the device only

# JSON:add_one 5718 latency
# TRACE:5

# AGAINST:@product against @add_one
# AGAINST-NEXT:                          this     other   change
# AGAINST-NEXT:  time                7.688 us  5.718 us   +34.5%
# AGAINST-NEXT:  instructions               7         5   +40.0%
# AGAINST-NEXT:  tensor busy         1.077 us      0 ns      new
# AGAINST-NEXT:  vector busy           533 ns    267 ns  +100.0%
# AGAINST-NEXT:  sync busy           1.208 us  1.208 us     same
# AGAINST:  MFU                     11.1%      0.0%      new
# AGAINST:  bound by              latency   latency
# AGAINST-EMPTY:
# AGAINST-NEXT:critical path, where it differs the most
# AGAINST-NEXT:  queue       this   other   change  instruction
# AGAINST-NEXT:  tensor  {{.*}}  LOAD_STATIONARY, MULTIPLY_MOVING

# DIFF:instructions
# DIFF:  tensor LOAD_STATIONARY {{.*}}  +1
# DIFF:  vector TENSOR_SCALAR {{.*}}  -1
# DIFF:  sync DMA_TRIGGER {{.*}}  same
# DIFF:--- {{.*}}profile.py:add_one
# DIFF-NEXT:+++ {{.*}}profile.py:product
# DIFF:+tensor:
# DIFF-NEXT:+  LOAD_STATIONARY       stationary=tile[sbuf, 0:128, 1:128, float32]
# DIFF-NEXT:+  MULTIPLY_MOVING       dst=total[psum, 0:128, 1:512, float32], moving=tile[sbuf, 0:128, 1:512, float32]
# DIFF-NEXT: vector:
# DIFF-NEXT:-  TENSOR_SCALAR         dst=tile[sbuf, 0:128, 1:512, float32], data=tile[sbuf, 0:128, 1:512, float32], operand0=1.0, op0=add
# DIFF-NEXT:+  TENSOR_COPY           dst=result[sbuf, 0:128, 1:512, float32], src=total[psum, 0:128, 1:512, float32]
# DIFF:@product against @add_one
# DIFF-NEXT:                        second     first   change
# DIFF-NEXT:  time                7.688 us  5.718 us   +34.5%

# DIFF:critical path, where it differs the most
# DIFF-NEXT:  queue        second     first     change  line
# DIFF-NEXT:  tensor     1.703 us      0 ns  +1.703 us  nisa.nc_matmul(total, tile[:, 0:128], tile)

# SAME:the queues run the same instructions
# SAME:@add_one against @add_one
# SAME:  time                5.718 us  5.718 us    same

# SLOW:profile of @add_one for trn2: 6.718 us, 5 instructions

# BOTH:error: --json and --against exclude each other
# NOWHERE:error: {{.*}}.nowhere: cannot be read: No such file or directory
# NEGATIVE:Invalid value for '--iterations'
# OTHER:error: {{.*}}No such file or directory: '{{.*}}.none.mlir'
# SEVERAL:error: the file has several kernels, name one: wrong, right
# WRONG:error[{{.*}}
