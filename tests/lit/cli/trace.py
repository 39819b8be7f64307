# RUN: nkijit trace %s -a x=128x64:bfloat16 | filecheck --match-full-lines %s
# RUN: nkijit trace %s:gelu -a x=128x64:bfloat16 -a scale=3 -t trn2 --generic | filecheck --match-full-lines --check-prefix=GENERIC %s
# RUN: nkijit trace %s -a x=128x64:bfloat16 --locations | filecheck --match-full-lines --check-prefix=LOCATIONS %s
# RUN: nkijit list %s -a x=128x64:bfloat16 | filecheck --match-full-lines --check-prefix=LIST %s
# RUN: nkijit verify %s -a x=128x64:bfloat16 | filecheck --check-prefix=VERIFY %s

# The printed text can be read again: as a file, by name, in both forms. Output goes to -o.
# RUN: nkijit trace %s -a x=128x64:bfloat16 -o %t.mlir
# RUN: nkijit trace %t.mlir | diff %t.mlir -
# RUN: nkijit trace %t.mlir:gelu --generic -o %t.generic.mlir
# RUN: nkijit trace %t.generic.mlir | diff %t.mlir -
# RUN: nkijit list %t.mlir -o %t.list
# RUN: filecheck --match-full-lines --check-prefix=LIST %s < %t.list
# RUN: nkijit verify %t.mlir | filecheck --check-prefix=VERIFY %s

# The environment names a target, unless -t does.
# RUN: env NEURON_PLATFORM_TARGET_OVERRIDE=trn2 nkijit trace %s -a x=128x64:bfloat16 | filecheck --check-prefix=TRN2 %s
# RUN: env NEURON_PLATFORM_TARGET_OVERRIDE=trn1 nkijit trace %s -a x=128x64:bfloat16 -t trn2 | filecheck --check-prefix=TRN2 %s

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def gelu(x, scale=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    # LOCATIONS: %tile = nki.alloc : memref<128x64xbf16, #nki.sbuf> loc("{{.*}}trace.py":[[# @LINE + 2]]:12)
    # LOCATIONS-NEXT: nisa.dma_copy dst=%tile, src=%x loc("{{.*}}trace.py":[[# @LINE + 1]]:12)
    tile = nl.load(x)
    # LOCATIONS-NEXT: nisa.activation dst=%tile, op=gelu, data=%tile, scale=%c2.0, name="gelu" loc("{{.*}}trace.py":[[# @LINE + 1]]:5)
    nisa.activation(dst=tile, op=nl.gelu, data=tile, scale=scale, name="gelu")
    nl.store(out, tile)
    return out


# CHECK:      builtin.module {
# CHECK-NEXT:   nki.kernel @gelu(%x: memref<128x64xbf16, #nki.private_hbm>) target=trn3 {
# CHECK-NEXT:     %c2.0 = arith.constant 2.000000e+00 : f32
# CHECK-NEXT:     %out = nki.alloc : memref<128x64xbf16, #nki.shared_hbm>
# CHECK-NEXT:     %tile = nki.alloc : memref<128x64xbf16, #nki.sbuf>
# CHECK-NEXT:     nisa.dma_copy dst=%tile, src=%x
# CHECK-NEXT:     nisa.activation dst=%tile, op=gelu, data=%tile, scale=%c2.0, name="gelu"
# CHECK-NEXT:     nisa.dma_copy dst=%out, src=%tile
# CHECK-NEXT:     nki.return %out
# CHECK-NEXT:   }
# CHECK-NEXT: }

# GENERIC:      "builtin.module"() ({
# GENERIC-NEXT:   "nki.kernel"() <{sym_name = "gelu", target = "trn2"}> ({
# GENERIC-NEXT:   ^bb0(%x: memref<128x64xbf16, #nki.private_hbm>):
# GENERIC-NEXT:     %c3 = "arith.constant"() <{value = 3 : i32}> : () -> i32
# GENERIC:          "nisa.activation"(%tile, %tile, %c3) <{op = #nisa.op<gelu>, name = "gelu", operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> : (memref<128x64xbf16, #nki.sbuf>, memref<128x64xbf16, #nki.sbuf>, i32) -> ()

# LIST: kernel gelu, trn3 (NeuronCore-v4)
# LIST-NEXT: 6 instructions, 2 waits, 2 signals
# LIST-NEXT: SBUF 128 of 245752 bytes per partition, PSUM 0 of 16384
# LIST-EMPTY:
# LIST-NEXT: sync: 2 instructions
# LIST-NEXT: 0 DMA_TRIGGER transfer=dma_load @1{{( .*)?}}
# LIST-NEXT: 4 wait(scalar>=1) DMA_TRIGGER transfer=dma_store @5{{( .*)?}}
# LIST-EMPTY:
# LIST-NEXT: dma_load: 1 instruction
# LIST-NEXT: 1 DMA_COPY dst=tile[sbuf 0, 0:128, 1:64, bfloat16], src=x[private_hbm 0, 64:128 1:64, bfloat16] signal(1){{( .*)?}}
# LIST-EMPTY:
# LIST-NEXT: scalar: 2 instructions
# LIST-NEXT: 2 LOAD_TABLE table=gelu{{( .*)?}}
# LIST-NEXT: 3 wait(dma_load>=1) ACTIVATE dst=tile[sbuf 0, 0:128, 1:64, bfloat16], data=tile[sbuf 0, 0:128, 1:64, bfloat16], scale=2.0, op=gelu, name="gelu" signal(1){{( .*)?}}
# LIST-EMPTY:
# LIST-NEXT: dma_store: 1 instruction
# LIST-NEXT: 5 DMA_COPY dst=out[shared_hbm 0, 64:128 1:64, bfloat16], src=tile[sbuf 0, 0:128, 1:64, bfloat16]{{( .*)?}}

# VERIFY-NOT: error[

# TRN2: target=trn2
