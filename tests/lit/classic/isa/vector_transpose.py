# RUN: nkijit trace %s:kernel -a x=64x40:float32 -t trn2 | filecheck %s

# On the Vector Engine, a transpose of more than 32x32 is one instruction per block of 32x32.

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl


@nki.jit
def kernel(x):
    tile = nl.load(x)
    # CHECK: %turned = nki.alloc : memref<40x64xf32, #nki.sbuf>
    # CHECK-NEXT: [[D1:%.+]] = nki.view %turned offset=0 pattern={{\[\[}}64, 32], [1, 32]]
    # CHECK-NEXT: [[S1:%.+]] = nki.view %tile offset=0 pattern={{\[\[}}40, 32], [1, 32]]
    # CHECK-NEXT: nisa.nc_transpose dst=[[D1]], data=[[S1]], engine=vector
    # CHECK-NEXT: [[D2:%.+]] = nki.view %turned offset=2048 pattern={{\[\[}}64, 8], [1, 32]]
    # CHECK-NEXT: [[S2:%.+]] = nki.view %tile offset=32 pattern={{\[\[}}40, 32], [1, 8]]
    # CHECK-NEXT: nisa.nc_transpose dst=[[D2]], data=[[S2]], engine=vector
    # CHECK-COUNT-2: nisa.nc_transpose {{.*}}, engine=vector
    # CHECK-NOT: nisa.nc_transpose
    # CHECK: nki.return
    turned = nisa.nc_transpose(tile, engine=nisa.vector_engine)
    out = nl.ndarray((40, 64), x.dtype, buffer=nl.shared_hbm)
    nl.store(out, turned)
    return out
