// RUN: nkijit-opt -p allocate %s | filecheck --check-prefix=ALLOCATE %s
// RUN: nkijit-opt -p allocate %s | nkijit-opt -p lower-to-engines | filecheck --check-prefix=LOWER %s
// RUN: nkijit-opt -p lower-to-engines %s | filecheck --check-prefix=LOWER %s
// RUN: nkijit-opt -p lower-to-engines %s | nkijit-opt -p schedule | filecheck --check-prefix=SCHEDULE %s
// RUN: nkijit lower %s | filecheck --check-prefix=SCHEDULE %s
// RUN: nkijit lower %s --stop-after allocate | filecheck --check-prefix=ALLOCATE %s
// RUN: nkijit lower %s --dump-after-all | filecheck --check-prefixes=ALLOCATE,LOWER,SCHEDULE %s

// A scheduled program stays as it is, and a kernel with addresses is a kernel without errors.
// RUN: nkijit lower %s --locations -o %t.mlir && nkijit lower %t.mlir --locations > %t.again && tail -n +2 %t.mlir | diff %t.again -
// RUN: head -n 1 %t.mlir | filecheck --match-full-lines --check-prefix=ORDER %s
// ORDER: // schedule author: order and tiles as written; profile and report predict schedule compiler
// RUN: nkijit lower %s --stop-after allocate --locations -o %t.addresses.mlir && nkijit verify %t.addresses.mlir
// RUN: nkijit list %t.addresses.mlir > %t.one && nkijit list %s | diff %t.one -

// What cannot be done.
// RUN: not nkijit-opt -p schedule %s 2>&1 | filecheck --check-prefix=UNLOWERED %s
// UNLOWERED: error: @k is not lowered: lower-to-engines comes first
// RUN: not nkijit lower %s --stop-after place 2>&1 | filecheck --check-prefix=UNKNOWN %s
// UNKNOWN: lowering has no pass 'place'; it has allocate, lower-to-engines, schedule
// RUN: not nkijit lower %s:other 2>&1 | filecheck --check-prefix=MISSING %s
// MISSING: has no kernel 'other'

// ALLOCATE: nki.kernel @k(
// ALLOCATE: %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
// ALLOCATE-NEXT: %a = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
// ALLOCATE-NEXT: %b = nki.alloc address=[0, 256] : memref<128x64xf32, #nki.sbuf>

// LOWER: engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
// LOWER: engine.queue sync {
// LOWER-NEXT: engine.trigger 0 of 1
// LOWER-NEXT: engine.trigger 4 of 5 after=[3 true src]
// LOWER-NEXT: }
// LOWER-NEXT: engine.queue dma_load {
// LOWER-NEXT: engine.issue 1 do nisa.dma_copy dst=%a, src=%x
// LOWER-NEXT: }
// LOWER-NEXT: engine.queue scalar {
// LOWER-NEXT: engine.load_table 2 "exp" of 3
// LOWER-NEXT: engine.issue 3 after=[1 true data] do nisa.activation dst=%b, op=exp, data=%a
// LOWER-NEXT: }
// LOWER-NEXT: engine.queue dma_store {
// LOWER-NEXT: engine.issue 5 do nisa.dma_copy dst=%out, src=%b
// LOWER-NEXT: }
// LOWER-NEXT: nki.return %out

// SCHEDULE: engine.program @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 scheduled {
// SCHEDULE: engine.trigger 4 of 5 wait=[scalar>=1 true src]
// SCHEDULE: engine.issue 1 signal=1 do nisa.dma_copy dst=%a, src=%x
// SCHEDULE: engine.issue 3 wait=[dma_load>=1 true data] signal=1 do nisa.activation
nki.kernel @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%b, op=exp, data=%a
  nisa.dma_copy dst=%out, src=%b
  nki.return %out
}
