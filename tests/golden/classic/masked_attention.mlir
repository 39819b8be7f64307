builtin.module {
  nki.kernel @masked_attention(%q: memref<64x256xf32, #nki.private_hbm>, %k: memref<64x256xf32, #nki.private_hbm>, %v: memref<256x64xf32, #nki.private_hbm>) target=trn2 classic {
    %c0.125 = arith.constant 1.250000e-01 : f32
    %c128 = arith.constant 128 : i32
    %out = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
    %keys = nki.alloc : memref<64x256xf32, #nki.sbuf>
    nisa.dma_copy dst=%keys, src=%k
    %queries = nki.alloc : memref<64x128xf32, #nki.sbuf>
    %q_1 = nki.view %q offset=0 pattern=[[256, 64], [1, 128]]
    nisa.dma_copy dst=%queries, src=%q_1
    %scores = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.memset dst=%scores, value=-3.40282347e+38
    %product = nki.alloc : memref<128x128xf32, #nki.psum>
    %keys_1 = nki.view %keys offset=0 pattern=[[256, 64], [1, 128]]
    nisa.nc_matmul dst=%product, stationary=%queries, moving=%keys_1, accumulate=false
    %sbuf = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%sbuf, data=%product, op0=multiply, operand0=%c0.125
    %scores_1 = nki.view %scores offset=0 pattern=[[256, 128], [1, 128]]
    nisa.affine_select dst=%scores_1, pattern=[[-1, 128]], channel_multiplier=1, on_true_tile=%sbuf, on_false_value=-3.40282347e+38, cmp_op=greater_equal
    %weights = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %negative_max = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %exponentials = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%negative_max, op=maximum, data=%scores, axis=[1], negate=true
    nisa.activation_reduce dst=%exponentials, op=exp, data=%scores, reduce_op=add, reduce_res=%total, bias=%negative_max
    nisa.reciprocal dst=%total, data=%total
    nisa.tensor_scalar dst=%weights, data=%exponentials, op0=multiply, operand0=%total
    %attended = nki.alloc : memref<128x64xf32, #nki.psum>
    %values = nki.alloc : memref<128x64xf32, #nki.sbuf>
    %v_1 = nki.view %v offset=0 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%values, src=%v_1
    %psum = nki.alloc : memref<128x128xf32, #nki.psum>
    %weights_1 = nki.view %weights offset=0 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%psum, data=%weights_1, engine=tensor
    %transposed = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%transposed, src=%psum
    nisa.nc_matmul dst=%attended, stationary=%transposed, moving=%values, accumulate=false
    %attended_sbuf = nki.alloc : memref<128x64xf32, #nki.sbuf>
    nisa.tensor_copy dst=%attended_sbuf, src=%attended
    %out_1 = nki.view %out offset=0 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_1, src=%attended_sbuf
    %queries_1 = nki.alloc : memref<64x128xf32, #nki.sbuf>
    %q_2 = nki.view %q offset=128 pattern=[[256, 64], [1, 128]]
    nisa.dma_copy dst=%queries_1, src=%q_2
    %scores_2 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.memset dst=%scores_2, value=-3.40282347e+38
    %product_1 = nki.alloc : memref<128x128xf32, #nki.psum>
    nisa.nc_matmul dst=%product_1, stationary=%queries_1, moving=%keys_1, accumulate=false
    %sbuf_1 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%sbuf_1, data=%product_1, op0=multiply, operand0=%c0.125
    %scores_3 = nki.view %scores_2 offset=0 pattern=[[256, 128], [1, 128]]
    nisa.affine_select dst=%scores_3, pattern=[[-1, 128]], channel_multiplier=1, on_true_tile=%sbuf_1, on_false_value=-3.40282347e+38, cmp_op=greater_equal, offset=%c128
    %product_2 = nki.alloc : memref<128x128xf32, #nki.psum>
    %keys_2 = nki.view %keys offset=128 pattern=[[256, 64], [1, 128]]
    nisa.nc_matmul dst=%product_2, stationary=%queries_1, moving=%keys_2, accumulate=false
    %sbuf_2 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_scalar dst=%sbuf_2, data=%product_2, op0=multiply, operand0=%c0.125
    %scores_4 = nki.view %scores_2 offset=128 pattern=[[256, 128], [1, 128]]
    nisa.affine_select dst=%scores_4, pattern=[[-1, 128]], channel_multiplier=1, on_true_tile=%sbuf_2, on_false_value=-3.40282347e+38, cmp_op=greater_equal
    %weights_2 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    %negative_max_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %total_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
    %exponentials_1 = nki.alloc : memref<128x256xf32, #nki.sbuf>
    nisa.tensor_reduce dst=%negative_max_1, op=maximum, data=%scores_2, axis=[1], negate=true
    nisa.activation_reduce dst=%exponentials_1, op=exp, data=%scores_2, reduce_op=add, reduce_res=%total_1, bias=%negative_max_1
    nisa.reciprocal dst=%total_1, data=%total_1
    nisa.tensor_scalar dst=%weights_2, data=%exponentials_1, op0=multiply, operand0=%total_1
    %attended_1 = nki.alloc : memref<128x64xf32, #nki.psum>
    %values_1 = nki.alloc : memref<128x64xf32, #nki.sbuf>
    nisa.dma_copy dst=%values_1, src=%v_1
    %psum_1 = nki.alloc : memref<128x128xf32, #nki.psum>
    %weights_3 = nki.view %weights_2 offset=0 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%psum_1, data=%weights_3, engine=tensor
    %transposed_1 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%transposed_1, src=%psum_1
    nisa.nc_matmul dst=%attended_1, stationary=%transposed_1, moving=%values_1, accumulate=false
    %values_2 = nki.alloc : memref<128x64xf32, #nki.sbuf>
    %v_2 = nki.view %v offset=8192 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%values_2, src=%v_2
    %psum_2 = nki.alloc : memref<128x128xf32, #nki.psum>
    %weights_4 = nki.view %weights_2 offset=128 pattern=[[256, 128], [1, 128]]
    nisa.nc_transpose dst=%psum_2, data=%weights_4, engine=tensor
    %transposed_2 = nki.alloc : memref<128x128xf32, #nki.sbuf>
    nisa.tensor_copy dst=%transposed_2, src=%psum_2
    nisa.nc_matmul dst=%attended_1, stationary=%transposed_2, moving=%values_2, accumulate=true
    %attended_sbuf_1 = nki.alloc : memref<128x64xf32, #nki.sbuf>
    nisa.tensor_copy dst=%attended_sbuf_1, src=%attended_1
    %out_2 = nki.view %out offset=8192 pattern=[[64, 128], [1, 64]]
    nisa.dma_copy dst=%out_2, src=%attended_sbuf_1
    nki.return %out
  }
}
