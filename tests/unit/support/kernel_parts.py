"""Parts of random kernels, and random kernels."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from support.random_kernels import PARTS, TARGETS, Builder, RandomKernel, part

# ------------------------------------------------------------------ elementwise


@part()
def _elementwise(b: Builder) -> None:
    shape, dtype = b.shape(), b.floats()
    one, two = b.load(shape, dtype), b.load(shape, dtype, "load2")
    result = b.alloc("alloc", shape, dtype)
    word = b.op("add", "subtract", "multiply", "maximum", "minimum")
    b.call("op", "nisa.tensor_tensor", dst=result, data1=one, data2=two, op=word)
    b.store(result, shape, dtype)


@part()
def _scaled(b: Builder) -> None:
    shape, dtype = b.shape(), b.floats()
    tile = b.load(shape, dtype)
    column = b.alloc("column.alloc", (shape[0], 1), "float32")
    b.call("column", "nisa.memset", dst=column, value=2.0)
    result = b.alloc("alloc", shape, dtype)
    word = b.op("add", "subtract", "multiply")
    b.call("op", "nisa.tensor_scalar", dst=result, data=tile, op0=word, operand0=column)
    b.store(result, shape, dtype)


@part()
def _activated(b: Builder) -> None:
    shape, dtype = b.shape(), b.floats()
    tile = b.load(shape, dtype)
    result = b.alloc("alloc", shape, dtype)
    word = b.op("exp", "tanh", "gelu", "sigmoid", "square")
    b.call("op", "nisa.activation", dst=result, op=word, data=tile, scale=0.5)
    b.store(result, shape, dtype)


@part()
def _phases(b: Builder) -> None:
    """All of one activation function before the next."""
    shape, tiles = b.shape(), list[str]()
    tiles = [b.load(shape, "float32", f"load{i}") for i in range(3)]
    for i, tile in enumerate(tiles):
        word = "tanh" if i == 2 else "exp"
        result = b.alloc("alloc", shape, "float32")
        b.call(f"op{i}", "nisa.activation", dst=result, op=f"nl.{word}", data=tile)
        b.store(result, shape, "float32")


@part()
def _bits(b: Builder) -> None:
    shape = b.shape()
    one, two = b.load(shape, "int32"), b.load(shape, "int32", "load2")
    result = b.alloc("alloc", shape, "int32")
    word = b.op("bitwise_and", "bitwise_or", "bitwise_xor")
    b.call("op", "nisa.tensor_tensor", dst=result, data1=one, data2=two, op=word)
    b.call(
        "shift", "nisa.tensor_scalar", dst=result, data=result,
        op0="nl.left_shift", operand0=3, op1="nl.bitwise_and", operand1=255,
    )  # fmt: skip
    b.store(result, shape, "int32")


@part()
def _combined(b: Builder) -> None:
    shape, dtype = b.shape(), b.floats()
    one, two = b.load(shape, dtype), b.load(shape, dtype, "load2")
    result = b.alloc("alloc", shape, dtype)
    b.call(
        "op", "nisa.scalar_tensor_tensor", dst=result, data=one, op0=b.op("add", "multiply"),
        operand0=3.0, op1=b.op("subtract", "maximum"), operand1=two,
    )  # fmt: skip
    b.call("reciprocal", "nisa.reciprocal", dst=result, data=result)
    b.store(result, shape, dtype)


@part()
def _filled(b: Builder) -> None:
    shape = b.shape()
    numbers = b.alloc("alloc", shape, "int32")
    half = shape[1] // 2
    b.call("left", "nisa.memset", dst=f"{numbers}[:, 0:{half}]", value=b.random.randint(0, 9))
    b.call("right", "nisa.memset", dst=f"{numbers}[:, {half}:{shape[1]}]", value=7)
    b.call("cast", "nisa.tensor_copy", dst=numbers, src=numbers)
    counted = b.alloc("counted", shape, "int32")
    b.call("iota", "nisa.iota", dst=counted, pattern=[[1, shape[1]]], channel_multiplier=shape[1])
    b.call("add", "nisa.tensor_tensor", dst=numbers, data1=numbers, data2=counted, op="nl.add")
    b.store(numbers, shape, "int32")


# ------------------------------------------------------------------ reductions, search, selection


@part()
def _reduced(b: Builder) -> None:
    shape, dtype = b.shape(), b.floats()
    tile = b.load(shape, dtype)
    column = b.alloc("column", (shape[0], 1), "float32")
    word = b.op("add", "maximum", "minimum")
    b.call("reduce", "nisa.tensor_reduce", dst=column, op=word, data=tile, axis=1)
    b.call(
        "scale", "nisa.tensor_scalar", dst=tile, data=tile,
        op0="nl.subtract", operand0=column, op1="nl.multiply", operand1=0.5,
    )  # fmt: skip
    b.store(tile, shape, dtype)


@part()
def _scanned(b: Builder) -> None:
    shape = b.shape()
    one, two = b.load(shape, "float32"), b.load(shape, "float32", "load2")
    result = b.alloc("alloc", shape, "float32")
    b.call(
        "op", "nisa.tensor_tensor_scan", dst=result, data0=one, data1=two, initial=0.0,
        op0="nl.multiply", op1="nl.add",
    )  # fmt: skip
    b.store(result, shape, "float32")


@part()
def _searched(b: Builder) -> None:
    shape = b.shape()
    tile = b.load(shape, "float32")
    values = b.alloc("values", (shape[0], 8), "float32")
    places = b.alloc("places", (shape[0], 8), "uint32")
    b.call("max", "nisa.max8", dst=values, src=tile)
    b.call("find", "nisa.nc_find_index8", dst=places, data=tile, vals=values)
    b.store(places, (shape[0], 8), "uint32")


@part()
def _selected(b: Builder) -> None:
    shape = b.shape()
    tile = b.load(shape, "float32")
    result = b.alloc("alloc", shape, "float32")
    b.call(
        "op", "nisa.affine_select", dst=result, pattern=[[1, shape[1]]], channel_multiplier=-1,
        on_true_tile=tile, on_false_value=0.0, cmp_op=b.op("less_equal", "equal", "greater_equal"),
    )  # fmt: skip
    b.store(result, shape, "float32")


@part()
def _statistics(b: Builder) -> None:
    shape = b.shape()
    tile = b.load(shape, "float32")
    single = b.alloc("single", (shape[0], 6), "float32")
    both = b.alloc("both", (shape[0], 2), "float32")
    b.call("stats", "nisa.bn_stats", dst=single, data=tile)
    b.call("aggregate", "nisa.bn_aggr", dst=both, data=single)
    b.store(both, (shape[0], 2), "float32")


@part(accumulates=True)
def _summed(b: Builder) -> None:
    """A reduction in the accumulators of the Scalar Engine, over parts of a tile."""
    shape, count = b.shape(), b.random.randint(2, 4)
    tile = b.load(shape, "float32")
    result = b.alloc("alloc", shape, "float32")
    total = b.alloc("total", (shape[0], 1), "float32")
    step = shape[1] // 4
    for i in range(count):
        here = f"[:, {i * step}:{(i + 1) * step}]"
        more = {"reduce_res": total} if i == count - 1 else {}
        command = "reset_reduce" if i == 0 else "reduce"
        key = "first" if i == 0 else "last" if i == count - 1 else "more"
        b.call(
            key, "nisa.activation", dst=result + here, op="nl.exp", data=tile + here,
            reduce_op="nl.add", reduce_cmd=f"nisa.reduce_cmd.{command}", **more,
        )  # fmt: skip
    b.store(total, (shape[0], 1), "float32")
    b.store(f"{result}[:, 0:{count * step}]", (shape[0], count * step), "float32")


@part(accumulates=True)
def _lanes(b: Builder) -> None:
    """Two reductions one after the other, each in lanes of its own."""
    shape = b.shape(partitions=(128, 96))
    tile = b.load(shape, "float32")
    half = shape[1] // 2
    for rows, keys in (("64:96", ("whole",)), ("0:32", ("first", "last"))):
        columns = (f"0:{half}", f"{half}:{shape[1]}")
        result = b.alloc("alloc", shape, "float32")
        total = b.alloc("total", (32, 1), "float32")
        for key, column in zip(keys, columns, strict=False):
            here = f"[{rows}, {column}]"
            more = {} if key == "first" else {"reduce_res": total}
            command = "reduce" if key == "last" else "reset_reduce"
            b.call(
                key, "nisa.activation", dst=result + here, op="nl.exp", data=tile + here,
                reduce_op="nl.add", reduce_cmd=f"nisa.reduce_cmd.{command}", **more,
            )  # fmt: skip
            b.store(result + here, (32, half), "float32")
        b.store(total, (32, 1), "float32")


@part(since=3, accumulates=True)
def _maximum(b: Builder) -> None:
    """A reduction in the accumulators of the Vector Engine."""
    shape = b.shape()
    tile = b.load(shape, "float32")
    predicate = b.load(shape, "uint8", "load2")
    result = b.alloc("alloc", shape, "float32")
    total = b.alloc("total", (shape[0], 1), "float32")
    for key, command in (("first", "reset_reduce"), ("last", "reduce")):
        more = {"reduce_res": total} if key == "last" else {}
        b.call(
            key, "nisa.select_reduce", dst=result, predicate=predicate, on_true=tile,
            on_false=-9.0, reduce_cmd=f"nisa.reduce_cmd.{command}", reduce_op="nl.maximum", **more,
        )  # fmt: skip
    b.store(total, (shape[0], 1), "float32")
    b.store(result, shape, "float32")


@part(since=3, accumulates=True)
def _bounded(b: Builder) -> None:
    """Elements between two indices, and their maximum."""
    shape = b.shape()
    tile = b.load(shape, "float32")
    bounds = [b.load((shape[0], 1), "float32", key) for key in ("low", "high")]
    result = b.alloc("alloc", shape, "float32")
    total = b.alloc("total", (shape[0], 1), "float32")
    b.call(
        "range", "nisa.range_select", dst=result, on_true_tile=tile, comp_op0="nl.greater_equal",
        comp_op1="nl.less", bound0=bounds[0], bound1=bounds[1], reduce_res=total,
    )  # fmt: skip
    b.store(total, (shape[0], 1), "float32")
    b.store(result, shape, "float32")


@part(since=4, accumulates=True)
def _exponentials(b: Builder) -> None:
    shape = b.shape()
    tile = b.load(shape, "float32")
    result = b.alloc("alloc", shape, "float32")
    total = b.alloc("total", (shape[0], 1), "float32")
    b.call(
        "op", "nisa.exponential", dst=result, src=tile, max_value=1.0, reduce_res=total,
        reduce_cmd="nisa.reduce_cmd.reset_reduce",
    )  # fmt: skip
    b.call(
        "pair", "nisa.activate2", dst=tile, op="nl.exp", data=tile, imm0=2.0, imm1=1.0,
        op0="nl.multiply", op1="nl.add",
    )  # fmt: skip
    b.store(total, (shape[0], 1), "float32")
    b.store(result, shape, "float32")
    b.store(tile, shape, "float32")


# ------------------------------------------------------------------ matmuls and transposes


@part()
def _matmul(b: Builder) -> None:
    """An accumulation group."""
    rows, columns = b.random.choice((128, 64)), b.random.choice((128, 256, 512))
    inner, count = b.random.choice((128, 64)), b.random.randint(2, 3)
    product = b.alloc("product", (rows, columns), "float32", "psum")
    for i in range(count):
        left = b.load((inner, rows), "bfloat16", "left")
        right = b.load((inner, columns), "bfloat16", "right")
        key = "first" if i == 0 else "last" if i == count - 1 else "more"
        b.call(key, "nisa.nc_matmul", dst=product, stationary=left, moving=right, accumulate=i > 0)
    result = b.alloc("result", (rows, columns), "float32")
    b.call("copy", "nisa.tensor_copy", dst=result, src=product)
    b.store(result, (rows, columns), "float32")


@part()
def _banks(b: Builder) -> None:
    """A product in two banks of PSUM, and its sum with a tile in SBUF."""
    rows = b.random.choice((128, 64))
    left = b.load((128, rows), "bfloat16", "left")
    right = b.load((128, 1024), "bfloat16", "right")
    other = b.load((rows, 1024), "float32", "other")
    product = b.alloc("product", (rows, 1024), "float32", "psum")
    for key, here in (("first", "[:, 0:512]"), ("second", "[:, 512:1024]")):
        b.call(
            key, "nisa.nc_matmul", dst=product + here, stationary=left, moving=right + here,
            accumulate=False,
        )  # fmt: skip
    result = b.alloc("result", (rows, 1024), "float32")
    b.call("sum", "nisa.tensor_tensor", dst=result, data1=other, data2=product, op="nl.add")
    b.store(result, (rows, 1024), "float32")


@part()
def _transposed(b: Builder) -> None:
    rows, columns = b.random.choice((128, 96, 64)), b.random.choice((128, 32))
    tile = b.load((rows, columns), "float32")
    flipped = b.alloc("flipped", (columns, rows), "float32", "psum")
    b.call("transpose", "nisa.nc_transpose", dst=flipped, data=tile)
    result = b.alloc("result", (columns, rows), "float32")
    b.call("copy", "nisa.tensor_copy", dst=result, src=flipped)
    b.store(result, (columns, rows), "float32")


@part(since=4)
def _scaled_matmul(b: Builder) -> None:
    """MX: both inputs are quantized on chip."""
    given: dict[str, str] = {}
    for name, columns in (("stationary", 128), ("moving", 256)):
        source = b.load((128, columns * 4), "bfloat16", name)
        given[name] = b.alloc(f"{name}.data", (128, columns), "float8_e4m3fn_x4")
        scale = given[f"{name}_scale"] = b.alloc(f"{name}.scale", (128, columns), "uint8")
        b.call(f"{name}.quantize", "nisa.quantize_mx", dst=given[name], src=source, dst_scale=scale)
    product = b.alloc("product", (128, 256), "float32", "psum")
    b.call("matmul", "nisa.nc_matmul_mx", dst=product, **given)
    result = b.alloc("result", (128, 256), "float32")
    b.call("copy", "nisa.tensor_copy", dst=result, src=product)
    b.store(result, (128, 256), "float32")


# ------------------------------------------------------------------ views, addresses, loops


@part()
def _quarters(b: Builder) -> None:
    """Views of partitions and of every second element; DMA moves rows to any partition."""
    columns, dtype = b.random.choice((512, 1024)), "bfloat16"
    tile = b.load((128, columns), dtype)
    result = b.alloc("alloc", (128, columns), dtype)
    for i, (first, size) in enumerate(((0, 64), (64, 32), (96, 32))):
        here = f"[{first}:{first + size}]"
        b.call(f"copy{i}", "nisa.tensor_copy", dst=result + here, src=tile + here)
    b.call(
        "even", "nisa.tensor_scalar", dst=f"{result}[:, 0:{columns // 2}]",
        data=f"{tile}[:, {columns // 2}:{columns}]", op0="nl.multiply", operand0=2.0,
    )  # fmt: skip
    flat = b.name("v")
    b.text("reshape", f"{flat} = {result}.reshape((128, 2, {columns // 2}))")
    b.call(
        "swap", "nisa.tensor_copy", dst=f"{tile}.reshape((128, 2, {columns // 2}))[:, 1]",
        src=f"{flat}[:, 0]",
    )  # fmt: skip
    b.store(tile, (128, columns), dtype)
    b.store(result, (128, columns), dtype)


@part()
def _placed(b: Builder) -> None:
    """Fixed addresses: two tiles side by side, and a third that takes the place of the first."""
    partitions, columns = b.shape((128, 64))
    size, base = columns * 4, 64 * b.random.randint(0, 100)
    at = [f"(0, {base})", f"(0, {base + size})"]
    tiles: list[str] = []
    for key, address in (("first", at[0]), ("second", at[1])):
        tile = b.alloc(f"{key}.alloc", (partitions, columns), "float32", address=address)
        source = b.argument((partitions, columns), "float32")
        b.call(key, "nisa.dma_copy", dst=tile, src=source)
        tiles.append(tile)
    total = b.alloc("total", (partitions, columns), "float32")
    b.call("sum", "nisa.tensor_tensor", dst=total, data1=tiles[0], data2=tiles[1], op="nl.add")
    third = b.alloc("third.alloc", (partitions, columns), "float32", address=at[0])
    b.call("third", "nisa.activation", dst=third, op="nl.square", data=total)
    b.store(third, (partitions, columns), "float32")
    bank = f"(0, {2048 * b.random.choice((2, 3))})"
    product = b.alloc("product", (partitions, 512), "float32", "psum", address=bank)
    b.call("zero", "nisa.memset", dst=product, value=0.0)
    result = b.alloc("result", (partitions, 512), "float32")
    b.call("copy", "nisa.tensor_copy", dst=result, src=product)
    b.store(result, (partitions, 512), "float32")


@part()
def _rows(b: Builder) -> None:
    """A loop on the device with a constant bound."""
    (partitions, columns), count = b.shape(), b.random.randint(2, 6)
    source = b.argument((count, partitions, columns), "float32")
    out = b.output((count, partitions, columns), "float32")
    i = b.name("i")
    b.text("loop", f"for {i} in nl.dynamic_range({count}):")
    b.depth += 1
    tile = b.alloc("alloc", (partitions, columns), "float32")
    b.call("load", "nisa.dma_copy", dst=tile, src=f"{source}[{i}]")
    result = b.alloc("result", (partitions, columns), "float32")
    b.call("op", "nisa.activation", dst=result, op="nl.square", data=tile)
    b.call("store", "nisa.dma_copy", dst=f"{out}[{i}]", src=result)
    b.depth -= 1


@part()
def _counted(b: Builder) -> None:
    """A loop on the device whose bound is in a register; it may not run."""
    shape = b.shape()
    count = b.load((1, 1), "int32", "count")
    register, i = b.name("r"), b.name("i")
    b.call("register", "nisa.register_alloc", register)
    b.text("register_load", f"nisa.register_load({register}, {count})")
    tile = b.load(shape, "float32")
    b.text("loop", f"for {i} in nl.dynamic_range({register}):")
    b.depth += 1
    b.call("op", "nisa.tensor_scalar", dst=tile, data=tile, op0="nl.multiply", operand0=0.5)
    b.depth -= 1
    b.store(tile, shape, "float32")


@part()
def _unrolled(b: Builder) -> None:
    """A loop of Python's, with two tiles that take turns."""
    (partitions, columns), dtype = b.shape((128, 64)), "float32"
    source = b.argument((3, partitions, columns), dtype)
    out = b.output((3, partitions, columns), dtype)
    i = b.name("i")
    b.text("loop", f"for {i} in range(3):")
    b.depth += 1
    tile = b.alloc("alloc", (partitions, columns), dtype)
    result = b.alloc("result", (partitions, columns), dtype)
    b.call("load", "nisa.dma_copy", dst=tile, src=f"{source}[{i}]")
    b.call("op", "nisa.tensor_scalar", dst=result, data=tile, op0="nl.add", operand0=1.0)
    b.call("store", "nisa.dma_copy", dst=f"{out}[{i}]", src=result)
    b.depth -= 1


@part(since=3)
def _gathered(b: Builder) -> None:
    """Rows of a table, by indices that are loaded."""
    columns, count = b.random.choice((64, 256)), b.random.choice((64, 128))
    table = b.argument((1000, columns), "float32")
    numbers = b.load((count, 1), "int32", "numbers")
    tile = b.alloc("alloc", (count, columns), "float32")
    b.call("gather", "nisa.dma_copy", dst=tile, src=f"{table}.vector_select(0, {numbers})")
    b.store(tile, (count, columns), "float32")


@part()
def _constant(b: Builder) -> None:
    shape = b.shape((64, 32))
    tile = b.load(shape, "float32")
    data = b.name("c")
    b.text("constant", f"{data} = nl.shared_constant(np.ones({shape}, np.float32))")
    ones = b.alloc("ones", shape, "float32")
    b.call("load_ones", "nisa.dma_copy", dst=ones, src=data)
    b.call("op", "nisa.tensor_tensor", dst=tile, data1=tile, data2=ones, op="nl.add")
    b.store(tile, shape, "float32")


@part()
def _scheduled(b: Builder) -> None:
    """Instructions with names, and an edge between two that have nothing to do with each other."""
    shape = b.shape()
    one, two = b.name("first"), b.name("second")
    tiles = [b.load(shape, "float32"), b.load(shape, "float32", "load2")]
    b.call(
        "first", "nisa.activation", one, dst=tiles[0], op="nl.exp", data=tiles[0], name=f"'{one}'"
    )
    b.call(
        "second", "nisa.tensor_scalar", two, dst=tiles[1], data=tiles[1], op0="nl.add",
        operand0=1.0, name=f"'{two}'",
    )  # fmt: skip
    b.kernel.lines[-1].suffix = f".depends_on({one})"
    b.store(tiles[0], shape, "float32")
    b.store(tiles[1], shape, "float32")


# ------------------------------------------------------------------ two cores


@part(since=3, cores=2)
def _exchanged(b: Builder) -> None:
    """Each core writes a half of a shared tensor and reads the other's."""
    half, columns = b.shape((64, 32))
    me = b.name("me")
    b.text("me", f"{me} = nl.program_id()")
    source = b.argument((2, half, columns), "float32")
    shared = b.alloc("shared", (2, half, columns), "float32", "shared_hbm")
    out = b.output((2, half, columns), "float32")
    tile = b.alloc("alloc", (half, columns), "float32")
    b.call("load", "nisa.dma_copy", dst=tile, src=f"{source}[{me}]")
    b.call("op", "nisa.activation", dst=tile, op="nl.exp", data=tile)
    b.call("write", "nisa.dma_copy", dst=f"{shared}[{me}]", src=tile)
    b.call("barrier", "nisa.core_barrier", data=shared, cores=(0, 1))
    other = b.alloc("other", (half, columns), "float32")
    b.call("read", "nisa.dma_copy", dst=other, src=f"{shared}[1 - {me}]")
    b.call("store", "nisa.dma_copy", dst=f"{out}[{me}]", src=other)


@part(since=3, cores=2)
def _swapped(b: Builder) -> None:
    """The cores send each other a tile."""
    shape = b.shape((64, 32))
    me = b.name("me")
    b.text("me", f"{me} = nl.program_id()")
    tile = b.load(shape, "float32")
    other = b.alloc("alloc", shape, "float32")
    b.call(
        "send", "nisa.sendrecv", src=tile, dst=other, send_to_rank=f"1 - {me}",
        recv_from_rank=f"1 - {me}", pipe_id=0,
    )  # fmt: skip
    b.call("op", "nisa.activation", dst=other, op="nl.exp", data=other)
    b.store(other, shape, "float32")


def random_kernel(random: Random, needed: str, targets: Sequence[str] = TARGETS) -> RandomKernel:
    """A valid kernel that has a part of some kind, among up to two others."""
    kind = PARTS[needed]
    possible = [t for t in targets if TARGETS.index(t) + 2 >= kind.since]
    builder = Builder(random, random.choice(possible), kind.cores)
    others = [
        name
        for name, other in PARTS.items()
        if other.since <= builder.generation
        and other.cores == 1
        # A reduction may continue the accumulation of another part.
        and not (kind.accumulates and other.accumulates)
    ]
    names = [needed, *random.choices(others, k=random.randint(0, 2))]
    random.shuffle(names)
    for name in names:
        builder.add(name)
    return builder.finish()
