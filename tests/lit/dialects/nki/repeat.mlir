// RUN: %roundtrip
// RUN: nkijit-opt -p unroll %s | filecheck --match-full-lines --check-prefix=UNROLLED %s
// RUN: nkijit trace %s | filecheck --match-full-lines --check-prefix=UNROLLED %s
// RUN: nkijit-opt -p verify-access %s | filecheck --match-full-lines --check-prefix=UNROLLED %s

// CHECK:      builtin.module {
// CHECK-NEXT:   nki.kernel @repeats(%a: memref<512x64xf32, #nki.private_hbm>) target=trn2 {
// CHECK-NEXT:     %out = nki.alloc : memref<512x64xf32, #nki.shared_hbm>
// CHECK-NEXT:     %first = nki.alloc : memref<128x64xf32, #nki.sbuf>
// CHECK-NEXT:     %tiles = nki.repeat m = 0 to 2 {
// CHECK-NEXT:       %tile = nki.alloc name="t_0" address=[0, m*256] {varies = #nki.varies<name = [m]>} : memref<128x64xf32, #nki.sbuf>
// CHECK-NEXT:       %a_1 = nki.view %a offset=m*8192 pattern=[[64, 128], [1, 64]]
// CHECK-NEXT:       nisa.dma_copy dst=%tile, src=%a_1
// CHECK-NEXT:       nki.yield %tile
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.repeat g = 0 to 2 {
// CHECK-NEXT:       %offset = nki.number g*64 unless 0 : i32
// CHECK-NEXT:       nisa.iota dst=%first, pattern=[[1, 64]], offset=%offset, channel_multiplier=1
// CHECK-NEXT:       nki.repeat m = 0 to g+1 {
// CHECK-NEXT:         %tile_1 = nki.element %first, %tiles[m]
// CHECK-NEXT:         %out_1 = nki.view %out offset=g*16384-m*8192+8192 pattern=[[64, 128], [1, 64]]
// CHECK-NEXT:         nisa.dma_copy dst=%out_1, src=%tile_1
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.return %out
// CHECK-NEXT:   }
// CHECK-NEXT: }

// UNROLLED:      builtin.module {
// UNROLLED-NEXT:   nki.kernel @repeats(%a: memref<512x64xf32, #nki.private_hbm>) target=trn2 {
// UNROLLED-NEXT:     %c64 = arith.constant 64 : i32
// UNROLLED-NEXT:     %out = nki.alloc : memref<512x64xf32, #nki.shared_hbm>
// UNROLLED-NEXT:     %first = nki.alloc : memref<128x64xf32, #nki.sbuf>
// UNROLLED-NEXT:     %tile = nki.alloc name="t_0" address=[0, 0] : memref<128x64xf32, #nki.sbuf>
// UNROLLED-NEXT:     %a_1 = nki.view %a offset=0 pattern=[[64, 128], [1, 64]]
// UNROLLED-NEXT:     nisa.dma_copy dst=%tile, src=%a_1
// UNROLLED-NEXT:     %tile_1 = nki.alloc name="t_1" address=[0, 256] : memref<128x64xf32, #nki.sbuf>
// UNROLLED-NEXT:     %a_2 = nki.view %a offset=8192 pattern=[[64, 128], [1, 64]]
// UNROLLED-NEXT:     nisa.dma_copy dst=%tile_1, src=%a_2
// UNROLLED-NEXT:     nisa.iota dst=%first, pattern=[[1, 64]], channel_multiplier=1
// UNROLLED-NEXT:     %out_1 = nki.view %out offset=8192 pattern=[[64, 128], [1, 64]]
// UNROLLED-NEXT:     nisa.dma_copy dst=%out_1, src=%first
// UNROLLED-NEXT:     nisa.iota dst=%first, pattern=[[1, 64]], offset=%c64, channel_multiplier=1
// UNROLLED-NEXT:     %out_2 = nki.view %out offset=24576 pattern=[[64, 128], [1, 64]]
// UNROLLED-NEXT:     nisa.dma_copy dst=%out_2, src=%first
// UNROLLED-NEXT:     %out_3 = nki.view %out offset=16384 pattern=[[64, 128], [1, 64]]
// UNROLLED-NEXT:     nisa.dma_copy dst=%out_3, src=%tile
// UNROLLED-NEXT:     nki.return %out
// UNROLLED-NEXT:   }
// UNROLLED-NEXT: }

builtin.module {
  nki.kernel @repeats(%a: memref<512x64xf32, #nki.private_hbm>) target=trn2 {
    %out = nki.alloc : memref<512x64xf32, #nki.shared_hbm>
    %first = nki.alloc : memref<128x64xf32, #nki.sbuf>
    %tiles = nki.repeat m = 0 to 2 {
      %tile = nki.alloc name="t_0" address=[0, m*256] {varies = #nki.varies<name = [m]>} : memref<128x64xf32, #nki.sbuf>
      %a_1 = nki.view %a offset=m*8192 pattern=[[64, 128], [1, 64]]
      nisa.dma_copy dst=%tile, src=%a_1
      nki.yield %tile
    }
    nki.repeat g = 0 to 2 {
      %offset = nki.number g*64 unless 0 : i32
      nisa.iota dst=%first, pattern=[[1, 64]], offset=%offset, channel_multiplier=1
      nki.repeat m = 0 to g+1 {
        %tile_1 = nki.element %first, %tiles[m]
        %out_1 = nki.view %out offset=g*16384-m*8192+8192 pattern=[[64, 128], [1, 64]]
        nisa.dma_copy dst=%out_1, src=%tile_1
      }
    }
    nki.return %out
  }
}
