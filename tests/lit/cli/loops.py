# RUN: nkijit trace %s -a x=4x8:float32 -a n=1x1:int32 | filecheck --match-full-lines %s
# RUN: nkijit list %s -a x=4x8:float32 -a n=1x1:int32 | filecheck --match-full-lines --check-prefix=LIST %s
# RUN: nkijit verify %s -a x=4x8:float32 -a n=1x1:int32 | filecheck --check-prefix=VERIFY %s
# VERIFY-NOT: error[

# The printed text can be read again, has the same listing and runs.
# RUN: nkijit trace %s -a x=4x8:float32 -a n=1x1:int32 -o %t.mlir
# RUN: nkijit trace %t.mlir | diff %t.mlir -
# RUN: nkijit list %t.mlir | filecheck --match-full-lines --check-prefix=LIST %s
# RUN: nkijit verify %t.mlir | filecheck --check-prefix=VERIFY %s
# RUN: %python -c "import numpy, sys; numpy.save(sys.argv[1], numpy.ones((4, 8), 'float32')); numpy.save(sys.argv[2], [[numpy.int32(2)]])" %t.x.npy %t.n.npy
# RUN: nkijit run %t.mlir -i x=%t.x.npy -i n=%t.n.npy -o %t.out.npy
# RUN: %python -c "import numpy, sys; assert (numpy.load(sys.argv[1])[:2] == 4).all()" %t.out.npy

# Loops on the device, an address known at run time, and registers.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def doubled(x, n):
    """Rows below n of the result are x, doubled twice."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    row = nl.ndarray((1, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    left = nl.load(n)
    count = nisa.register_alloc()
    nisa.register_load(count, left)
    for i in nl.dynamic_range(count):
        nisa.dma_copy(dst=row, src=x[nl.ds(i, 1)])
        with nl.no_reorder():
            for _ in range(2):
                nisa.tensor_scalar(dst=row, data=row, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out[nl.ds(i, 1)], src=row)
    while count:
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
        nisa.register_load(count, left)
    return out


# CHECK:      builtin.module {
# CHECK-NEXT:   nki.kernel @doubled(%x: memref<4x8xf32, #nki.private_hbm>, %n: memref<1x1xi32, #nki.private_hbm>) target=trn3 {
# CHECK-NEXT:     %c0 = arith.constant 0 : i32
# CHECK-NEXT:     %c1 = arith.constant 1 : i32
# CHECK-NEXT:     %c2.0 = arith.constant 2.000000e+00 : f32
# CHECK-NEXT:     %out = nki.alloc : memref<4x8xf32, #nki.shared_hbm>
# CHECK-NEXT:     %row = nki.alloc : memref<1x8xf32, #nki.sbuf>
# CHECK-NEXT:     %left = nki.alloc : memref<1x1xi32, #nki.sbuf>
# CHECK-NEXT:     nisa.dma_copy dst=%left, src=%n
# CHECK-NEXT:     %count = nki.register
# CHECK-NEXT:     nisa.register_load dst=%count, src=%left
# CHECK-NEXT:     %count_1 = nki.read %count
# CHECK-NEXT:     scf.for %i = %c0 to %count_1 step %c1 : i32 {
# CHECK-NEXT:       %x_1 = nki.view %x offset=0 pattern=[[8, 1], [1, 8]] scalar=%i scale=8 bound=4
# CHECK-NEXT:       nisa.dma_copy dst=%row, src=%x_1
# CHECK-NEXT:       nki.no_reorder {
# CHECK-NEXT:         nisa.tensor_scalar dst=%row, data=%row, op0=multiply, operand0=%c2.0
# CHECK-NEXT:         nisa.tensor_scalar dst=%row, data=%row, op0=multiply, operand0=%c2.0
# CHECK-NEXT:       }
# CHECK-NEXT:       %out_1 = nki.view %out offset=0 pattern=[[8, 1], [1, 8]] scalar=%i scale=8 bound=4
# CHECK-NEXT:       nisa.dma_copy dst=%out_1, src=%row
# CHECK-NEXT:     }
# CHECK-NEXT:     scf.while () : () -> () {
# CHECK-NEXT:       %count_2 = nki.read %count
# CHECK-NEXT:       %0 = arith.cmpi ne, %count_2, %c0 : i32
# CHECK-NEXT:       scf.condition(%0)
# CHECK-NEXT:     } do {
# CHECK-NEXT:       nisa.tensor_scalar dst=%left, data=%left, op0=subtract, operand0=%c1
# CHECK-NEXT:       nisa.register_load dst=%count, src=%left
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     nki.return %out
# CHECK-NEXT:   }
# CHECK-NEXT: }

# LIST: kernel doubled, trn3 (NeuronCore-v4)
# LIST-NEXT: 15 instructions, 7 waits, 7 signals
# LIST-NEXT: SBUF 36 of 245752 bytes per partition, PSUM 0 of 16384
# LIST-EMPTY:
# LIST-NEXT: sync: 7 instructions
# LIST-NEXT: 0 DMA_TRIGGER transfer=dma_load @1{{( .*)?}}
# LIST-NEXT: 2 wait(dma_load>=1) REGISTER_LOAD dst=count, src=left[sbuf 0, 0:1, 1:1, int32] signal(1){{( .*)?}}
# LIST-NEXT: 4 READ_BOUNDS loop=i = 0 to count step 1{{( .*)?}}
# LIST-NEXT: loop i = 0 to count step 1 {
# LIST-NEXT: 5 wait(previous dma_store>=1) DMA_TRIGGER transfer=dma_load @6{{( .*)?}}
# LIST-NEXT: 9 wait(vector>=1) DMA_TRIGGER transfer=dma_store @10{{( .*)?}}
# LIST-NEXT: }
# LIST-NEXT: loop while count != 0 {
# LIST-NEXT: 12 TEST loop=while count != 0{{( .*)?}}
# LIST-NEXT: 14 wait(vector>=1) REGISTER_LOAD dst=count, src=left[sbuf 0, 0:1, 1:1, int32] signal(1){{( .*)?}}
# LIST-NEXT: }
# LIST-EMPTY:
# LIST-NEXT: dma_load: 2 instructions
# LIST-NEXT: 1 DMA_COPY dst=left[sbuf 0, 0:1, 1:1, int32], src=n[private_hbm 0, 1:1 1:1, int32] signal(1){{( .*)?}}
# LIST-NEXT: loop i = 0 to count step 1 {
# LIST-NEXT: 6 DMA_COPY dst=row[sbuf 4, 0:1, 1:8, float32], src=x[private_hbm 0 + scalar i*32, 8:1 1:8, float32] signal(1){{( .*)?}}
# LIST-NEXT: }
# LIST-EMPTY:
# LIST-NEXT: vector: 5 instructions
# LIST-NEXT: 3 wait(sync>=1) READ_BOUNDS loop=i = 0 to count step 1{{( .*)?}}
# LIST-NEXT: loop i = 0 to count step 1 {
# LIST-NEXT: 7 wait(dma_load>=1) TENSOR_SCALAR dst=row[sbuf 4, 0:1, 1:8, float32], data=row[sbuf 4, 0:1, 1:8, float32], operand0=2.0, op0=multiply{{( .*)?}}
# LIST-NEXT: 8 TENSOR_SCALAR dst=row[sbuf 4, 0:1, 1:8, float32], data=row[sbuf 4, 0:1, 1:8, float32], operand0=2.0, op0=multiply signal(1){{( .*)?}}
# LIST-NEXT: }
# LIST-NEXT: loop while count != 0 {
# LIST-NEXT: 11 wait(previous sync>=1) TEST loop=while count != 0{{( .*)?}}
# LIST-NEXT: 13 TENSOR_SCALAR dst=left[sbuf 0, 0:1, 1:1, int32], data=left[sbuf 0, 0:1, 1:1, int32], operand0=1, op0=subtract signal(1){{( .*)?}}
# LIST-NEXT: }
# LIST-EMPTY:
# LIST-NEXT: dma_store: 1 instruction
# LIST-NEXT: loop i = 0 to count step 1 {
# LIST-NEXT: 10 DMA_COPY dst=out[shared_hbm 0 + scalar i*32, 8:1 1:8, float32], src=row[sbuf 4, 0:1, 1:8, float32] signal(1){{( .*)?}}
# LIST-NEXT: }
