# Steps are repeated from JSON, and explained; the source has a comment for each step.

# RUN: nkijit optimize %s:powers -t trn2 -a x=128x2048:float32 --budget 600 --json > %t.json
# RUN: nkijit optimize %s:powers -t trn2 -a x=128x2048:float32 --budget 0 --resume %t.json --explain 1 | filecheck --check-prefix=EXPLAIN %s
# EXPLAIN: step 1. {{.*}}: subtract by the bias of the activation
# EXPLAIN: --- original
# EXPLAIN-NEXT: +++ step 1
# EXPLAIN: bound by

# RUN: nkijit optimize %s:powers -t trn2 -a x=128x2048:float32 --budget 0 --resume %t.json -o %t.py
# RUN: filecheck --check-prefix=SOURCE --input-file %t.py %s
# SOURCE: # @powers for trn2: {{.*}}, 1 step
# SOURCE: # step 1. {{.*}}: subtract by the bias of the activation
# SOURCE: def powers(x: nl.NkiTensor)
# SOURCE: bias=largest

# A kernel without a gain stays as it is.
# RUN: nkijit optimize %s:copied -t trn2 -a x=128x64:float32 --budget 600 | filecheck --check-prefix=NOTHING %s
# NOTHING: @copied for trn2: {{.*}} (-0.0%), 0 steps
# NOTHING: bound by latency
# NOTHING: nothing is left to try
# NOTHING: no change that was tried gains more than the uncertainty of the model

# RUN: not nkijit optimize %s:copied -t trn2 -a x=128x64:float32 --resume %t.json 2>&1 | filecheck --check-prefix=OTHER %s
# OTHER: --resume {{.*}}.json: this is the result for @powers, not for @copied
# RUN: not nkijit optimize %s:copied -t trn2 -a x=128x64:float32 --budget 0 --explain 3 2>&1 | filecheck --check-prefix=STEP %s
# STEP: --explain 3: the search found 0 steps
# RUN: not nkijit optimize %s:copied -t trn2 -a x=128x64:float32 --json --diff 2>&1 | filecheck --check-prefix=BOTH %s
# BOTH: --json excludes --diff and --explain

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def powers(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    largest = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    centred = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    result = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1)
    nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=largest)
    nisa.activation(dst=result, data=centred, op=nl.exp)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out
