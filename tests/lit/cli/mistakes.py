# RUN: not nkijit verify %s -a x=128x512:float32 > %t
# RUN: filecheck --match-full-lines %s < %t
# RUN: filecheck --match-full-lines --strict-whitespace --check-prefix=CARET %s < %t

# Five different mistakes in one kernel: the author sees all five at once, each with its line, the
# operands that it is about, and the places where they were allocated.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def five_mistakes(x):
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    half = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.sbuf)
    column = nl.ndarray((128, 1), dtype=nl.bfloat16, buffer=nl.sbuf, name="scale column")
    nisa.memset(dst=column, value=1.0)

    # CHECK: error[partitions-match]: nisa.reciprocal: different numbers of partitions: 'data' has 128, 'dst' has 64
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 7]]:36
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 5]] | nisa.reciprocal(dst=half, data=tile)
    # CHECK-NEXT: | ^^^^       ^^^^
    # CHECK-NEXT: = data: %tile, sbuf 128x512 float32, allocated at {{.*}}mistakes.py:[[# @LINE - 10]]:12
    # CHECK-NEXT: = dst: %half, sbuf 64x512 float32, allocated at {{.*}}mistakes.py:[[# @LINE - 10]]:12
    # CHECK-NEXT: = help: allocate 'dst' with 128 partitions, or read tile[0:64] only
    nisa.reciprocal(dst=half, data=tile)

    # CHECK: error[buffer]: nisa.tensor_tensor: 'data2' must be in sbuf or psum, it is in private_hbm
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 6]]:52
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 4]] | nisa.tensor_tensor(dst=tile, data1=tile, data2=x, op=nl.add)
    # CHECK-NEXT: | ^
    # CHECK-NEXT: = data2: %x, private_hbm 128x512 float32, an argument of the kernel
    # CHECK-NEXT: = help: load it first, e.g. tile = nl.load(x), and pass the tile
    nisa.tensor_tensor(dst=tile, data1=tile, data2=x, op=nl.add)

    # CHECK: error[dtype]: nisa.activation: 'scale' must be float32, it is bfloat16
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 6]]:59
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 4]] | nisa.activation(dst=tile, op=nl.exp, data=tile, scale=column)
    # CHECK-NEXT: | ^^^^^^
    # CHECK-NEXT: = scale: %scale_column, sbuf 128x1 bfloat16, allocated at {{.*}}mistakes.py:[[# @LINE - 27]]:14
    # CHECK-NEXT: = help: convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or allocate it with that dtype=
    nisa.activation(dst=tile, op=nl.exp, data=tile, scale=column)

    # CHECK: error[activation-function]: nisa.activation: 'op' is nl.maximum, which is not an activation function
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 5]]:41
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] | done = nisa.activation(dst=tile, op=nl.maximum, data=tile)
    # CHECK-NEXT: | ^^^^^^^^^^
    # CHECK-NEXT: = help: pass an activation function, e.g. nl.exp or nl.gelu; operators such as nl.add go to nisa.tensor_tensor and nisa.tensor_scalar
    done = nisa.activation(dst=tile, op=nl.maximum, data=tile)

    # The marker is below the value of the argument, and has its length.
    # CARET:{{ *[0-9]+}} |     done = nisa.activation(dst=tile, op=nl.maximum, data=tile)
    # CARET-NEXT:{{ *}} |                                         ^^^^^^^^^^

    # CHECK: error[engine]: nisa.memset: the instruction runs on vector or gpsimd, not on tensor
    # CHECK-NEXT: --> {{.*}}mistakes.py:[[# @LINE + 5]]:54
    # CHECK-NEXT: |
    # CHECK-NEXT: [[# @LINE + 3]] | nisa.memset(dst=half[0:32, :], value=0.0, engine=nisa.engine.tensor)
    # CHECK-NEXT: | ^^^^^^^^^^^^^^^^^^
    # CHECK-NEXT: = help: leave engine= out, or pass one that the message lists
    nisa.memset(dst=half[0:32, :], value=0.0, engine=nisa.engine.tensor)

    nisa.dma_copy(dst=out, src=tile)
    return out


# CHECK: 5 errors for trn3 (default)
