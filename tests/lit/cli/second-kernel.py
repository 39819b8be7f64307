# A comparison takes other arguments for the second kernel.

# RUN: nkijit diff %s:tiles -a x=128x512:float32 -b tile=256 | filecheck --check-prefix=DIFF %s
# DIFF: instructions
# DIFF-NEXT: tiles -b  change
# DIFF-NEXT: sync DMA_TRIGGER  {{ *}}8 {{ *}}4 {{ *}}-4
# DIFF: -    nki.repeat start = 0 to 4 {
# DIFF: +    nki.repeat start = 0 to 2 {

# The other kernel has no argument x.
# RUN: nkijit profile %s:tiles --against %s:whole -a x=128x512:float32 -b data=128x512:float32 | filecheck --check-prefix=PROFILE %s
# PROFILE: @tiles against @whole
# PROFILE: instructions {{ *}}16 {{ *}}4
# RUN: nkijit report %s:tiles --against %s:whole -a x=128x512:float32 -b data=128x512:float32 -o - | filecheck --check-prefix=PAGE %s
# PAGE: whole
# RUN: nkijit bisect %s:tiles --against %s:tiles -a x=128x512:float32 -b tile=256 | filecheck --check-prefix=BISECT %s
# BISECT: nothing departs from another run of tiles

# Each kernel has those arguments of -a that are among its parameters, in every command that compares.
# RUN: nkijit prove %s:tiles %s:plain -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=PROVEN %s
# RUN: nkijit prove %s:plain %s:tiles -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=PROVEN %s
# RUN: nkijit diff %s:tiles %s:plain -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=PROVEN %s
# PROVEN: equal for all inputs: bits
# RUN: nkijit prove %s:tiles %s:plain -a x=128x512:float32 -a tile=256 --element "out[0, 0]" | filecheck --check-prefix=TERM %s
# TERM-COUNT-2: out[0, 0]
# RUN: nkijit profile %s:tiles --against %s:plain -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=AGAINST %s
# AGAINST: @tiles against @plain
# AGAINST: instructions {{ *}}8 {{ *}}4
# RUN: nkijit report %s:tiles --against %s:plain -a x=128x512:float32 -a tile=256 -o - | filecheck --check-prefix=PAGEOF %s
# RUN: nkijit report %s:tiles --against %s:plain -a x=128x512:float32 -a tile=256 --record -o - | filecheck --check-prefix=PAGEOF %s
# PAGEOF: plain
# RUN: nkijit bisect %s:tiles --against %s:plain -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=BISECTED %s
# BISECTED: nothing departs from another run of plain

# RUN: not nkijit prove %s:tiles -a x=128x512:float32 -b x=128x256:float32 | filecheck --match-full-lines --check-prefix=SHAPES %s
# SHAPES: not proven: argument 0 is float32 (128, 512) in the old kernel, float32 (128, 256) in the new one

# Of IR, -a has no effect; the Python file has to have the arguments.
# RUN: nkijit trace %s:plain -a x=128x512:float32 -o %t.plain.mlir
# RUN: nkijit prove %t.plain.mlir %s:tiles -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=PROVEN %s
# RUN: nkijit profile %t.plain.mlir --against %s:tiles -a x=128x512:float32 -a tile=256 | filecheck --check-prefix=SAVED %s
# SAVED: @plain against @tiles

# Errors name the kernel.
# RUN: not nkijit diff %s:tiles %s:plain -a x=128x512:float32 -a tiel=256 2>&1 | filecheck --check-prefix=NEITHER %s
# RUN: not nkijit profile %s:tiles --against %s:plain -a x=128x512:float32 -a tiel=256 2>&1 | filecheck --check-prefix=NEITHER %s
# NEITHER: error: no kernel of the comparison has an argument 'tiel': {{.*}}second-kernel.py:tiles has x, tile; {{.*}}second-kernel.py:plain has x; did you mean 'tile'?
# RUN: not nkijit diff %s:tiles %s:whole -a x=128x512:float32 2>&1 | filecheck --check-prefix=MISSING %s
# MISSING: error: argument 'data' is missing; {{.*}}second-kernel.py:whole has data. Add
# RUN: not nkijit diff %s:tiles %s:whole -a x=128x512:float32 -b dat=128x512:float32 2>&1 | filecheck --check-prefix=NEAR %s
# NEAR: error: {{.*}}second-kernel.py:whole has no argument 'dat'; it has data; did you mean 'data'?
# RUN: not nkijit profile %s:tiles -a x=128x512:float32 -b tile=256 2>&1 | filecheck --check-prefix=ALONE %s
# ALONE: error: -b needs --against
# RUN: nkijit trace %s:whole -a data=128x512:float32 -o %t.mlir
# RUN: not nkijit diff %s:tiles %t.mlir -a x=128x512:float32 -b tile=256 2>&1 | filecheck --check-prefix=IR %s
# IR: error: {{.*}} is traced already: -b does not apply

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def tiles(x, tile=128):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, x.shape[1], tile):
        t = nl.ndarray((128, tile), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[:, start : start + tile])
        nisa.dma_copy(dst=out[:, start : start + tile], src=t)
    return out


@nki.jit
def plain(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.dma_copy(dst=out, src=t)
    return out


@nki.jit
def whole(data):
    out = nl.ndarray(data.shape, dtype=data.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(data.shape, dtype=data.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=data)
    nisa.dma_copy(dst=out, src=t)
    return out
