# Known defects by release: `verify --portable` warns of them, and is silent for releases without.
# RUN: nkijit verify --portable --nki 0.6 %s:transpose | filecheck --check-prefix=TRANSPOSE %s
# RUN: nkijit verify --portable --nki 0.1 %s:transpose | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable %s:transpose_legal | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable %s:select | filecheck --check-prefix=SELECT %s
# RUN: nkijit verify --portable --nki 0.4 %s:select | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.3 %s:exchange | filecheck --check-prefix=EXCHANGE %s
# RUN: nkijit verify --portable --nki 0.2 %s:exchange | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.5 %s:nested | filecheck --check-prefix=NESTED %s
# RUN: nkijit verify --portable --nki 0.6 %s:nested | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.5 %s:on_chip | filecheck --check-prefix=ONCHIP %s
# RUN: nkijit verify --portable --nki 0.6 %s:on_chip | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.5 %s:copies | filecheck --check-prefix=COPY %s
# RUN: nkijit verify --portable --nki 0.6 %s:copies | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.3 %s:divides | filecheck --check-prefix=DIVIDE %s
# RUN: nkijit verify --portable %s:divides | filecheck --check-prefix=DIVIDE7 %s
# RUN: nkijit verify --portable --nki 0.3 %s:loop | filecheck --check-prefix=LOOP %s
# RUN: nkijit verify --portable --nki 0.4 %s:loop | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.2 %s:turned | filecheck --check-prefix=TURNED %s
# RUN: nkijit verify --portable --nki 0.4 %s:turned | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.3 %s:prints | filecheck --check-prefix=PRINT %s
# RUN: nkijit verify --portable --nki 0.4 %s:prints | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.2 %s:ranges | filecheck --check-prefix=RANGE %s
# RUN: nkijit verify --portable --nki 0.3 %s:ranges | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.1 %s:sums | filecheck --check-prefix=SUMS %s
# RUN: nkijit verify --portable --nki 0.2 %s:sums | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.1 %s:operators | filecheck --check-prefix=OPERATORS %s
# RUN: nkijit verify --portable --nki 0.2 %s:operators | filecheck --check-prefix=NONE %s
# RUN: nkijit verify --portable --nki 0.1 %s:counted | filecheck --check-prefix=COUNTED %s
# RUN: nkijit verify --portable --nki 0.2 %s:counted | filecheck --check-prefix=NONE %s

# Without --portable there are no such warnings.
# RUN: nkijit verify %s:transpose | filecheck --check-prefix=NONE %s

# NONE-NOT: warning[portable-defect]

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl


def returned(tile):
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
@nki.example(x="256x64:bfloat16", ids="32x1:uint32")
def transpose(x, ids):
    i = nl.ndarray(ids.shape, ids.dtype, buffer=nl.sbuf)
    nisa.dma_copy(i, ids)
    dst = nl.ndarray((64, 32), x.dtype, buffer=nl.sbuf)
    nisa.memset(dst, 0.0)
    rows = x.ap([[64, 32], [1, 64]], vector_offset=i, indirect_dim=0)
    # TRANSPOSE: warning[portable-defect]: nisa.dma_transpose: in NKI 0.6 indices out of bounds among legal ones abort the DMA, and the device fails until it is reset
    # TRANSPOSE-NEXT: --> {{.*}}defects.py:[[# @LINE + 3]]:29
    # TRANSPOSE: = gather-transpose-skip: a defect of NKI 0.2 and newer (aws-neuron-sdk issue 1390, Neuron SDK 2.32)
    # TRANSPOSE-NEXT: = help: let all indices be legal, or gather with nisa.dma_copy and transpose with nisa.nc_transpose
    nisa.dma_transpose(dst, rows, axes=(1, 0), oob_mode=nisa.oob_mode.skip)
    return returned(dst)


@nki.jit
@nki.example(x="256x64:bfloat16", ids="32x1:uint32")
def transpose_legal(x, ids):
    i = nl.ndarray(ids.shape, ids.dtype, buffer=nl.sbuf)
    nisa.dma_copy(i, ids)
    dst = nl.ndarray((64, 32), x.dtype, buffer=nl.sbuf)
    rows = x.ap([[64, 32], [1, 64]], vector_offset=i, indirect_dim=0)
    nisa.dma_transpose(dst, rows, axes=(1, 0))
    return returned(dst)


@nki.jit
@nki.example(x="256x64:bfloat16", ids="32x1:uint32")
def select(x, ids):
    i = nl.ndarray(ids.shape, ids.dtype, buffer=nl.sbuf)
    nisa.dma_copy(i, ids)
    dst = nl.ndarray((32, 64), nl.uint16, buffer=nl.sbuf)
    # SELECT: warning[portable-defect]: nisa.dma_copy: in NKI 0.7 a gathered or scattered tensor must not be viewed in another data type
    nisa.dma_copy(dst, x.view(nl.uint16).vector_select(0, i))
    return returned(dst)


@nki.jit
@nki.example(x="4x8:float32", rows="4x4:uint32")
def exchange(x, rows):
    sent = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
    got = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)
    meta = nl.ndarray(rows.shape, rows.dtype, buffer=nl.hbm)
    nisa.dma_copy(sent, x)
    nisa.dma_copy(meta, rows)
    group = ncc.ReplicaGroup([[0, 1, 2, 3]])
    nisa.dma_copy(got, x)
    # EXCHANGE: warning[portable-defect]: ncc.all_to_all_v: in NKI 0.3 has_rdispls has no effect on Trainium3 UltraServers: chunks are placed at equal distances
    ncc.all_to_all_v([sent], [got], group, meta, has_rdispls=True)
    return returned(got)


@nki.jit
@nki.example(x="128x8:float32")
def nested(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.memset(tile, 0.0)

    def outer(i):
        def inner(k):
            nisa.tensor_scalar(tile, tile, nl.add, 1.0)

        # NESTED: warning[portable-defect]: nl.fori_loop: in NKI 0.5 a loop on the device in another one does not compile
        # NESTED: = nested-loops: a defect of NKI 0.4 to 0.5
        nl.fori_loop(0, 3, inner)

    nl.fori_loop(0, 3, outer)
    return returned(tile)


@nki.jit
@nki.example(x="128x8:float32", at="1x1:int32")
def on_chip(x, at):
    first = nisa.register_alloc()
    nisa.register_load(first, at)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    part = nl.ndarray((128, 2), x.dtype, buffer=nl.sbuf)
    # ONCHIP: warning[portable-defect]: nisa.dma_copy: in NKI 0.5 a DMA with an address in SBUF that is known only at run time can crash
    nisa.dma_copy(part, tile[:, nl.ds(first, 2)])
    return returned(part)


@nki.jit
@nki.example(x="128x8:int32", y="128x8:float32")
def copies(x, y):
    # COPY: warning[portable-defect]: nl.copy: in NKI 0.5 nl.copy computes in float32, which is not exact for integers above 2^23
    # COPY-NEXT: --> {{.*}}defects.py:[[# @LINE + 1]]:
    tile = nl.copy(nl.load(x))
    # COPY-NOT: warning[portable-defect]
    return returned(tile), returned(nl.copy(nl.load(y)))


@nki.jit
@nki.example(x="128x8:float32")
def divides(x):
    tile = nl.load(x)
    # DIVIDE: warning[portable-defect]: nl.divide: in NKI 0.3 nl.divide, nl.fmod and nl.mod run in the vendor's simulator, but do not compile
    # DIVIDE7: warning[portable-defect]: nl.divide: in NKI 0.7 nl.divide, nl.fmod and nl.mod run in the vendor's simulator, but do not compile
    quotient = nl.divide(tile, tile)
    # DIVIDE-NOT: warning[portable-defect]
    return returned(quotient)


@nki.jit
@nki.example(x="128x8:float32")
def loop(x):
    tile = nl.ndarray((1, 8), x.dtype, buffer=nl.sbuf)
    total = nl.ndarray((1, 8), x.dtype, buffer=nl.sbuf)
    nisa.memset(total, 0.0)

    def body(i):
        # LOOP-DAG: warning[portable-defect]: nisa.dma_copy: in NKI 0.3 the variable of a loop on the device must not be used in an address
        nisa.dma_copy(tile, x[nl.ds(i, 1)])
        nisa.tensor_tensor(total, total, tile, nl.add)

    # LOOP-DAG: warning[portable-defect]: nl.fori_loop: in NKI 0.3 the loop races with the instructions before it that access the same memory
    nl.fori_loop(0, 3, body)
    return returned(total)


@nki.jit
@nki.example(x="32x32:float32")
def turned(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    result = nl.ndarray((32, 32), x.dtype, buffer=nl.psum)
    # TURNED: warning[portable-defect]: nisa.nc_transpose: in NKI 0.2 the engine argument has no effect: the buffer of dst determines the engine
    nisa.nc_transpose(result, tile, engine=nisa.engine.vector)
    end = nl.ndarray((32, 32), x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(end, result)
    # TURNED-NOT: warning[portable-defect]
    again = nl.ndarray((32, 32), x.dtype, buffer=nl.sbuf)
    nisa.nc_transpose(again, end, engine=nisa.engine.vector)
    return returned(again)


@nki.jit
@nki.example(x="8:float32")
def prints(x):
    # PRINT: warning[portable-defect]: nl.device_print: in NKI 0.3 a tensor in HBM with one dimension cannot be printed
    nl.device_print("x", x)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, x)
    return out


@nki.jit
@nki.example(x="128x8:float32")
def ranges(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    dst = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    res = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    low, high = tile[:, 0:1], tile[:, 1:2]
    common = dict(on_true_tile=tile, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=low)
    nisa.range_select(dst, bound1=high, reduce_res=res, **common)
    # RANGE: warning[portable-defect]: nisa.range_select: in NKI 0.2 on_false_value and reduce_cmd have no effect: they are -3.4028235e+38 and reset_reduce
    # RANGE-NEXT: --> {{.*}}defects.py:[[# @LINE + 2]]:5
    # RANGE-NOT: warning[portable-defect]
    nisa.range_select(dst, bound1=high, reduce_res=res, reduce_cmd=nisa.reduce_cmd.reduce, **common)
    return returned(dst), returned(res)


@nki.jit
@nki.example(x="128x8:float32")
def sums(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    dst = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    res = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    other = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    first, later = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce
    nisa.activation(other, nl.exp, tile)
    nisa.activation(dst, nl.exp, tile, reduce_op=nl.add, reduce_cmd=first)
    # SUMS: warning[portable-defect]: nisa.activation: in NKI 0.1 an activation without reduce_cmd clears the sums that later ones add to
    # SUMS-NEXT: --> {{.*}}defects.py:[[# @LINE + 2]]:
    # SUMS-NOT: warning[portable-defect]
    nisa.activation(other, nl.exp, tile)
    nisa.activation(dst, nl.exp, tile, reduce_op=nl.add, reduce_res=res, reduce_cmd=later)
    nisa.activation(other, nl.exp, other)
    return returned(other), returned(dst), returned(res)


@nki.jit
@nki.example(x="128x8:float32")
def operators(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    # OPERATORS: warning[portable-defect]: nisa.tensor_scalar: in NKI 0.1 the operators nl.abs, nl.power and nl.rsqrt do not compile
    nisa.tensor_scalar(tile, tile, nl.power, 2.0)
    # OPERATORS-NOT: warning[portable-defect]
    nisa.tensor_scalar(tile, tile, nl.add, 2.0)
    return returned(tile)


@nki.jit
@nki.example(x="128x8:float32", count="1x1:int32")
def counted(x, count):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    end = nisa.register_alloc()
    nisa.register_load(end, count)

    def body(i):
        nisa.dma_copy(tile, x)

    # COUNTED: warning[portable-defect]: nl.fori_loop: in NKI 0.1 a loop whose bounds are known only at run time does not count its variable correctly
    nl.fori_loop(0, end, body)
    return returned(tile)
