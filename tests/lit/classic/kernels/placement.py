# RUN: nkijit trace %s:modulo -a x=4x128x512:bfloat16 | filecheck --check-prefix=MODULO %s
# RUN: nkijit trace %s:automatic -a x=4x128x512:bfloat16 | filecheck --check-prefix=AUTOMATIC %s
# RUN: not nkijit verify %s:half -a x=64x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=HALF %s
# RUN: not nkijit verify %s:byte 2>&1 | filecheck --match-full-lines --check-prefix=BYTE %s
# RUN: not nkijit verify %s:bank 2>&1 | filecheck --match-full-lines --check-prefix=BANK %s
# RUN: not nkijit verify %s:partition 2>&1 | filecheck --match-full-lines --check-prefix=PARTITION %s
# RUN: not nkijit verify %s:shape 2>&1 | filecheck --match-full-lines --check-prefix=SHAPE %s
# RUN: not nkijit verify %s:blocks 2>&1 | filecheck --match-full-lines --check-prefix=BLOCKS %s
# RUN: nkijit verify %s:mixed -a x=128x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=MIXED %s
# RUN: not nkijit verify %s:in_use -a x=4x128x512:bfloat16 2>&1 | filecheck --check-prefix=IN-USE %s

# Tiles that nki.compiler places.

import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.language as nl


@nki.compiler.skip_middle_end_transformations
@nki.jit
def modulo(x):
    # MODULO: %tile = nki.alloc address=[0, 512] : memref<128x512xbf16, #nki.sbuf>
    # MODULO: %tile_1 = nki.alloc address=[0, 1536] : memref<128x512xbf16, #nki.sbuf>
    # MODULO: %tile_2 = nki.alloc address=[0, 512] : memref<128x512xbf16, #nki.sbuf>
    # MODULO: %tile_3 = nki.alloc address=[0, 1536] : memref<128x512xbf16, #nki.sbuf>
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=512, num_free_tiles=(2,))
    tile = nl.ndarray((4, nl.par_dim(128), 512), dtype=x.dtype, buffer=place)
    for i in nl.affine_range(4):
        tile[i] = nl.load(x[i])
        nl.store(out[i], tile[i])
    return out


# AUTOMATIC: %tile = nki.alloc : memref<128x512xbf16, #nki.sbuf>
automatic = ncc.force_auto_alloc(modulo)


@nki.jit
def half(x):
    # HALF: error[direct-allocation]: nl.ndarray: a tile of 64 partitions with 32 bytes each is placed at partition 32, byte 0
    # HALF-NEXT: --> {{.*}}placement.py:[[# @LINE + 3]]:12
    # HALF: = help: place an SBUF tile at partition 0; one of at most 64 partitions may also start at 64, one of at most 32 also at 32 and 96; place a PSUM tile in a bank from 0 to 7, at partition 0, byte 0
    place = ncc.sbuf.alloc(lambda index, partitions, size: (partitions // 2, 0))
    tile = nl.ndarray((64, 8), dtype=nl.float32, buffer=place)
    tile[...] = nl.load(x)


@nki.jit
def byte():
    # BYTE: error[direct-allocation]: nl.ndarray: a tile of 8 partitions with 32 bytes each is placed at partition 0, byte -32
    nl.ndarray((8, 8), dtype=nl.float32, buffer=ncc.sbuf.alloc(lambda i, p, f: (0, -f)))


@nki.jit
def bank():
    # BANK: error[direct-allocation]: nl.ndarray: block (1,): a tile of 8 partitions with 32 bytes each is placed at bank 8, partition 0, byte 0
    place = ncc.psum.mod_alloc(base_bank=7, num_bank_tiles=(2,))
    nl.ndarray((2, nl.par_dim(8), 8), dtype=nl.float32, buffer=place)


@nki.jit
def partition():
    # PARTITION: error[direct-allocation]: nl.ndarray: a tile of 8 partitions with 32 bytes each is placed at bank 0, partition 32, byte 0
    place = ncc.psum.mod_alloc(base_bank=0, base_partition=32)
    nl.ndarray((8, 8), dtype=nl.float32, buffer=place)


@nki.jit
def shape():
    # SHAPE: error[direct-allocation]: nl.ndarray: a tile of 8 partitions with 32 bytes each is placed at (0, 0, 0); expected (partition, byte)
    nl.ndarray((8, 8), dtype=nl.float32, buffer=ncc.sbuf.alloc(lambda i, p, f: (0, 0, 0)))


@nki.jit
def blocks():
    # BLOCKS: error[direct-allocation]: nl.ndarray: block (0, 0): 'num_free_tiles' is (2,), but the tensor has 2 block dimensions
    place = ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,))
    nl.ndarray((2, 3, nl.par_dim(8), 8), dtype=nl.float32, buffer=place)


@nki.jit
def mixed(x):
    # MIXED: warning[mixed-allocation]: nl.load: tile 'other' has no address
    # MIXED-NEXT: --> {{.*}}placement.py:[[# @LINE + 7]]:13
    # MIXED: ::: {{.*}}placement.py:[[# @LINE + 5]]:12
    # MIXED: | ---------- has an address
    # MIXED: = help: allocate it with nl.ndarray and buffer=nki.compiler.sbuf.mod_alloc(...) as well, or place no tile (nki.compiler.force_auto_alloc)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=0)
    tile = nl.ndarray((128, 8), dtype=x.dtype, buffer=place)
    other = nl.load(x)
    tile[...] = other
    nl.store(out, tile)
    return out


@nki.jit
def in_use(x):
    # Two places are not enough for four tiles that are in use at the same time.
    # IN-USE: error[address-overlap]:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    place = ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,))
    tile = nl.ndarray((4, nl.par_dim(128), 512), dtype=x.dtype, buffer=place)
    for i in nl.affine_range(4):
        tile[i] = nl.load(x[i])
    for i in nl.affine_range(4):
        nl.store(out[i], tile[i])
    return out
