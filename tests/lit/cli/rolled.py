# RUN: nkijit trace --rolled %s -a x=1024x256:float32 | filecheck --match-full-lines %s
# RUN: nkijit trace --rolled --locations %s -a x=1024x256:float32 | filecheck --check-prefix=PLACES %s

# It is the same kernel, to every command.
# RUN: nkijit trace --locations %s -a x=1024x256:float32 -o %t.flat.mlir
# RUN: nkijit trace --locations --rolled %s -a x=1024x256:float32 -o %t.rolled.mlir
# RUN: nkijit trace --locations %t.rolled.mlir | diff %t.flat.mlir -
# RUN: nkijit trace --locations --rolled %t.flat.mlir | diff %t.rolled.mlir -
# RUN: nkijit list %t.flat.mlir -o %t.flat.txt
# RUN: nkijit list %t.rolled.mlir | diff %t.flat.txt -
# RUN: nkijit verify %t.rolled.mlir | filecheck --check-prefix=VERIFY %s

# VERIFY: 1 warning

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def row_sums(x):
    out = nl.ndarray((x.shape[0], 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in range(x.shape[0] // 128):
        # PLACES: %tile.0 = nki.alloc name="tile_0" {{.*}} loc("{{.*}}rolled.py":[[# @LINE + 1]]:16)
        tile = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf, name=f"tile_{i}")
        nisa.dma_copy(dst=tile, src=x[i * 128 : i * 128 + 128])
        tiles.append(tile)
    total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    for i, tile in enumerate(tiles):
        row = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=row, op=nl.add, data=tile, axis=1)
        if i == 0:
            nisa.tensor_copy(dst=total, src=row)
        else:
            nisa.tensor_tensor(dst=total, data1=total, data2=row, op=nl.add)
        nisa.dma_copy(dst=out[i * 128 : i * 128 + 128], src=total)
    return out


# CHECK:      builtin.module {
# CHECK-NEXT:   nki.kernel @row_sums(%x: memref<1024x256xf32, #nki.private_hbm>) target=trn3 {
# CHECK-NEXT:     %out = nki.alloc : memref<1024x1xf32, #nki.shared_hbm>
# CHECK-NEXT:     %tiles = nki.repeat i = 0 to 8 {
# CHECK-NEXT:       %tile.0 = nki.alloc name="tile_0" {varies = #nki.varies<name = [i], hint = [i]>} : memref<128x256xf32, #nki.sbuf>
# CHECK-NEXT:       %x_1 = nki.view %x offset=i*32768 pattern=[[256, 128], [1, 256]]
# CHECK-NEXT:       nisa.dma_copy dst=%tile.0, src=%x_1
# CHECK-NEXT:       nki.yield %tile.0
# CHECK-NEXT:     }
# CHECK-NEXT:     %total = nki.alloc : memref<128x1xf32, #nki.sbuf>
# CHECK-NEXT:     %row = nki.alloc : memref<128x1xf32, #nki.sbuf>
# CHECK-NEXT:     %tile.0_1 = nki.element %tiles[0]
# CHECK-NEXT:     nisa.tensor_reduce dst=%row, op=add, data=%tile.0_1, axis=[1]
# CHECK-NEXT:     nisa.tensor_copy dst=%total, src=%row
# CHECK-NEXT:     %out_1 = nki.view %out offset=0 pattern=[[1, 128], [1, 1]]
# CHECK-NEXT:     nisa.dma_copy dst=%out_1, src=%total
# CHECK-NEXT:     nki.repeat i = 0 to 7 {
# CHECK-NEXT:       %row_1 = nki.alloc : memref<128x1xf32, #nki.sbuf>
# CHECK-NEXT:       %tile.0_2 = nki.element %tiles[i+1]
# CHECK-NEXT:       nisa.tensor_reduce dst=%row_1, op=add, data=%tile.0_2, axis=[1]
# CHECK-NEXT:       nisa.tensor_tensor dst=%total, data1=%total, data2=%row_1, op=add
# CHECK-NEXT:       %out_2 = nki.view %out offset=i*128+128 pattern=[[1, 128], [1, 1]]
# CHECK-NEXT:       nisa.dma_copy dst=%out_2, src=%total
# CHECK-NEXT:     }
# CHECK-NEXT:     nki.return %out
# CHECK-NEXT:   }
# CHECK-NEXT: }
