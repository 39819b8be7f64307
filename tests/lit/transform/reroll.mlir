// RUN: nkijit-opt -p reroll %s > %t.rolled.mlir
// RUN: filecheck --match-full-lines %s < %t.rolled.mlir
// RUN: nkijit-opt %s > %t.flat.mlir
// RUN: nkijit-opt -p unroll %t.rolled.mlir | diff %t.flat.mlir -
// RUN: nkijit-opt %t.rolled.mlir | diff %t.rolled.mlir -
// RUN: nkijit-opt -p reroll %t.rolled.mlir | diff %t.rolled.mlir -
// RUN: nkijit-opt --print-op-generic %t.rolled.mlir | nkijit-opt | diff %t.rolled.mlir -
// RUN: not nkijit-opt -p reroll,verify %s 2>&1 | filecheck --check-prefix=ORDER %s
// ORDER: error: verify does not accept nki.repeat: run it before reroll, or run unroll in between

// Loops that are found in what an author has unrolled by hand: nothing says where the iterations
// come from.

// Tiles of a list, made in one loop and used in another; offsets with two indices.
// CHECK:   nki.kernel @lists(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
// CHECK-NEXT:     %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
// CHECK-NEXT:     %tiles = nki.repeat i = 0 to 4 {
// CHECK-NEXT:       %tile = nki.alloc address=[0, i*1024] : memref<128x256xf32, #nki.sbuf>
// CHECK-NEXT:       %x_1 = nki.view %x offset=i*32768 pattern=[[256, 128], [1, 256]]
// CHECK-NEXT:       nisa.dma_copy dst=%tile, src=%x_1
// CHECK-NEXT:       nki.yield %tile
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.repeat i = 0 to 4 {
// CHECK-NEXT:       nki.repeat j = 0 to 2 {
// CHECK-NEXT:         %half = nki.alloc : memref<128x128xf32, #nki.sbuf>
// CHECK-NEXT:         %tile_1 = nki.element %tiles[i]
// CHECK-NEXT:         %tile_2 = nki.view %tile_1 offset=j*128 pattern=[[256, 128], [1, 128]]
// CHECK-NEXT:         nisa.activation dst=%half, op=exp, data=%tile_2
// CHECK-NEXT:         %out_1 = nki.view %out offset=i*32768+j*128 pattern=[[256, 128], [1, 128]]
// CHECK-NEXT:         nisa.dma_copy dst=%out_1, src=%half
// CHECK-NEXT:       }
// CHECK-NEXT:       %tile_3 = nki.element %tiles[i]
// CHECK-NEXT:       nisa.memset dst=%tile_3, value=0
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.return %out
// CHECK-NEXT:   }
nki.kernel @lists(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
  %tile_100 = nki.alloc address=[0, 0] : memref<128x256xf32, #nki.sbuf>
  %x_0 = nki.view %x offset=0 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile_100, src=%x_0
  %tile_101 = nki.alloc address=[0, 1024] : memref<128x256xf32, #nki.sbuf>
  %x_1 = nki.view %x offset=32768 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile_101, src=%x_1
  %tile_102 = nki.alloc address=[0, 2048] : memref<128x256xf32, #nki.sbuf>
  %x_2 = nki.view %x offset=65536 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile_102, src=%x_2
  %tile_103 = nki.alloc address=[0, 3072] : memref<128x256xf32, #nki.sbuf>
  %x_3 = nki.view %x offset=98304 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile_103, src=%x_3
  %half_00 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_200 = nki.view %tile_100 offset=0 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_00, op=exp, data=%tile_200
  %out_10 = nki.view %out offset=0 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_10, src=%half_00
  %half_01 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_201 = nki.view %tile_100 offset=128 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_01, op=exp, data=%tile_201
  %out_11 = nki.view %out offset=128 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_11, src=%half_01
  nisa.memset dst=%tile_100, value=0
  %half_10 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_202 = nki.view %tile_101 offset=0 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_10, op=exp, data=%tile_202
  %out_12 = nki.view %out offset=32768 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_12, src=%half_10
  %half_11 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_203 = nki.view %tile_101 offset=128 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_11, op=exp, data=%tile_203
  %out_13 = nki.view %out offset=32896 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_13, src=%half_11
  nisa.memset dst=%tile_101, value=0
  %half_20 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_204 = nki.view %tile_102 offset=0 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_20, op=exp, data=%tile_204
  %out_14 = nki.view %out offset=65536 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_14, src=%half_20
  %half_21 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_205 = nki.view %tile_102 offset=128 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_21, op=exp, data=%tile_205
  %out_15 = nki.view %out offset=65664 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_15, src=%half_21
  nisa.memset dst=%tile_102, value=0
  %half_30 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_206 = nki.view %tile_103 offset=0 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_30, op=exp, data=%tile_206
  %out_16 = nki.view %out offset=98304 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_16, src=%half_30
  %half_31 = nki.alloc : memref<128x128xf32, #nki.sbuf>
  %tile_207 = nki.view %tile_103 offset=128 pattern=[[256, 128], [1, 128]]
  nisa.activation dst=%half_31, op=exp, data=%tile_207
  %out_17 = nki.view %out offset=98432 pattern=[[256, 128], [1, 128]]
  nisa.dma_copy dst=%out_17, src=%half_31
  nisa.memset dst=%tile_103, value=0
  nki.return %out
}

// The first and the last iteration are something else.
// CHECK:   nki.kernel @peeled(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
// CHECK-NEXT:     %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
// CHECK-NEXT:     %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
// CHECK-NEXT:     %sum = nki.alloc : memref<128x256xf32, #nki.sbuf>
// CHECK-NEXT:     %x_1 = nki.view %x offset=0 pattern=[[256, 128], [1, 256]]
// CHECK-NEXT:     nisa.dma_copy dst=%tile, src=%x_1
// CHECK-NEXT:     nisa.tensor_copy dst=%sum, src=%tile
// CHECK-NEXT:     nki.repeat i = 0 to 5 {
// CHECK-NEXT:       nisa.activation dst=%sum, op=exp, data=%sum
// CHECK-NEXT:       %x_2 = nki.view %x offset=i*1024+1024 pattern=[[256, 128], [1, 256]]
// CHECK-NEXT:       nisa.dma_copy dst=%tile, src=%x_2
// CHECK-NEXT:       nisa.tensor_tensor dst=%sum, data1=%sum, data2=%tile, op=add
// CHECK-NEXT:     }
// CHECK-NEXT:     nisa.reciprocal dst=%sum, data=%sum
// CHECK-NEXT:     %out_1 = nki.view %out offset=0 pattern=[[256, 128], [1, 256]]
// CHECK-NEXT:     nisa.dma_copy dst=%out_1, src=%sum
// CHECK-NEXT:     nki.return %out
// CHECK-NEXT:   }
nki.kernel @peeled(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
  %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
  %sum = nki.alloc : memref<128x256xf32, #nki.sbuf>
  %x_0 = nki.view %x offset=0 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile, src=%x_0
  nisa.tensor_copy dst=%sum, src=%tile
  nisa.activation dst=%sum, op=exp, data=%sum
  %x_1 = nki.view %x offset=1024 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile, src=%x_1
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%tile, op=add
  nisa.activation dst=%sum, op=exp, data=%sum
  %x_2 = nki.view %x offset=2048 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile, src=%x_2
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%tile, op=add
  nisa.activation dst=%sum, op=exp, data=%sum
  %x_3 = nki.view %x offset=3072 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile, src=%x_3
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%tile, op=add
  nisa.activation dst=%sum, op=exp, data=%sum
  %x_4 = nki.view %x offset=4096 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile, src=%x_4
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%tile, op=add
  nisa.activation dst=%sum, op=exp, data=%sum
  %x_5 = nki.view %x offset=5120 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%tile, src=%x_5
  nisa.tensor_tensor dst=%sum, data1=%sum, data2=%tile, op=add
  nisa.reciprocal dst=%sum, data=%sum
  %out_1 = nki.view %out offset=0 pattern=[[256, 128], [1, 256]]
  nisa.dma_copy dst=%out_1, src=%sum
  nki.return %out
}

// Loops on the device have repetition in their bodies, and are repeated.
// CHECK:   nki.kernel @device(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
// CHECK-NEXT:     %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
// CHECK-NEXT:     %c0 = arith.constant 0 : i32
// CHECK-NEXT:     %c1 = arith.constant 1 : i32
// CHECK-NEXT:     %c4 = arith.constant 4 : i32
// CHECK-NEXT:     %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
// CHECK-NEXT:     nki.repeat i = 0 to 3 {
// CHECK-NEXT:       scf.for %n = %c0 to %c4 step %c1 : i32 {
// CHECK-NEXT:         nki.repeat j = 0 to 4 {
// CHECK-NEXT:           %tile_1 = nki.view %tile offset=i*64+j*16 pattern=[[256, 128], [1, 16]]
// CHECK-NEXT:           nisa.activation dst=%tile_1, op=exp, data=%tile_1
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.return %out
// CHECK-NEXT:   }
nki.kernel @device(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
  scf.for %n_0 = %c0 to %c4 step %c1 : i32 {
    %tile_00 = nki.view %tile offset=0 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_00, op=exp, data=%tile_00
    %tile_01 = nki.view %tile offset=16 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_01, op=exp, data=%tile_01
    %tile_02 = nki.view %tile offset=32 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_02, op=exp, data=%tile_02
    %tile_03 = nki.view %tile offset=48 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_03, op=exp, data=%tile_03
  }
  scf.for %n_1 = %c0 to %c4 step %c1 : i32 {
    %tile_10 = nki.view %tile offset=64 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_10, op=exp, data=%tile_10
    %tile_11 = nki.view %tile offset=80 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_11, op=exp, data=%tile_11
    %tile_12 = nki.view %tile offset=96 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_12, op=exp, data=%tile_12
    %tile_13 = nki.view %tile offset=112 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_13, op=exp, data=%tile_13
  }
  scf.for %n_2 = %c0 to %c4 step %c1 : i32 {
    %tile_20 = nki.view %tile offset=128 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_20, op=exp, data=%tile_20
    %tile_21 = nki.view %tile offset=144 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_21, op=exp, data=%tile_21
    %tile_22 = nki.view %tile offset=160 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_22, op=exp, data=%tile_22
    %tile_23 = nki.view %tile offset=176 pattern=[[256, 128], [1, 16]]
    nisa.activation dst=%tile_23, op=exp, data=%tile_23
  }
  nki.return %out
}

// Offsets that grow unevenly are no loop.
// CHECK:   nki.kernel @uneven(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
// CHECK-NOT: {{.*}}nki.repeat{{.*}}
// CHECK:     nki.return %out
nki.kernel @uneven(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
  %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
  %tile_5 = nki.view %tile offset=0 pattern=[[256, 128], [1, 16]]
  nisa.activation dst=%tile_5, op=exp, data=%tile_5
  %tile_6 = nki.view %tile offset=1 pattern=[[256, 128], [1, 16]]
  nisa.activation dst=%tile_6, op=exp, data=%tile_6
  %tile_7 = nki.view %tile offset=4 pattern=[[256, 128], [1, 16]]
  nisa.activation dst=%tile_7, op=exp, data=%tile_7
  %tile_8 = nki.view %tile offset=9 pattern=[[256, 128], [1, 16]]
  nisa.activation dst=%tile_8, op=exp, data=%tile_8
  %tile_9 = nki.view %tile offset=16 pattern=[[256, 128], [1, 16]]
  nisa.activation dst=%tile_9, op=exp, data=%tile_9
  %tile_10 = nki.view %tile offset=25 pattern=[[256, 128], [1, 16]]
  nisa.activation dst=%tile_10, op=exp, data=%tile_10
  nki.return %out
}

// Numbers that are operands; 0 is left out in the first iteration.
// CHECK:   nki.kernel @numbers(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
// CHECK-NEXT:     %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
// CHECK-NEXT:     %c16 = arith.constant 16 : i32
// CHECK-NEXT:     %c32 = arith.constant 32 : i32
// CHECK-NEXT:     %c48 = arith.constant 48 : i32
// CHECK-NEXT:     %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
// CHECK-NEXT:     nki.repeat i = 0 to 4 {
// CHECK-NEXT:       %tile_1 = nki.view %tile offset=i*16 pattern=[[256, 128], [1, 16]]
// CHECK-NEXT:       %offset = nki.number i*16 unless 0 : i32
// CHECK-NEXT:       nisa.iota dst=%tile_1, pattern=[[1, 16]], offset=%offset, channel_multiplier=1
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.return %out
// CHECK-NEXT:   }
nki.kernel @numbers(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %c48 = arith.constant 48 : i32
  %tile = nki.alloc : memref<128x256xf32, #nki.sbuf>
  %tile_5 = nki.view %tile offset=0 pattern=[[256, 128], [1, 16]]
  nisa.iota dst=%tile_5, pattern=[[1, 16]], channel_multiplier=1
  %tile_6 = nki.view %tile offset=16 pattern=[[256, 128], [1, 16]]
  nisa.iota dst=%tile_6, pattern=[[1, 16]], offset=%c16, channel_multiplier=1
  %tile_7 = nki.view %tile offset=32 pattern=[[256, 128], [1, 16]]
  nisa.iota dst=%tile_7, pattern=[[1, 16]], offset=%c32, channel_multiplier=1
  %tile_8 = nki.view %tile offset=48 pattern=[[256, 128], [1, 16]]
  nisa.iota dst=%tile_8, pattern=[[1, 16]], offset=%c48, channel_multiplier=1
  nki.return %out
}

// Lengths and sizes that grow from iteration to iteration.
// CHECK:   nki.kernel @triangle(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
// CHECK-NEXT:     %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
// CHECK-NEXT:     %row = nki.alloc name="row2" : memref<128x32xf32, #nki.sbuf>
// CHECK-NEXT:     %row_1 = nki.view %row offset=0 pattern=[[32, 128], [1, 16]]
// CHECK-NEXT:     nisa.memset dst=%row_1, value=0
// CHECK-NEXT:     %row_2 = nki.view %row offset=16 pattern=[[32, 128], [1, 16]]
// CHECK-NEXT:     nisa.memset dst=%row_2, value=0
// CHECK-NEXT:     %out_1 = nki.view %out offset=1024 pattern=[[256, 128], [1, 32]]
// CHECK-NEXT:     nisa.dma_copy dst=%out_1, src=%row
// CHECK-NEXT:     nki.repeat i = 0 to 3 {
// CHECK-NEXT:       %row_3 = nki.alloc name="row3" {varies = #nki.varies<name = [i+3], type = [128, i*16+48]>} : memref<128x48xf32, #nki.sbuf>
// CHECK-NEXT:       nki.repeat j = 0 to i+3 {
// CHECK-NEXT:         %row_4 = nki.view %row_3 offset=j*16 pattern=[[48, 128], [1, 16]] {varies = #nki.varies<pattern = [i*16+48, 128, 1, 16]>}
// CHECK-NEXT:         nisa.memset dst=%row_4, value=0
// CHECK-NEXT:       }
// CHECK-NEXT:       %out_2 = nki.view %out offset=i*512+1536 pattern=[[256, 128], [1, 48]] {varies = #nki.varies<pattern = [256, 128, 1, i*16+48]>}
// CHECK-NEXT:       nisa.dma_copy dst=%out_2, src=%row_3
// CHECK-NEXT:     }
// CHECK-NEXT:     nki.return %out
// CHECK-NEXT:   }
nki.kernel @triangle(%x: memref<512x256xf32, #nki.shared_hbm>) target=trn2 {
  %out = nki.alloc : memref<512x256xf32, #nki.shared_hbm>
  %row_2 = nki.alloc name="row2" : memref<128x32xf32, #nki.sbuf>
  %row_20 = nki.view %row_2 offset=0 pattern=[[32, 128], [1, 16]]
  nisa.memset dst=%row_20, value=0
  %row_21 = nki.view %row_2 offset=16 pattern=[[32, 128], [1, 16]]
  nisa.memset dst=%row_21, value=0
  %out_2 = nki.view %out offset=1024 pattern=[[256, 128], [1, 32]]
  nisa.dma_copy dst=%out_2, src=%row_2
  %row_3 = nki.alloc name="row3" : memref<128x48xf32, #nki.sbuf>
  %row_30 = nki.view %row_3 offset=0 pattern=[[48, 128], [1, 16]]
  nisa.memset dst=%row_30, value=0
  %row_31 = nki.view %row_3 offset=16 pattern=[[48, 128], [1, 16]]
  nisa.memset dst=%row_31, value=0
  %row_32 = nki.view %row_3 offset=32 pattern=[[48, 128], [1, 16]]
  nisa.memset dst=%row_32, value=0
  %out_3 = nki.view %out offset=1536 pattern=[[256, 128], [1, 48]]
  nisa.dma_copy dst=%out_3, src=%row_3
  %row_4 = nki.alloc name="row4" : memref<128x64xf32, #nki.sbuf>
  %row_40 = nki.view %row_4 offset=0 pattern=[[64, 128], [1, 16]]
  nisa.memset dst=%row_40, value=0
  %row_41 = nki.view %row_4 offset=16 pattern=[[64, 128], [1, 16]]
  nisa.memset dst=%row_41, value=0
  %row_42 = nki.view %row_4 offset=32 pattern=[[64, 128], [1, 16]]
  nisa.memset dst=%row_42, value=0
  %row_43 = nki.view %row_4 offset=48 pattern=[[64, 128], [1, 16]]
  nisa.memset dst=%row_43, value=0
  %out_4 = nki.view %out offset=2048 pattern=[[256, 128], [1, 64]]
  nisa.dma_copy dst=%out_4, src=%row_4
  %row_5 = nki.alloc name="row5" : memref<128x80xf32, #nki.sbuf>
  %row_50 = nki.view %row_5 offset=0 pattern=[[80, 128], [1, 16]]
  nisa.memset dst=%row_50, value=0
  %row_51 = nki.view %row_5 offset=16 pattern=[[80, 128], [1, 16]]
  nisa.memset dst=%row_51, value=0
  %row_52 = nki.view %row_5 offset=32 pattern=[[80, 128], [1, 16]]
  nisa.memset dst=%row_52, value=0
  %row_53 = nki.view %row_5 offset=48 pattern=[[80, 128], [1, 16]]
  nisa.memset dst=%row_53, value=0
  %row_54 = nki.view %row_5 offset=64 pattern=[[80, 128], [1, 16]]
  nisa.memset dst=%row_54, value=0
  %out_5 = nki.view %out offset=2560 pattern=[[256, 128], [1, 80]]
  nisa.dma_copy dst=%out_5, src=%row_5
  nki.return %out
}
