builtin.module {
  nki.kernel @mamba_scan(%u: memref<256x512xbf16, #nki.private_hbm>, %delta: memref<256x512xbf16, #nki.private_hbm>, %a: memref<256x4xf32, #nki.private_hbm>, %b: memref<4x512xbf16, #nki.private_hbm>, %c: memref<4x512xbf16, #nki.private_hbm>, %d: memref<256xf32, #nki.private_hbm>) target=trn3 {
    %out = nki.alloc : memref<256x512xbf16, #nki.shared_hbm>
    %a_tile = nki.alloc : memref<128x2x4xf32, #nki.sbuf>
    %a_1 = nki.view %a offset=0 pattern=[[4, 128], [512, 2], [1, 4]]
    nisa.dma_copy dst=%a_tile, src=%a_1
    %d_tile = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %d_1 = nki.view %d offset=0 pattern=[[1, 128], [128, 2]]
    nisa.dma_copy dst=%d_tile, src=%d_1
    %carried = nki.alloc : memref<128x2x4xf32, #nki.sbuf>
    nisa.memset dst=%carried, value=0
    %b_tile = nki.alloc : memref<128x4x256xbf16, #nki.sbuf>
    %b_1 = nki.view %b offset=0 pattern=[[0, 128], [512, 4], [1, 256]]
    nisa.dma_copy dst=%b_tile, src=%b_1
    %c_tile = nki.alloc : memref<128x4x256xbf16, #nki.sbuf>
    %c_1 = nki.view %c offset=0 pattern=[[0, 128], [512, 4], [1, 256]]
    nisa.dma_copy dst=%c_tile, src=%c_1
    %u_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %u_1 = nki.view %u offset=0 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%u_tile, src=%u_1
    %delta_tile = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %delta_1 = nki.view %delta offset=0 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%delta_tile, src=%delta_1
    %delta_u = nki.alloc : memref<128x1x256xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%delta_u, data1=%delta_tile, data2=%u_tile, op=multiply
    %state = nki.alloc : memref<128x4x256xf32, #nki.sbuf>
    %delta_u_1 = nki.view %delta_u offset=0 pattern=[[256, 128], [0, 4], [1, 256]]
    nisa.tensor_tensor dst=%state, data1=%delta_u_1, data2=%b_tile, op=multiply
    %decay = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_1 = nki.view %a_tile offset=0 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay, op=exp, data=%delta_tile, scale=%a_tile_1
    %state_1 = nki.view %state offset=0 pattern=[[1024, 128], [1, 256]]
    %carried_1 = nki.view %carried offset=0 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_1, data0=%decay, data1=%state_1, initial=%carried_1, op0=multiply, op1=add
    %decay_1 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_2 = nki.view %a_tile offset=1 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_1, op=exp, data=%delta_tile, scale=%a_tile_2
    %state_2 = nki.view %state offset=256 pattern=[[1024, 128], [1, 256]]
    %carried_2 = nki.view %carried offset=1 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_2, data0=%decay_1, data1=%state_2, initial=%carried_2, op0=multiply, op1=add
    %decay_2 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_3 = nki.view %a_tile offset=2 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_2, op=exp, data=%delta_tile, scale=%a_tile_3
    %state_3 = nki.view %state offset=512 pattern=[[1024, 128], [1, 256]]
    %carried_3 = nki.view %carried offset=2 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_3, data0=%decay_2, data1=%state_3, initial=%carried_3, op0=multiply, op1=add
    %decay_3 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_4 = nki.view %a_tile offset=3 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_3, op=exp, data=%delta_tile, scale=%a_tile_4
    %state_4 = nki.view %state offset=768 pattern=[[1024, 128], [1, 256]]
    %carried_4 = nki.view %carried offset=3 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_4, data0=%decay_3, data1=%state_4, initial=%carried_4, op0=multiply, op1=add
    %carried_5 = nki.view %carried offset=0 pattern=[[8, 128], [1, 4]]
    %state_5 = nki.view %state offset=255 pattern=[[1024, 128], [256, 4]]
    nisa.tensor_copy dst=%carried_5, src=%state_5
    nisa.tensor_tensor dst=%state, data1=%state, data2=%c_tile, op=multiply
    %y = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %state_6 = nki.view %state offset=0 pattern=[[1024, 128], [1, 256], [256, 4]]
    nisa.tensor_reduce dst=%y, op=add, data=%state_6, axis=[2]
    %result = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %d_tile_1 = nki.view %d_tile offset=0 pattern=[[2, 128], [1, 1]]
    nisa.scalar_tensor_tensor dst=%result, data=%u_tile, op0=multiply, operand0=%d_tile_1, op1=add, operand1=%y
    %out_1 = nki.view %out offset=0 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_1, src=%result
    %u_tile_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %u_2 = nki.view %u offset=65536 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%u_tile_1, src=%u_2
    %delta_tile_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %delta_2 = nki.view %delta offset=65536 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%delta_tile_1, src=%delta_2
    %delta_u_2 = nki.alloc : memref<128x1x256xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%delta_u_2, data1=%delta_tile_1, data2=%u_tile_1, op=multiply
    %state_7 = nki.alloc : memref<128x4x256xf32, #nki.sbuf>
    %delta_u_3 = nki.view %delta_u_2 offset=0 pattern=[[256, 128], [0, 4], [1, 256]]
    nisa.tensor_tensor dst=%state_7, data1=%delta_u_3, data2=%b_tile, op=multiply
    %decay_4 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_5 = nki.view %a_tile offset=4 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_4, op=exp, data=%delta_tile_1, scale=%a_tile_5
    %state_8 = nki.view %state_7 offset=0 pattern=[[1024, 128], [1, 256]]
    %carried_6 = nki.view %carried offset=4 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_8, data0=%decay_4, data1=%state_8, initial=%carried_6, op0=multiply, op1=add
    %decay_5 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_6 = nki.view %a_tile offset=5 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_5, op=exp, data=%delta_tile_1, scale=%a_tile_6
    %state_9 = nki.view %state_7 offset=256 pattern=[[1024, 128], [1, 256]]
    %carried_7 = nki.view %carried offset=5 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_9, data0=%decay_5, data1=%state_9, initial=%carried_7, op0=multiply, op1=add
    %decay_6 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_7 = nki.view %a_tile offset=6 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_6, op=exp, data=%delta_tile_1, scale=%a_tile_7
    %state_10 = nki.view %state_7 offset=512 pattern=[[1024, 128], [1, 256]]
    %carried_8 = nki.view %carried offset=6 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_10, data0=%decay_6, data1=%state_10, initial=%carried_8, op0=multiply, op1=add
    %decay_7 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %a_tile_8 = nki.view %a_tile offset=7 pattern=[[8, 128], [1, 1]]
    nisa.activation dst=%decay_7, op=exp, data=%delta_tile_1, scale=%a_tile_8
    %state_11 = nki.view %state_7 offset=768 pattern=[[1024, 128], [1, 256]]
    %carried_9 = nki.view %carried offset=7 pattern=[[8, 128], [1, 1]]
    nisa.tensor_tensor_scan dst=%state_11, data0=%decay_7, data1=%state_11, initial=%carried_9, op0=multiply, op1=add
    %carried_10 = nki.view %carried offset=4 pattern=[[8, 128], [1, 4]]
    %state_12 = nki.view %state_7 offset=255 pattern=[[1024, 128], [256, 4]]
    nisa.tensor_copy dst=%carried_10, src=%state_12
    nisa.tensor_tensor dst=%state_7, data1=%state_7, data2=%c_tile, op=multiply
    %y_1 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %state_13 = nki.view %state_7 offset=0 pattern=[[1024, 128], [1, 256], [256, 4]]
    nisa.tensor_reduce dst=%y_1, op=add, data=%state_13, axis=[2]
    %result_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %d_tile_2 = nki.view %d_tile offset=1 pattern=[[2, 128], [1, 1]]
    nisa.scalar_tensor_tensor dst=%result_1, data=%u_tile_1, op0=multiply, operand0=%d_tile_2, op1=add, operand1=%y_1
    %out_2 = nki.view %out offset=65536 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_2, src=%result_1
    %b_tile_1 = nki.alloc : memref<128x4x256xbf16, #nki.sbuf>
    %b_2 = nki.view %b offset=256 pattern=[[0, 128], [512, 4], [1, 256]]
    nisa.dma_copy dst=%b_tile_1, src=%b_2
    %c_tile_1 = nki.alloc : memref<128x4x256xbf16, #nki.sbuf>
    %c_2 = nki.view %c offset=256 pattern=[[0, 128], [512, 4], [1, 256]]
    nisa.dma_copy dst=%c_tile_1, src=%c_2
    %u_tile_2 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %u_3 = nki.view %u offset=256 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%u_tile_2, src=%u_3
    %delta_tile_2 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %delta_3 = nki.view %delta offset=256 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%delta_tile_2, src=%delta_3
    %delta_u_4 = nki.alloc : memref<128x1x256xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%delta_u_4, data1=%delta_tile_2, data2=%u_tile_2, op=multiply
    %state_14 = nki.alloc : memref<128x4x256xf32, #nki.sbuf>
    %delta_u_5 = nki.view %delta_u_4 offset=0 pattern=[[256, 128], [0, 4], [1, 256]]
    nisa.tensor_tensor dst=%state_14, data1=%delta_u_5, data2=%b_tile_1, op=multiply
    %decay_8 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_8, op=exp, data=%delta_tile_2, scale=%a_tile_1
    %state_15 = nki.view %state_14 offset=0 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_15, data0=%decay_8, data1=%state_15, initial=%carried_1, op0=multiply, op1=add
    %decay_9 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_9, op=exp, data=%delta_tile_2, scale=%a_tile_2
    %state_16 = nki.view %state_14 offset=256 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_16, data0=%decay_9, data1=%state_16, initial=%carried_2, op0=multiply, op1=add
    %decay_10 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_10, op=exp, data=%delta_tile_2, scale=%a_tile_3
    %state_17 = nki.view %state_14 offset=512 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_17, data0=%decay_10, data1=%state_17, initial=%carried_3, op0=multiply, op1=add
    %decay_11 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_11, op=exp, data=%delta_tile_2, scale=%a_tile_4
    %state_18 = nki.view %state_14 offset=768 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_18, data0=%decay_11, data1=%state_18, initial=%carried_4, op0=multiply, op1=add
    nisa.tensor_tensor dst=%state_14, data1=%state_14, data2=%c_tile_1, op=multiply
    %y_2 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %state_19 = nki.view %state_14 offset=0 pattern=[[1024, 128], [1, 256], [256, 4]]
    nisa.tensor_reduce dst=%y_2, op=add, data=%state_19, axis=[2]
    %result_2 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%result_2, data=%u_tile_2, op0=multiply, operand0=%d_tile_1, op1=add, operand1=%y_2
    %out_3 = nki.view %out offset=256 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_3, src=%result_2
    %u_tile_3 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %u_4 = nki.view %u offset=65792 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%u_tile_3, src=%u_4
    %delta_tile_3 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %delta_4 = nki.view %delta offset=65792 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%delta_tile_3, src=%delta_4
    %delta_u_6 = nki.alloc : memref<128x1x256xf32, #nki.sbuf>
    nisa.tensor_tensor dst=%delta_u_6, data1=%delta_tile_3, data2=%u_tile_3, op=multiply
    %state_20 = nki.alloc : memref<128x4x256xf32, #nki.sbuf>
    %delta_u_7 = nki.view %delta_u_6 offset=0 pattern=[[256, 128], [0, 4], [1, 256]]
    nisa.tensor_tensor dst=%state_20, data1=%delta_u_7, data2=%b_tile_1, op=multiply
    %decay_12 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_12, op=exp, data=%delta_tile_3, scale=%a_tile_5
    %state_21 = nki.view %state_20 offset=0 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_21, data0=%decay_12, data1=%state_21, initial=%carried_6, op0=multiply, op1=add
    %decay_13 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_13, op=exp, data=%delta_tile_3, scale=%a_tile_6
    %state_22 = nki.view %state_20 offset=256 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_22, data0=%decay_13, data1=%state_22, initial=%carried_7, op0=multiply, op1=add
    %decay_14 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_14, op=exp, data=%delta_tile_3, scale=%a_tile_7
    %state_23 = nki.view %state_20 offset=512 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_23, data0=%decay_14, data1=%state_23, initial=%carried_8, op0=multiply, op1=add
    %decay_15 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.activation dst=%decay_15, op=exp, data=%delta_tile_3, scale=%a_tile_8
    %state_24 = nki.view %state_20 offset=768 pattern=[[1024, 128], [1, 256]]
    nisa.tensor_tensor_scan dst=%state_24, data0=%decay_15, data1=%state_24, initial=%carried_9, op0=multiply, op1=add
    nisa.tensor_tensor dst=%state_20, data1=%state_20, data2=%c_tile_1, op=multiply
    %y_3 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %state_25 = nki.view %state_20 offset=0 pattern=[[1024, 128], [1, 256], [256, 4]]
    nisa.tensor_reduce dst=%y_3, op=add, data=%state_25, axis=[2]
    %result_3 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    nisa.scalar_tensor_tensor dst=%result_3, data=%u_tile_3, op0=multiply, operand0=%d_tile_2, op1=add, operand1=%y_3
    %out_4 = nki.view %out offset=65792 pattern=[[512, 128], [1, 256]]
    nisa.dma_copy dst=%out_4, src=%result_3
    nki.return %out
  }
}
