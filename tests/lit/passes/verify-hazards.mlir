// RUN: not nkijit-opt -p verify-hazards %s 2>&1 | filecheck %s

// Memory that is used by two engines, or two cores, without data that orders them.

// A load overwrites what an engine still reads: one tile where two could take turns.
nki.kernel @one_buffer(%x: memref<4x128x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x0
  nisa.activation dst=%b, op=exp, data=%a
  // CHECK: warning[anti-dependence]: nisa.dma_copy: writes 'a', and waits for nisa.activation, which reads it
  // CHECK-NEXT: --> {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%a, src=%x1
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.activation dst=%b, op=exp, data=%a
  // CHECK-NEXT: | {{-+}} reads 'a'
  // CHECK-NEXT: = dst: %a, sbuf 128x64 float32, allocated at {{.*}}
  // CHECK-NEXT: = help: take turns between two tiles (double buffering): allocate them inside an unrolled loop, or do two steps in each iteration of a loop on the device
  nisa.dma_copy dst=%a, src=%x1
  nisa.activation dst=%b, op=exp, data=%a
  nki.return
}

// In a loop on the device, the next iteration overwrites what this one reads.
nki.kernel @in_a_loop(%x: memref<4x128x64xf32, #nki.private_hbm>) target=trn3 {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  scf.for %i = %zero to %four step %one : i32 {
    %xi = nki.view %x offset=0 pattern=[[64, 128], [1, 64]] scalar=%i scale=8192 bound=4
    // CHECK: warning[anti-dependence]: nisa.dma_copy: writes 'a', and waits for nisa.activation, which reads it
    nisa.dma_copy dst=%a, src=%xi
    nisa.activation dst=%b, op=exp, data=%a
  }
  nki.return
}

// Nearest legal neighbours: two tiles, one engine, data that passes from the reader to the writer.
// CHECK-NOT: [anti-dependence]
nki.kernel @ordered(%x: memref<4x128x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a2 = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %column = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %column2 = nki.alloc : memref<128x1xf32, #nki.sbuf>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x0
  nisa.activation dst=%b, op=exp, data=%a
  nisa.dma_copy dst=%a2, src=%x1
  nisa.activation dst=%b, op=exp, data=%a2
  // The Vector Engine reads 'a', and what it finds is needed to overwrite it.
  nisa.tensor_reduce dst=%column, op=maximum, data=%a, axis=[1]
  nisa.activation dst=%a, op=exp, data=%a2, bias=%column
  // Another edge is the author's.
  nisa.tensor_reduce dst=%column2, op=maximum, data=%a2, axis=[1], name="read"
  nisa.activation dst=%a2, op=exp, data=%b, after=["read"]
  nki.return
}

// A loop goes on when its register is there, and with it what the register was loaded from is free.
nki.kernel @counted(%count: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
  %c0 = arith.constant 0 : i32
  %n = nki.alloc : memref<1x1xi32, #nki.sbuf>
  %one = nki.alloc : memref<1x1xi32, #nki.sbuf>
  nisa.dma_copy dst=%n, src=%count
  nisa.memset dst=%one, value=1
  %reg = nki.register
  nisa.register_load dst=%reg, src=%n
  scf.while () : () -> () {
    %value = nki.read %reg
    %more = arith.cmpi ne, %value, %c0 : i32
    scf.condition(%more)
  } do {
    nisa.tensor_tensor dst=%n, data1=%n, data2=%one, op=subtract
    nisa.register_load dst=%reg, src=%n
    scf.yield
  }
  nki.return
}

// To write after a barrier is to wait for it.
// CHECK-NOT: [anti-dependence]
nki.kernel @after_a_barrier_core0(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %out0 = nki.view %out offset=0 pattern=[[64, 128], [1, 64]]
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%out0, src=%x0
  nki.return %out
}
nki.kernel @after_a_barrier_core1(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 64]]
  %out1 = nki.view %out offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.core_barrier data=%out, cores=[0, 1]
  nisa.dma_copy dst=%out1, src=%x1
  nki.return %out
}

// Two engines write the same elements, and nothing between them reads any.
nki.kernel @two_writers() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %b = nki.alloc : memref<128x32xf32, #nki.sbuf>
  nisa.memset dst=%b, value=0.0
  nisa.memset dst=%a, value=0.0
  // CHECK: warning[output-dependence]: nisa.activation: writes 'a', and waits for nisa.memset, which writes it
  nisa.activation dst=%left, op=exp, data=%b
  nki.return
}

// CHECK-NOT: [output-dependence]
nki.kernel @two_parts() target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %left = nki.view %a offset=0 pattern=[[64, 128], [1, 32]]
  %right = nki.view %a offset=32 pattern=[[64, 128], [1, 32]]
  %b = nki.alloc : memref<128x32xf32, #nki.sbuf>
  nisa.memset dst=%b, value=0.0
  nisa.memset dst=%right, value=0.0
  nisa.activation dst=%left, op=exp, data=%b
  nki.return
}

// A tile is filled as a whole, and then some of its partitions are written: the others could not be
// filled alone.
nki.kernel @around(%x: memref<44x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %rows = nki.view %a offset=0 pattern=[[64, 44], [1, 64]]
  nisa.memset dst=%a, value=0.0
  nisa.dma_copy dst=%rows, src=%x
  nki.return
}

// A predicated copy leaves elements as they were: it needs what was written before.
nki.kernel @on_top(%p: memref<128x64xui8, #nki.private_hbm>) target=trn3 {
  %one = arith.constant 1.0 : f32
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %mask = nki.alloc : memref<128x64xui8, #nki.sbuf>
  nisa.dma_copy dst=%mask, src=%p
  nisa.memset dst=%a, value=0.0, engine=gpsimd
  nisa.tensor_copy_predicated dst=%a, src=%one, predicate=%mask
  nki.return
}

// ------------------------------------------------------------------ two cores

// Core 0 reads the half that core 1 writes.
nki.kernel @swapped_core0(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %shared = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %mine = nki.view %shared offset=0 pattern=[[64, 128], [1, 64]]
  %theirs = nki.view %shared offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x0
  nisa.dma_copy dst=%mine, src=%a
  // CHECK: error[core-race]: nisa.dma_copy: core 0 reads 'shared', which core 1 writes without a barrier between
  // CHECK-NEXT: --> {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%b, src=%theirs
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%mine, src=%a
  // CHECK-NEXT: | {{-+}} core 1 writes it here
  // CHECK-NEXT: = help: call nisa.core_barrier on the tensor between the write and the read
  nisa.dma_copy dst=%b, src=%theirs
  nki.return %shared
}
nki.kernel @swapped_core1(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %shared = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 64]]
  %mine = nki.view %shared offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x1
  nisa.dma_copy dst=%mine, src=%a
  nki.return %shared
}

// With a barrier between, and where each core reads what it wrote itself.
// CHECK-NOT: [core-race]
nki.kernel @in_order_core0(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %shared = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  %mine = nki.view %shared offset=0 pattern=[[64, 128], [1, 64]]
  %theirs = nki.view %shared offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x0
  nisa.dma_copy dst=%mine, src=%a
  nisa.dma_copy dst=%c, src=%mine
  nisa.core_barrier data=%shared, cores=[0, 1]
  nisa.dma_copy dst=%b, src=%theirs
  nki.return %shared
}
nki.kernel @in_order_core1(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %shared = nki.alloc : memref<256x64xf32, #nki.shared_hbm>
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 64]]
  %mine = nki.view %shared offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%a, src=%x1
  nisa.dma_copy dst=%mine, src=%a
  nisa.core_barrier data=%shared, cores=[0, 1]
  nki.return %shared
}

// Both write the same bytes, and not from the same part of the input.
nki.kernel @both_write_core0(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  // CHECK: warning[core-double-write]: nisa.dma_copy: both cores write the same bytes of 'out' without a barrier between
  nisa.dma_copy dst=%out, src=%x0
  nki.return %out
}
nki.kernel @both_write_core1(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %x1 = nki.view %x offset=8192 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%out, src=%x1
  nki.return %out
}

// Two cores with one program write the same values.
// CHECK-NOT: [core-double-write]
nki.kernel @same_core0(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[0, 2] {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  // CHECK: warning[same-work]: nisa.dma_copy: both cores compute and write the same results
  nisa.dma_copy dst=%out, src=%x0
  nki.return %out
}
nki.kernel @same_core1(%x: memref<256x64xf32, #nki.private_hbm>) target=trn3 program=[1, 2] {
  %out = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 64]]
  nisa.dma_copy dst=%out, src=%x0
  nki.return %out
}

// One barrier too many, and two that are about different tensors.
nki.kernel @alone_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  // CHECK: error[cores-wait]: nisa.core_barrier: core 0 waits here for core 1, which does not come
  nisa.core_barrier data=%a, cores=[0, 1]
  nki.return
}
nki.kernel @alone_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  nki.return
}
nki.kernel @elsewhere_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  // CHECK: error[cores-wait]: nisa.core_barrier: core 0 waits in nisa.core_barrier, while core 1 waits in nisa.core_barrier for something else
  nisa.core_barrier data=%a, cores=[0, 1]
  nki.return
}
nki.kernel @elsewhere_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  %b = nki.alloc : memref<128x64xf32, #nki.shared_hbm>
  nisa.core_barrier data=%b, cores=[0, 1]
  nki.return
}

// An exchange: who sends to whom, and what.
nki.kernel @to_itself_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK: error[sendrecv-pair]: nisa.sendrecv: core 0 receives from core 1, which sends to core 1
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @to_itself_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=0, pipe_id=0
  nki.return
}
nki.kernel @shapes_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK: error[sendrecv-pair]: nisa.sendrecv: core 0 receives sbuf 128x32 float32 into 'dst', sbuf 128x64 float32
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @shapes_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<128x32xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x32xf32, #nki.sbuf>
  // CHECK: error[sendrecv-pair]: nisa.sendrecv: core 1 receives sbuf 128x64 float32 into 'dst', sbuf 128x32 float32
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=0, pipe_id=0
  nki.return
}
nki.kernel @from_itself_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  // CHECK: error[sendrecv-pair]: nisa.sendrecv: core 0 receives from core 0, which sends to core 1
  // CHECK-NEXT: --> {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.sendrecv
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: = help:
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=0, pipe_id=0
  nki.return
}
nki.kernel @from_itself_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}

// CHECK-NOT: [sendrecv-pair]
nki.kernel @exchange_core0() target=trn3 program=[0, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=1, recv_from_rank=1, pipe_id=0
  nki.return
}
nki.kernel @exchange_core1() target=trn3 program=[1, 2] {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nisa.sendrecv src=%a, dst=%b, send_to_rank=0, recv_from_rank=0, pipe_id=0
  nki.return
}

// Fixed addresses: two tiles in use at one time, in some of the same bytes.
nki.kernel @same_place(%x: memref<128x64xf32, #nki.private_hbm>, %y: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 252] : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: error[address-overlap]: nisa.dma_copy: uses 'b', which shares bytes with 'a' while that is in use
  // CHECK-NEXT: --> {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.dma_copy dst=%b, src=%y
  // CHECK-NEXT: | {{\^+}}
  // CHECK-NEXT: ::: {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | %a = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: | {{-+}} 'a' is sbuf 128x64 float32 at (0, 0)
  // CHECK-NEXT: ::: {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | %b = nki.alloc address=[0, 252] : memref<128x64xf32, #nki.sbuf>
  // CHECK-NEXT: | {{-+}} 'b' is sbuf 128x64 float32 at (0, 252)
  // CHECK-NEXT: ::: {{.*}}verify-hazards.mlir:{{.*}}
  // CHECK-NEXT: |
  // CHECK-NEXT: {{[0-9]+}} | nisa.tensor_tensor dst=%b, data1=%a, data2=%b, op=add
  // CHECK-NEXT: | {{-+}} 'a' is in use until here
  nisa.dma_copy dst=%b, src=%y
  nisa.tensor_tensor dst=%b, data1=%a, data2=%b, op=add
  nisa.dma_copy dst=%y, src=%b
  nki.return
}
// In a loop, the first tile is needed again by the next iteration.
nki.kernel @next_iteration(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc address=[64, 0] : memref<64x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  scf.for %i = %zero to %four step %one : i32 {
    %a0 = nki.view %a offset=0 pattern=[[64, 64], [1, 64]]
    // CHECK: error[address-overlap]: nisa.activation: uses 'b', which shares bytes with 'a' while that is in use
    nisa.activation dst=%b, op=exp, data=%a0
    %x0 = nki.view %x offset=0 pattern=[[64, 64], [1, 64]]
    nisa.dma_copy dst=%x0, src=%b
  }
  nki.return
}
// Both results of one instruction.
nki.kernel @two_results(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  %c = nki.alloc address=[0, 4] : memref<128x1xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  // CHECK: error[address-overlap]: nisa.activation_reduce: uses 'c', which shares bytes with 'b' while that is in use
  nisa.activation_reduce dst=%b, op=exp, data=%a, reduce_op=add, reduce_res=%c
  %x0 = nki.view %x offset=0 pattern=[[64, 128], [1, 1]]
  nisa.dma_copy dst=%x0, src=%c
  nki.return
}

// Nearest legal neighbours: side by side in bytes or in partitions, another memory, one after the
// other, the last read and the next write in one instruction, and a tile that is written anew.
// CHECK-NOT: [address-overlap]
nki.kernel @beside(%x: memref<64x64xf32, #nki.private_hbm>, %y: memref<64x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc address=[0, 0] : memref<64x64xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 256] : memref<64x64xf32, #nki.sbuf>
  %c = nki.alloc address=[64, 0] : memref<64x64xf32, #nki.sbuf>
  %p = nki.alloc address=[0, 0] : memref<64x64xf32, #nki.psum>
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%b, src=%x
  nisa.dma_copy dst=%c, src=%x
  nisa.tensor_copy dst=%p, src=%a
  nisa.tensor_tensor dst=%a, data1=%a, data2=%b, op=add
  nisa.tensor_tensor dst=%a, data1=%a, data2=%p, op=add
  nisa.dma_copy dst=%y, src=%a
  nisa.dma_copy dst=%y, src=%c
  nki.return
}
nki.kernel @in_turns(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %a = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  nisa.dma_copy dst=%a, src=%x
  nisa.activation dst=%b, op=exp, data=%a
  nisa.dma_copy dst=%x, src=%b
  nisa.dma_copy dst=%a, src=%x
  nisa.dma_copy dst=%x, src=%a
  nki.return
}
nki.kernel @in_each_iteration(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %a = nki.alloc address=[0, 0] : memref<128x64xf32, #nki.sbuf>
  %b = nki.alloc address=[0, 128] : memref<128x64xf32, #nki.sbuf>
  scf.for %i = %zero to %four step %one : i32 {
    nisa.dma_copy dst=%a, src=%x
    nisa.dma_copy dst=%x, src=%a
    nisa.dma_copy dst=%b, src=%x
    nisa.dma_copy dst=%x, src=%b
  }
  nki.return
}

// A core asks for its rank by itself.
// CHECK-NOT: [cores-wait]
nki.kernel @asks_core0() target=trn3 program=[0, 2] {
  %rank = nki.register
  ncc.rank_id dst=%rank
  nki.return
}
nki.kernel @asks_core1() target=trn3 program=[1, 2] {
  nki.return
}
