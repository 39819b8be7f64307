builtin.module {
  nki.kernel @flash_attention(%q: memref<640x64xbf16, #nki.private_hbm>, %k: memref<640x64xbf16, #nki.private_hbm>, %v: memref<640x64xbf16, #nki.private_hbm>) target=trn3 {
    %c-0.125 = arith.constant -1.250000e-01 : f32
    %c0.125 = arith.constant 1.250000e-01 : f32
    %c128 = arith.constant 128 : i32
    %c256 = arith.constant 256 : i32
    %c384 = arith.constant 384 : i32
    %c512 = arith.constant 512 : i32
    %out = nki.alloc : memref<640x64xbf16, #nki.shared_hbm>
    %keys = nki.alloc : memref<128x5x64xbf16, #nki.sbuf>
    %k_1 = nki.view %k offset=0 pattern=[[64, 128], [8192, 5], [1, 64]]
    nisa.dma_copy dst=%keys, src=%k_1
    %queries = nki.alloc : memref<128x5x64xbf16, #nki.sbuf>
    %q_1 = nki.view %q offset=0 pattern=[[64, 128], [8192, 5], [1, 64]]
    nisa.dma_copy dst=%queries, src=%q_1
    %v_tiles = nki.alloc : memref<128x5x64xbf16, #nki.sbuf>
    %v_1 = nki.view %v offset=0 pattern=[[64, 128], [8192, 5], [1, 64]]
    nisa.dma_copy dst=%v_tiles, src=%v_1
    %result = nki.alloc : memref<64x640xbf16, #nki.sbuf>
    %bank = nki.alloc : memref<64x512xbf16, #nki.psum>
    %bank_1 = nki.view %bank offset=0 pattern=[[512, 64], [1, 128]]
    %keys_1 = nki.view %keys offset=0 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_1, data=%keys_1
    %bank_2 = nki.view %bank offset=128 pattern=[[512, 64], [1, 128]]
    %keys_2 = nki.view %keys offset=64 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_2, data=%keys_2
    %bank_3 = nki.view %bank offset=256 pattern=[[512, 64], [1, 128]]
    %keys_3 = nki.view %keys offset=128 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_3, data=%keys_3
    %bank_4 = nki.view %bank offset=384 pattern=[[512, 64], [1, 128]]
    %keys_4 = nki.view %keys offset=192 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_4, data=%keys_4
    %result_1 = nki.view %result offset=0 pattern=[[640, 64], [1, 512]]
    nisa.tensor_copy dst=%result_1, src=%bank
    %bank_5 = nki.alloc : memref<64x128xbf16, #nki.psum>
    %keys_5 = nki.view %keys offset=256 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_5, data=%keys_5
    %result_2 = nki.view %result offset=512 pattern=[[640, 64], [1, 128]]
    nisa.tensor_copy dst=%result_2, src=%bank_5
    %result_3 = nki.alloc : memref<64x640xbf16, #nki.sbuf>
    %bank_6 = nki.alloc : memref<64x512xbf16, #nki.psum>
    %bank_7 = nki.view %bank_6 offset=0 pattern=[[512, 64], [1, 128]]
    %queries_1 = nki.view %queries offset=0 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_7, data=%queries_1
    %bank_8 = nki.view %bank_6 offset=128 pattern=[[512, 64], [1, 128]]
    %queries_2 = nki.view %queries offset=64 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_8, data=%queries_2
    %bank_9 = nki.view %bank_6 offset=256 pattern=[[512, 64], [1, 128]]
    %queries_3 = nki.view %queries offset=128 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_9, data=%queries_3
    %bank_10 = nki.view %bank_6 offset=384 pattern=[[512, 64], [1, 128]]
    %queries_4 = nki.view %queries offset=192 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_10, data=%queries_4
    %result_4 = nki.view %result_3 offset=0 pattern=[[640, 64], [1, 512]]
    nisa.tensor_copy dst=%result_4, src=%bank_6
    %bank_11 = nki.alloc : memref<64x128xbf16, #nki.psum>
    %queries_5 = nki.view %queries offset=256 pattern=[[320, 128], [1, 64]]
    nisa.nc_transpose dst=%bank_11, data=%queries_5
    %result_5 = nki.view %result_3 offset=512 pattern=[[640, 64], [1, 128]]
    nisa.tensor_copy dst=%result_5, src=%bank_11
    %first = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.memset dst=%first, value=0
    %position = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.iota dst=%position, pattern=[[1, 1]], channel_multiplier=1
    %maxima = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %raw = nki.alloc : memref<128x128xf32, #nki.psum>
    %result_6 = nki.view %result_3 offset=0 pattern=[[640, 64], [1, 128]]
    %result_7 = nki.view %result offset=0 pattern=[[640, 64], [1, 128]]
    nisa.nc_matmul dst=%raw, stationary=%result_6, moving=%result_7, accumulate=false
    %scores = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.range_select dst=%scores, on_true_tile=%raw, comp_op0=greater_equal, comp_op1=less_equal, bound0=%first, bound1=%position, reduce_res=%maxima
    %shift = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%shift, data=%maxima, op0=multiply, operand0=%c-0.125
    %p = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    %p_sum = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%p, op=exp, data=%scores, reduce_op=add, reduce_res=%p_sum, bias=%shift, scale=%c0.125
    %result_8 = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    %bank_12 = nki.alloc : memref<128x128xbf16, #nki.psum>
    nisa.nc_transpose dst=%bank_12, data=%p
    nisa.tensor_copy dst=%result_8, src=%bank_12
    %product = nki.alloc : memref<128x64xf32, #nki.psum>
    %v_tiles_1 = nki.view %v_tiles offset=0 pattern=[[320, 128], [1, 64]]
    nisa.nc_matmul dst=%product, stationary=%result_8, moving=%v_tiles_1, accumulate=false
    %inverse = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse, data=%p_sum
    %rounded = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%rounded, data=%product, op0=multiply, operand0=%inverse
    %out_1 = nki.view %out offset=0 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_1, src=%rounded
    %position_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.iota dst=%position_1, pattern=[[1, 1]], offset=%c128, channel_multiplier=1
    %maxima_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %raw_1 = nki.alloc : memref<128x256xf32, #nki.psum>
    %result_9 = nki.view %result_3 offset=128 pattern=[[640, 64], [1, 128]]
    %result_10 = nki.view %result offset=0 pattern=[[640, 64], [1, 256]]
    nisa.nc_matmul dst=%raw_1, stationary=%result_9, moving=%result_10, accumulate=false
    %scores_1 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.range_select dst=%scores_1, on_true_tile=%raw_1, comp_op0=greater_equal, comp_op1=less_equal, bound0=%first, bound1=%position_1, reduce_res=%maxima_1
    %shift_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%shift_1, data=%maxima_1, op0=multiply, operand0=%c-0.125
    %p_1 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %p_sum_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%p_1, op=exp, data=%scores_1, reduce_op=add, reduce_res=%p_sum_1, bias=%shift_1, scale=%c0.125
    %result_11 = nki.alloc : memref<128x256xbf16, #nki.sbuf>
    %bank_13 = nki.alloc : memref<128x256xbf16, #nki.psum>
    %bank_14 = nki.view %bank_13 offset=0 pattern=[[256, 128], [1, 128]]
    %p_2 = nki.view %p_1 offset=0 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_14, data=%p_2
    %bank_15 = nki.view %bank_13 offset=128 pattern=[[256, 128], [1, 128]]
    %p_3 = nki.view %p_1 offset=128 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_15, data=%p_3
    nisa.tensor_copy dst=%result_11, src=%bank_13
    %product_1 = nki.alloc : memref<128x64xf32, #nki.psum>
    %result_12 = nki.view %result_11 offset=0 pattern=[[256, 128], [1, 128]]
    nisa.nc_matmul dst=%product_1, stationary=%result_12, moving=%v_tiles_1, accumulate=false
    %result_13 = nki.view %result_11 offset=128 pattern=[[256, 128], [1, 128]]
    %v_tiles_2 = nki.view %v_tiles offset=64 pattern=[[320, 128], [1, 64]]
    nisa.nc_matmul dst=%product_1, stationary=%result_13, moving=%v_tiles_2, accumulate=true
    %inverse_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse_1, data=%p_sum_1
    %rounded_1 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%rounded_1, data=%product_1, op0=multiply, operand0=%inverse_1
    %out_2 = nki.view %out offset=8192 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_2, src=%rounded_1
    %position_2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.iota dst=%position_2, pattern=[[1, 1]], offset=%c256, channel_multiplier=1
    %maxima_2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %raw_2 = nki.alloc : memref<128x384xf32, #nki.psum>
    %result_14 = nki.view %result_3 offset=256 pattern=[[640, 64], [1, 128]]
    %result_15 = nki.view %result offset=0 pattern=[[640, 64], [1, 384]]
    nisa.nc_matmul dst=%raw_2, stationary=%result_14, moving=%result_15, accumulate=false
    %scores_2 = nki.alloc : memref<128x384xf32, #nki.sbuf>
    nisa.range_select dst=%scores_2, on_true_tile=%raw_2, comp_op0=greater_equal, comp_op1=less_equal, bound0=%first, bound1=%position_2, reduce_res=%maxima_2
    %shift_2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%shift_2, data=%maxima_2, op0=multiply, operand0=%c-0.125
    %p_4 = nki.alloc : memref<128x384xbf16, #nki.sbuf>
    %p_sum_2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%p_4, op=exp, data=%scores_2, reduce_op=add, reduce_res=%p_sum_2, bias=%shift_2, scale=%c0.125
    %result_16 = nki.alloc : memref<128x384xbf16, #nki.sbuf>
    %bank_16 = nki.alloc : memref<128x384xbf16, #nki.psum>
    %bank_17 = nki.view %bank_16 offset=0 pattern=[[384, 128], [1, 128]]
    %p_5 = nki.view %p_4 offset=0 pattern=[[384, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_17, data=%p_5
    %bank_18 = nki.view %bank_16 offset=128 pattern=[[384, 128], [1, 128]]
    %p_6 = nki.view %p_4 offset=128 pattern=[[384, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_18, data=%p_6
    %bank_19 = nki.view %bank_16 offset=256 pattern=[[384, 128], [1, 128]]
    %p_7 = nki.view %p_4 offset=256 pattern=[[384, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_19, data=%p_7
    nisa.tensor_copy dst=%result_16, src=%bank_16
    %product_2 = nki.alloc : memref<128x64xf32, #nki.psum>
    %result_17 = nki.view %result_16 offset=0 pattern=[[384, 128], [1, 128]]
    nisa.nc_matmul dst=%product_2, stationary=%result_17, moving=%v_tiles_1, accumulate=false
    %result_18 = nki.view %result_16 offset=128 pattern=[[384, 128], [1, 128]]
    nisa.nc_matmul dst=%product_2, stationary=%result_18, moving=%v_tiles_2, accumulate=true
    %result_19 = nki.view %result_16 offset=256 pattern=[[384, 128], [1, 128]]
    %v_tiles_3 = nki.view %v_tiles offset=128 pattern=[[320, 128], [1, 64]]
    nisa.nc_matmul dst=%product_2, stationary=%result_19, moving=%v_tiles_3, accumulate=true
    %inverse_2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse_2, data=%p_sum_2
    %rounded_2 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%rounded_2, data=%product_2, op0=multiply, operand0=%inverse_2
    %out_3 = nki.view %out offset=16384 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_3, src=%rounded_2
    %position_3 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.iota dst=%position_3, pattern=[[1, 1]], offset=%c384, channel_multiplier=1
    %maxima_3 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %raw_3 = nki.alloc : memref<128x512xf32, #nki.psum>
    %result_20 = nki.view %result_3 offset=384 pattern=[[640, 64], [1, 128]]
    nisa.nc_matmul dst=%raw_3, stationary=%result_20, moving=%result_1, accumulate=false
    %scores_3 = nki.alloc : memref<128x512xf32, #nki.sbuf>
    nisa.range_select dst=%scores_3, on_true_tile=%raw_3, comp_op0=greater_equal, comp_op1=less_equal, bound0=%first, bound1=%position_3, reduce_res=%maxima_3
    %shift_3 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%shift_3, data=%maxima_3, op0=multiply, operand0=%c-0.125
    %p_8 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %p_sum_3 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%p_8, op=exp, data=%scores_3, reduce_op=add, reduce_res=%p_sum_3, bias=%shift_3, scale=%c0.125
    %result_21 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %bank_20 = nki.alloc : memref<128x512xbf16, #nki.psum>
    %bank_21 = nki.view %bank_20 offset=0 pattern=[[512, 128], [1, 128]]
    %p_9 = nki.view %p_8 offset=0 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_21, data=%p_9
    %bank_22 = nki.view %bank_20 offset=128 pattern=[[512, 128], [1, 128]]
    %p_10 = nki.view %p_8 offset=128 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_22, data=%p_10
    %bank_23 = nki.view %bank_20 offset=256 pattern=[[512, 128], [1, 128]]
    %p_11 = nki.view %p_8 offset=256 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_23, data=%p_11
    %bank_24 = nki.view %bank_20 offset=384 pattern=[[512, 128], [1, 128]]
    %p_12 = nki.view %p_8 offset=384 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_24, data=%p_12
    nisa.tensor_copy dst=%result_21, src=%bank_20
    %product_3 = nki.alloc : memref<128x64xf32, #nki.psum>
    %result_22 = nki.view %result_21 offset=0 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_3, stationary=%result_22, moving=%v_tiles_1, accumulate=false
    %result_23 = nki.view %result_21 offset=128 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_3, stationary=%result_23, moving=%v_tiles_2, accumulate=true
    %result_24 = nki.view %result_21 offset=256 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_3, stationary=%result_24, moving=%v_tiles_3, accumulate=true
    %result_25 = nki.view %result_21 offset=384 pattern=[[512, 128], [1, 128]]
    %v_tiles_4 = nki.view %v_tiles offset=192 pattern=[[320, 128], [1, 64]]
    nisa.nc_matmul dst=%product_3, stationary=%result_25, moving=%v_tiles_4, accumulate=true
    %inverse_3 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse_3, data=%p_sum_3
    %rounded_3 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%rounded_3, data=%product_3, op0=multiply, operand0=%inverse_3
    %out_4 = nki.view %out offset=24576 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_4, src=%rounded_3
    %position_4 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.iota dst=%position_4, pattern=[[1, 1]], offset=%c512, channel_multiplier=1
    %maxima_4 = nki.alloc : memref<128x2xf32, #nki.sbuf>
    %raw_4 = nki.alloc : memref<128x512xf32, #nki.psum>
    nisa.nc_matmul dst=%raw_4, stationary=%result_5, moving=%result_1, accumulate=false
    %maxima_5 = nki.view %maxima_4 offset=0 pattern=[[2, 128], [1, 1]]
    nisa.tensor_reduce dst=%maxima_5, op=maximum, data=%raw_4, axis=[1]
    %shift_4 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%shift_4, data=%maxima_5, op0=multiply, operand0=%c-0.125
    %p_13 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %p_sum_4 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%p_13, op=exp, data=%raw_4, reduce_op=add, reduce_res=%p_sum_4, bias=%shift_4, scale=%c0.125
    %result_26 = nki.alloc : memref<128x512xbf16, #nki.sbuf>
    %bank_25 = nki.alloc : memref<128x512xbf16, #nki.psum>
    %bank_26 = nki.view %bank_25 offset=0 pattern=[[512, 128], [1, 128]]
    %p_14 = nki.view %p_13 offset=0 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_26, data=%p_14
    %bank_27 = nki.view %bank_25 offset=128 pattern=[[512, 128], [1, 128]]
    %p_15 = nki.view %p_13 offset=128 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_27, data=%p_15
    %bank_28 = nki.view %bank_25 offset=256 pattern=[[512, 128], [1, 128]]
    %p_16 = nki.view %p_13 offset=256 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_28, data=%p_16
    %bank_29 = nki.view %bank_25 offset=384 pattern=[[512, 128], [1, 128]]
    %p_17 = nki.view %p_13 offset=384 pattern=[[512, 128], [1, 128]]
    nisa.nc_transpose dst=%bank_29, data=%p_17
    nisa.tensor_copy dst=%result_26, src=%bank_25
    %product_4 = nki.alloc : memref<128x64xf32, #nki.psum>
    %result_27 = nki.view %result_26 offset=0 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_4, stationary=%result_27, moving=%v_tiles_1, accumulate=false
    %result_28 = nki.view %result_26 offset=128 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_4, stationary=%result_28, moving=%v_tiles_2, accumulate=true
    %result_29 = nki.view %result_26 offset=256 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_4, stationary=%result_29, moving=%v_tiles_3, accumulate=true
    %result_30 = nki.view %result_26 offset=384 pattern=[[512, 128], [1, 128]]
    nisa.nc_matmul dst=%product_4, stationary=%result_30, moving=%v_tiles_4, accumulate=true
    %result_31 = nki.alloc : memref<128x64xf32, #nki.sbuf>
    nisa.tensor_copy dst=%result_31, src=%product_4
    %raw_5 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_matmul dst=%raw_5, stationary=%result_5, moving=%result_2, accumulate=false
    %scores_4 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    %maxima_6 = nki.view %maxima_4 offset=1 pattern=[[2, 128], [1, 1]]
    nisa.range_select dst=%scores_4, on_true_tile=%raw_5, comp_op0=greater_equal, comp_op1=less_equal, bound0=%first, bound1=%position_4, reduce_res=%maxima_6, range_start=512
    nisa.tensor_tensor dst=%maxima_6, data1=%maxima_6, data2=%maxima_5, op=maximum
    %shift_5 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%shift_5, data=%maxima_6, op0=multiply, operand0=%c-0.125
    %p_18 = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    %p_sum_5 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation_reduce dst=%p_18, op=exp, data=%scores_4, reduce_op=add, reduce_res=%p_sum_5, bias=%shift_5, scale=%c0.125
    %result_32 = nki.alloc : memref<128x128xbf16, #nki.sbuf>
    %bank_30 = nki.alloc : memref<128x128xbf16, #nki.psum>
    nisa.nc_transpose dst=%bank_30, data=%p_18
    nisa.tensor_copy dst=%result_32, src=%bank_30
    %product_5 = nki.alloc : memref<128x64xf32, #nki.psum>
    %v_tiles_5 = nki.view %v_tiles offset=256 pattern=[[320, 128], [1, 64]]
    nisa.nc_matmul dst=%product_5, stationary=%result_32, moving=%v_tiles_5, accumulate=false
    %carry = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.activation dst=%carry, op=exp, data=%maxima_5, bias=%shift_5, scale=%c0.125
    nisa.scalar_tensor_tensor dst=%p_sum_4, data=%p_sum_4, op0=multiply, operand0=%carry, op1=add, operand1=%p_sum_5
    nisa.scalar_tensor_tensor dst=%result_31, data=%result_31, op0=multiply, operand0=%carry, op1=add, operand1=%product_5
    %inverse_4 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    nisa.reciprocal dst=%inverse_4, data=%p_sum_4
    %rounded_4 = nki.alloc : memref<128x64xbf16, #nki.sbuf>
    nisa.tensor_scalar dst=%rounded_4, data=%result_31, op0=multiply, operand0=%inverse_4
    %out_5 = nki.view %out offset=32768 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_5, src=%rounded_4
    nki.return %out
  }
}
