"""Ways to break a valid kernel, each with the rule that has to find it.

A mutation changes one statement of a random kernel, drops it, or adds one, and returns the
statement at which the finding is due: the one that is changed, or, where one is missing, the first
that goes wrong for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from support.random_kernels import TARGETS, Line, Part, RandomKernel

Change = Callable[[Part, Random], Line]


@dataclass(frozen=True)
class Mutation:
    """A way to break a kernel."""

    name: str
    part: str
    """The kind of part that it changes."""
    rules: frozenset[str]
    """The rules of which one has to be reported."""
    change: Change
    targets: tuple[str, ...]

    def apply(self, kernel: RandomKernel, random: Random) -> Line:
        """Break a kernel; the result is where that has to be found."""
        return self.change(kernel.part(self.part, random), random)


MUTATIONS: list[Mutation] = []
OLD = ("trn1", "trn2")


def mutation(
    part: str, *rules: str, targets: Sequence[str] = TARGETS
) -> Callable[[Change], Change]:
    """Declare a mutation of a kind of part, and the rules that it breaks."""

    def declare(change: Change) -> Change:
        name = change.__name__.strip("_")
        MUTATIONS.append(Mutation(name, part, frozenset(rules), change, tuple(targets)))
        return change

    return declare


def _setting(
    name: str, part: str, rule: str, key: str, targets: Sequence[str] = TARGETS, **args: str
) -> None:
    """A mutation that replaces arguments of a statement; `{x}` is the previous argument x."""

    def change(here: Part, random: Random) -> Line:
        line = random.choice(here.all(key))
        old = dict(line.args)
        line.args.update({name: value.format(**old) for name, value in args.items()})
        return line

    MUTATIONS.append(Mutation(name, part, frozenset((rule,)), change, tuple(targets)))


def _shape(line: Line) -> tuple[int, ...]:
    return tuple(int(n) for n in line.args["shape"].strip("()").split(",") if n)


def _reshaped(line: Line, *shape: int) -> Line:
    line.args["shape"] = str(shape)
    return line


# ------------------------------------------------------------------ buffers


_setting("input-in-hbm", "elementwise", "buffer", "load.alloc", buffer="nl.shared_hbm")
_setting("product-in-sbuf", "matmul", "buffer", "product", buffer="nl.sbuf")
_setting("moving-tile-in-psum", "matmul", "buffer", "right.alloc", buffer="nl.psum")
_setting("transpose-to-hbm", "transposed", "buffer", "flipped", buffer="nl.hbm")
_setting("load-to-psum", "activated", "buffer", "load.alloc", buffer="nl.psum")
_setting("both-inputs-in-psum", "banks", "both-in-psum", "sum", data1="{data2}")
_setting("gpsimd-reads-psum", "banks", "gpsimd-psum", "sum", engine="nisa.engine.gpsimd")
_setting("output-on-chip", "unrolled", "return-value", "output", buffer="nl.sbuf")
_setting("output-private", "swapped", "return-shared", "output", buffer="nl.hbm")
_setting("psum-address-in-a-bank", "placed", "psum-address", "product", address="(0, 4100)")


@mutation("constant", "constant-written")
def _constant_written(part: Part, random: Random) -> Line:
    load = part["load_ones"]
    write = part.call("nisa.dma_copy", dst=load.args["src"], src=load.args["dst"])
    return part.insert(write, after=load)


# ------------------------------------------------------------------ shapes


_setting("fewer-partitions", "elementwise", "partitions-match", "op", data2="{data2}[0:16]")
_setting("fewer-elements", "elementwise", "free-size-match", "op", data2="{data2}[:, 0:63]")
_setting("smaller-result", "activated", "free-size-match", "op", dst="{dst}[:, 1:64]")
_setting("smaller-load", "scaled", "size-match", "load", dst="{dst}[:, 0:32]")
_setting("smaller-store", "reduced", "size-match", "store", src="{src}[0:16]")
_setting("wide-column", "scaled", "column", "op", operand0="{data}[:, 0:2]")
_setting("reduced-partitions", "reduced", "reduce-axes", "reduce", axis="0")
_setting("reduced-into-a-tile", "reduced", "reduce-shape", "reduce", dst="{data}")
_setting("seven-maxima", "searched", "free-size-range", "max", dst="{dst}[:, 0:7]")
_setting("short-pattern", "selected", "pattern", "op", pattern="[[1, 63]]")
_setting("five-statistics", "statistics", "statistics-shape", "stats", dst="{dst}[:, 0:5]")
_setting("contraction-cut", "matmul", "matmul-shape", "last", moving="{moving}[0:32]")
_setting("stationary-cut", "matmul", "matmul-shape", "first", stationary="{stationary}[:, 0:32]")
_setting("not-transposed", "transposed", "transpose-shape", "transpose", dst="{data}")
_setting("address-too-high", "placed", "address-capacity", "first.alloc", address="(0, 300000)")
_setting(
    "scales-cut", "scaled_matmul", "mx-scale", "matmul", moving_scale="{moving_scale}[:, 0:128]"
)
_setting(
    "unpacked-result", "scaled_matmul", "quantize-shape", "moving.quantize", src="{src}[:, 0:256]"
)


@mutation("elementwise", "alloc-partitions")
def _many_partitions(part: Part, random: Random) -> Line:
    line = part["alloc"]
    return _reshaped(line, 128 + random.randint(1, 128), *_shape(line)[1:])


@mutation("elementwise", "alloc-size")
def _long_partition(part: Part, random: Random) -> Line:
    line = part["alloc"]
    return _reshaped(line, _shape(line)[0], 200_000 + random.randint(1, 999))


@mutation("matmul", "alloc-size")
def _large_psum_tile(part: Part, random: Random) -> Line:
    line = part["product"]
    return _reshaped(line, _shape(line)[0], 4097)


@mutation("banks", "matmul-tile", targets=OLD)
def _wide_matmul(part: Part, random: Random) -> Line:
    line = part["first"]
    for name in ("dst", "moving"):
        line.args[name] = line.args[name].partition("[")[0]
    return line


@mutation("banks", "psum-bank", targets=OLD)
def _over_a_bank(part: Part, random: Random) -> Line:
    line, start = part["second"], random.randint(1, 511)
    line.args["dst"] = line.args["dst"].replace("512:1024", f"{start}:{start + 512}")
    return line


@mutation("quarters", "view")
def _impossible_reshape(part: Part, random: Random) -> Line:
    line = part["reshape"]
    line.text = line.text.replace("(128, 2,", "(128, 3,")
    return line


# ------------------------------------------------------------------ how engines walk memory


@mutation("quarters", "start-partition")
def _shifted_partition(part: Part, random: Random) -> Line:
    line = part["copy1"]
    shift = random.choice((1, 2, 8, 16, 31))
    side = random.choice(("dst", "src"))
    line.args[side] = line.args[side].replace("[64:96]", f"[{64 - shift}:{96 - shift}]")
    return line


@mutation("quarters", "partition-step")
def _stepped_partitions(part: Part, random: Random) -> Line:
    line = part["copy0"]
    side = random.choice(("dst", "src"))
    line.args[side] = line.args[side].replace("[0:64]", "[0:128:2]")
    return line


@mutation("quarters", "overlap")
def _shifted_copy(part: Part, random: Random) -> Line:
    even = part["even"]
    tile = even.args["data"].partition("[")[0]
    copy = part.call("nisa.tensor_copy", dst=f"{tile}[:, 1:257]", src=f"{tile}[:, 0:256]")
    return part.insert(copy, before=even)


@mutation("quarters", "slow-mode", targets=("trn2", "trn3"))
def _strided_copy(part: Part, random: Random) -> Line:
    """Rows of a matrix, column by column."""
    line, columns = part["even"], _shape(part["load.alloc"])[1]
    tile = line.args["data"].partition("[")[0]
    line.args["data"] = f"{tile}.reshape((128, 2, {columns // 2})).permute((0, 2, 1))"
    line.args["dst"] = line.args["dst"].partition("[")[0]
    line.args["engine"] = "nisa.engine.vector"
    return line


@mutation("quarters", "access-pattern")
def _five_dimensions(part: Part, random: Random) -> Line:
    """The elements of a row in the order of their digits, backwards."""
    line, columns = part["even"], _shape(part["load.alloc"])[1]
    tile = line.args["data"].partition("[")[0]
    view = f"{tile}.reshape((128, {columns // 128}, 4, 4, 4, 2)).permute((0, 5, 4, 3, 2, 1))"
    line.args.update(dst=view, data=view)
    return line


@mutation("rows", "index-bounds")
def _one_iteration_more(part: Part, random: Random) -> Line:
    loop = part["loop"]
    head, _, count = loop.text.partition("(")
    loop.text = f"{head}({int(count.rstrip('):')) + random.randint(1, 3)}):"
    return loop


@mutation("rows", "index-bounds")
def _negative_index(part: Part, random: Random) -> Line:
    loop = part["loop"]
    loop.text = loop.text.replace("dynamic_range(", "dynamic_range(-1, ")
    return loop


_setting("indices-in-floats", "gathered", "index-tile", "numbers.alloc", dtype="nl.float32")
_setting("indices-in-hbm", "gathered", "index-tile", "numbers.alloc", buffer="nl.hbm")
_setting("indices-in-bytes", "gathered", "index-tile", "numbers.alloc", dtype="nl.uint8")


@mutation("gathered", "view")
def _gathered_on_chip(part: Part, random: Random) -> Line:
    line = part["gather"]
    tile = part["alloc"]
    numbers = line.args["src"].partition("(0, ")[2].rstrip(")")
    line.args["src"] = f"{tile.result}.vector_select(0, {numbers})"
    return line


# ------------------------------------------------------------------ data types


_setting("mixed-matmul", "matmul", "matmul-dtype", "left.alloc", dtype="nl.float32")
_setting("bits-of-floats", "bits", "bitvec-dtype", "load.alloc", dtype="nl.float32")
_setting("signed-places", "searched", "dtype", "places", dtype="nl.float32")
_setting("fraction-in-integers", "filled", "memset-dtype", "left", value="0.5")
_setting("too-large-for-int32", "filled", "constant-range", "left", value="2**31")
_setting("float-scales", "scaled_matmul", "dtype", "moving.scale", dtype="nl.float32")
_setting("quantized-floats", "scaled_matmul", "dtype", "moving.alloc", dtype="nl.float32")
_setting("transposed-to-integers", "transposed", "same-dtype", "flipped", dtype="nl.int32")


@mutation("scaled_matmul", "dtype-computable")
def _computing_on_packed(part: Part, random: Random) -> Line:
    data = part["moving.data"].result
    function = part.call("nisa.activation", dst=data, op="nl.exp", data=data)
    return part.insert(function, before=part["matmul"])


# ------------------------------------------------------------------ operators and arguments


_setting("add-as-activation", "activated", "activation-function", "op", op="nl.add")
_setting("exp-as-alu", "elementwise", "alu-operator", "op", op="nl.exp")
_setting("unary-on-two", "elementwise", "alu-operator", "op", op="nl.abs")
_setting("exp-in-a-pair", "combined", "alu-operator", "op", op1="nl.exp")
_setting("bits-in-a-pair", "combined", "alu-operator", "op", op0="nl.bitwise_and")
_setting("unary-scan", "scanned", "alu-operator", "op", op0="nl.abs")
_setting("two-kinds", "bits", "operators-same-kind", "shift", op1="nl.add")
_setting("reversed-nothing", "scaled", "reverse-needs-op", "op", reverse1="True")
_setting("operand-without-operator", "scaled", "op-with-operand", "op", operand1="1.0")
_setting("reduce-with-power", "reduced", "reducible", "reduce", op="nl.power")
_setting("select-by-addition", "selected", "comparison", "op", cmp_op="nl.add")
_setting("sum-without-operator", "summed", "reduce-cmd-needs-op", "last", reduce_op="None")
_setting("multiply-in-accumulators", "summed", "reduce-op", "first", reduce_op="nl.multiply")
_setting("not-a-pair", "exponentials", "op-pair", "pair", op0="nl.subtract", op1="nl.multiply")
_setting("initial-value", "exponentials", "reduce-init", "op", reduce_init="1.0")
_setting("sum-of-nothing", "activated", "no-effect", "op", reduce_op="nl.add")
_setting("slope-of-exp", "exponentials", "no-effect", "pair", relu_param="0.5")
_setting("constant-skipped", "elementwise", "no-effect", "load", oob_mode="nisa.oob_mode.skip")
_setting("scalar-engine-adds", "elementwise", "engine", "op", engine="nisa.engine.scalar")
_setting("tensor-engine-copies", "transposed", "engine", "copy", engine="nisa.engine.tensor")
_setting("late-operator", "elementwise", "operator-generation", "op", OLD, op="nl.abs_max")
_setting("late-argument", "elementwise", "argument-generation", "load", OLD, priority="1")
_setting("urgent-load", "elementwise", "dma-arguments", "load", ("trn3",), priority="7")
_setting("three-cores", "exchanged", "barrier-cores", "barrier", cores="(0, 2)")


def _lowered(part: str, key: str, target: str) -> None:
    def change(here: Part, random: Random) -> Line:
        here.kernel.target = target
        return here[key]

    name = f"{key}-on-{target}"
    since = TARGETS[TARGETS.index(target) + 1]
    MUTATIONS.append(Mutation(name, part, frozenset(("generation",)), change, (since,)))


_lowered("scaled_matmul", "matmul", "trn2")
_lowered("scaled_matmul", "moving.quantize", "trn2")
_lowered("exponentials", "op", "trn2")
_lowered("exponentials", "pair", "trn2")
_lowered("bounded", "range", "trn1")


@mutation("exchanged", "two-cores")
def _single_core(part: Part, random: Random) -> Line:
    part.kernel.cores = 1
    return part["barrier"]


@mutation("counted", "frozen-register")
def _written_index(part: Part, random: Random) -> Line:
    index = part["loop"].text.split()[1]
    write = Line("inserted", part.number, f"nisa.register_move({index}, {random.randint(0, 9)})")
    return part.insert(write, before=part["op"])


@mutation("counted", "loop-step")
def _standing_loop(part: Part, random: Random) -> Line:
    loop = part["loop"]
    loop.text = loop.text.replace("dynamic_range(", "dynamic_range(0, ").replace("):", ", 0):")
    return loop


# ------------------------------------------------------------------ written and unwritten data


@mutation("elementwise", "read-unwritten")
def _dropped_load(part: Part, random: Random) -> Line:
    part.drop(part[random.choice(("load", "load2"))])
    return part["op"]


@mutation("scaled", "read-unwritten")
def _dropped_memset(part: Part, random: Random) -> Line:
    part.drop(part["column"])
    return part["op"]


@mutation("activated", "undefined-use")
def _half_a_load(part: Part, random: Random) -> Line:
    load = part["load"]
    rows = _shape(part["load.alloc"])[0]
    keep = random.randint(1, rows - 1)
    load.args.update({name: f"{tile}[0:{keep}]" for name, tile in load.args.items()})
    return part["store"]


@mutation("filled", "undefined-use")
def _gap_of_one(part: Part, random: Random) -> Line:
    right = part["right"]
    start = int(right.args["dst"].partition(", ")[2].partition(":")[0])
    right.args["dst"] = right.args["dst"].replace(f"{start}:", f"{start + 1}:")
    return part["store"]


@mutation("quarters", "undefined-use")
def _dropped_quarter(part: Part, random: Random) -> Line:
    part.drop(part[random.choice(("copy1", "copy2"))])
    # Half of the columns are written again by 'even'; 'swap' reads these alone.
    return part.all("store")[1]


@mutation("counted", "read-unwritten")
def _dropped_count(part: Part, random: Random) -> Line:
    part.drop(part["count"])
    return part["register_load"]


@mutation("counted", "register-bits")
def _float_count(part: Part, random: Random) -> Line:
    part["count.alloc"].args["dtype"] = "nl.float32"
    return part["register_load"]


@mutation("transposed", "read-unwritten")
def _dropped_transpose(part: Part, random: Random) -> Line:
    part.drop(part["transpose"])
    return part["copy"]


@mutation("unrolled", "read-unwritten")
def _dropped_compute(part: Part, random: Random) -> Line:
    part.drop(part["op"])
    return part["store"]


@mutation("rows", "read-unwritten")
def _dropped_load_in_a_loop(part: Part, random: Random) -> Line:
    part.drop(part["load"])
    return part["op"]


@mutation("elementwise", "output-unwritten")
def _dropped_store(part: Part, random: Random) -> Line:
    part.drop(part["store"])
    return part["output"]


@mutation("elementwise", "output-partly-unwritten")
def _half_a_store(part: Part, random: Random) -> Line:
    store = part["store"]
    keep = random.randint(1, _shape(part["output"])[1] - 1)
    store.args.update({name: f"{tile}[:, 0:{keep}]" for name, tile in store.args.items()})
    return part["output"]


@mutation("unrolled", "output-partly-unwritten")
def _one_block_less(part: Part, random: Random) -> Line:
    part["loop"].text = part["loop"].text.replace("range(3)", "range(2)")
    return part["output"]


# ------------------------------------------------------------------ accumulators and PSUM


_setting(
    "reset-dropped", "summed", "accumulator-undefined", "first", reduce_cmd="nisa.reduce_cmd.reduce"
)
_setting(
    "vector-reset-dropped",
    "maximum",
    "accumulator-undefined",
    "first",
    reduce_cmd="nisa.reduce_cmd.reduce",
)
_setting(
    "other-operator",
    "summed",
    "accumulator-mixed",
    "last",
    ("trn2", "trn3"),
    reduce_op="nl.maximum",
)
_setting("other-vector-operator", "maximum", "accumulator-mixed", "last", reduce_op="nl.minimum")
_setting("first-adds", "matmul", "psum-accumulate", "first", accumulate="True")
_setting("bank-adds", "banks", "psum-accumulate", "second", accumulate="True")


@mutation("lanes", "accumulator-resumed")
def _other_lanes(part: Part, random: Random) -> Line:
    last = part["last"]
    last.args["data"] = last.args["data"].replace("0:32", "64:96")
    last.args["dst"] = last.args["dst"].replace("0:32", "64:96")
    return last


@mutation("summed", "accumulator-undefined")
def _dropped_reset(part: Part, random: Random) -> Line:
    first = part["first"]
    part.drop(first)
    return (part.all("more") or part.all("last"))[0]


@mutation("summed", "accumulator-lost")
def _result_not_read(part: Part, random: Random) -> Line:
    del part["last"].args["reduce_res"]
    return part["last"]


@mutation("summed", "accumulator-lost")
def _second_reset(part: Part, random: Random) -> Line:
    part["last"].args["reduce_cmd"] = "nisa.reduce_cmd.reset_reduce"
    return part["last"]


@mutation("maximum", "accumulator-undefined")
def _clobbered(part: Part, random: Random) -> Line:
    last = part["last"]
    clobber = part.call(
        "nisa.select_reduce", dst=last.args["dst"], predicate=last.args["predicate"],
        on_true=last.args["on_true"], on_false="0.0",
    )  # fmt: skip
    return part.insert(clobber, before=last)


@mutation("matmul", "psum-open-read")
def _read_too_early(part: Part, random: Random) -> Line:
    for line in (part["result"], part["copy"]):
        part.drop(line)
        part.insert(line, before=part["last"])
    return part["copy"]


@mutation("matmul", "psum-overwritten", targets=OLD)
def _overwritten_group(part: Part, random: Random) -> Line:
    last = part["last"]
    return part.insert(part.call("nisa.memset", dst=last.args["dst"], value="0.0"), before=last)


@mutation("matmul", "psum-interleaved")
def _two_groups_in_a_bank(part: Part, random: Random) -> Line:
    first, last = part["first"], part["last"]
    columns = _shape(part["product"])[1] // 2
    for line in (first, *part.all("more"), last):
        line.args["dst"] += f"[:, 0:{columns}]"
        line.args["moving"] += f"[:, 0:{columns}]"
    other = part.call("nisa.nc_matmul", **first.args)
    other.args["dst"] = (
        other.args["dst"]
        .replace("[:, 0:", f"[:, {columns}:")
        .replace(f":{columns}]", f":{2 * columns}]")
    )
    return part.insert(other, before=last)


# ------------------------------------------------------------------ memory


@mutation("elementwise", "sbuf-capacity")
def _grown_tiles(part: Part, random: Random) -> Line:
    """Two tiles that fit by themselves, in use at one time."""
    op = part["op"]
    for name in ("big1", "big2"):
        alloc = part.call("nl.ndarray", shape="(128, 33000)", dtype="nl.float32", buffer="nl.sbuf")
        alloc.result = name
        part.insert(alloc, before=op)
        part.insert(part.call("nisa.memset", dst=name, value="0.0"), before=op)
    due = part.kernel.lines[part.kernel.lines.index(op) - 1]
    both = part.call("nisa.tensor_tensor", dst="big1", data1="big1", data2="big2", op="nl.add")
    part.insert(both, before=op)
    return due


@mutation("banks", "psum-capacity")
def _grown_psum(part: Part, random: Random) -> Line:
    """A tile of seven banks while two are in use."""
    second = part["second"]
    alloc = part.call("nl.ndarray", shape="(128, 3584)", dtype="nl.float32", buffer="nl.psum")
    alloc.result = "large"
    part.insert(alloc, before=second)
    part.insert(part.call("nisa.memset", dst="large", value="0.0"), before=second)
    sink = part.call("nisa.tensor_copy", dst="large", src="large")
    part.insert(sink, after=second)
    return part.kernel.lines[part.kernel.lines.index(second) - 1]


@mutation("placed", "address-overlap")
def _moved_address(part: Part, random: Random) -> Line:
    line = part["second.alloc"]
    size = 4 * _shape(line)[1]
    base = int(line.args["address"].split(",")[1].rstrip(")"))
    line.args["address"] = f"(0, {base - 4 * random.randint(1, size // 4)})"
    return line


@mutation("placed", "address-overlap")
def _moved_use(part: Part, random: Random) -> Line:
    """The third tile takes the place of the first before that is read."""
    total, third = part["sum"], part["third"]
    write = part.call("nisa.memset", dst=third.args["dst"], value="0.0")
    alloc = part["third.alloc"]
    part.drop(alloc)
    part.insert(alloc, before=total)
    return part.insert(write, before=total)


# ------------------------------------------------------------------ order, and two cores


@mutation("exchanged", "core-race")
def _dropped_barrier(part: Part, random: Random) -> Line:
    part.drop(part["barrier"])
    return part["read"]


@mutation("exchanged", "core-race")
def _early_barrier(part: Part, random: Random) -> Line:
    barrier = part["barrier"]
    part.drop(barrier)
    part.insert(barrier, before=part["write"])
    return part["read"]


@mutation("exchanged", "cores-wait")
def _one_core_waits(part: Part, random: Random) -> Line:
    barrier = part["barrier"]
    me = part["me"].text.partition(" ")[0]
    part.insert(
        Line("inserted", part.number, f"if {me} == {random.randint(0, 1)}:"), before=barrier
    )
    barrier.depth += 1
    return barrier


@mutation("exchanged", "core-double-write")
def _same_block(part: Part, random: Random) -> Line:
    store = part["store"]
    store.args["dst"] = store.args["dst"].partition("[")[0] + "[0]"
    return store


@mutation("exchanged", "cores-differ")
def _one_core_allocates(part: Part, random: Random) -> Line:
    shared = part["shared"]
    me = part["me"].text.partition(" ")[0]
    part.insert(Line("inserted", part.number, f"if {me} == {random.randint(0, 1)}:"), before=shared)
    more = part.call("nl.ndarray", **shared.args)
    more.result = "more"
    part.insert(more, before=shared)
    more.depth += 1
    return more


def _exchange(name: str, rule: str, argument: str, value: str) -> None:
    def change(part: Part, random: Random) -> Line:
        me = part["me"].text.partition(" ")[0]
        part["send"].args[argument] = value.format(me=me)
        return part["send"]

    MUTATIONS.append(Mutation(name, "swapped", frozenset((rule,)), change, TARGETS))


_exchange("sent-to-itself", "sendrecv-pair", "send_to_rank", "{me}")
_exchange("received-from-itself", "sendrecv-pair", "recv_from_rank", "{me}")
_exchange("other-pipe", "cores-wait", "pipe_id", "{me}")
_exchange("third-rank", "sendrecv-rank", "send_to_rank", "2")


@mutation("scheduled", "schedule-name")
def _unknown_name(part: Part, random: Random) -> Line:
    first, second = part["first"], part["second"]
    first.args["name"] = second.args["name"]
    return second


@mutation("scheduled", "schedule-cycle")
def _cyclic_edges(part: Part, random: Random) -> Line:
    second = part["second"]
    first = part["first"]
    edge = f"{first.result}.depends_on({second.result})"
    part.insert(Line("inserted", part.number, edge), after=second)
    return first


@mutation("scheduled", "schedule-cycle")
def _edge_against_data(part: Part, random: Random) -> Line:
    """The first instruction has to run after one that needs its result."""
    first, second = part["first"], part["second"]
    second.suffix = ""
    second.args["data"] = first.args["dst"]
    edge = f"{first.result}.depends_on({second.result})"
    part.insert(Line("inserted", part.number, edge), after=second)
    return first


@mutation("unrolled", "anti-dependence")
def _single_buffer(part: Part, random: Random) -> Line:
    alloc, loop = part["alloc"], part["loop"]
    part.drop(alloc)
    part.insert(alloc, before=loop)
    return part["load"]


@mutation("elementwise", "output-dependence")
def _two_writers(part: Part, random: Random) -> Line:
    op = part["op"]
    other = part.call("nisa.memset", dst=op.args["dst"], value="0.0", engine="nisa.engine.gpsimd")
    part.insert(other, before=op)
    return other


# ------------------------------------------------------------------ integers in float32

_setting(
    "product-of-integers", "bits", "rounded-integers", "op", op="nl.multiply",
    engine="nisa.engine.vector",
)  # fmt: skip


# ------------------------------------------------------------------ waste


@mutation("elementwise", "redundant-fill")
def _redundant_fill(part: Part, random: Random) -> Line:
    op = part["op"]
    return part.insert(part.call("nisa.memset", dst=op.args["dst"], value="0.0"), before=op)


@mutation("reduced", "dead-store")
def _unused_result(part: Part, random: Random) -> Line:
    part["scale"].args["operand0"] = "1.0"
    return part["reduce"]


@mutation("elementwise", "unused-tile")
def _unused_tile(part: Part, random: Random) -> Line:
    alloc = part.call("nl.ndarray", **part["alloc"].args)
    alloc.result = "unused"
    return part.insert(alloc, before=part["op"])


@mutation("elementwise", "redundant-copy")
def _redundant_copy(part: Part, random: Random) -> Line:
    op = part["op"]
    alloc = part.call("nl.ndarray", **part["load.alloc"].args)
    alloc.result = "copied"
    part.insert(alloc, before=op)
    copy = part.call("nisa.tensor_copy", dst="copied", src=op.args["data1"])
    op.args["data1"] = "copied"
    return part.insert(copy, before=op)


@mutation("phases", "table-reload")
def _alternating_functions(part: Part, random: Random) -> Line:
    one, two = part["op1"], part["op2"]
    one.args["op"], two.args["op"] = two.args["op"], one.args["op"]
    return two


@mutation("activated", "small-dma")
def _transposing_load(part: Part, random: Random) -> Line:
    """Elements one by one, as a load that transposes would have them."""
    load = part["load"]
    rows, columns = _shape(part["load.alloc"])
    load.args["dst"] += f".reshape(({rows}, {columns // 32}, 32)).permute((0, 2, 1))"
    load.args["src"] = f"{load.args['src']}.reshape(({rows}, 32, {columns // 32}))"
    return load


@mutation("elementwise", "repeated-load")
def _loaded_again(part: Part, random: Random) -> Line:
    """Load the same data once more, for the second operand."""
    op = part["op"]
    alloc = part.call("nl.ndarray", **part["load.alloc"].args)
    alloc.result = "again"
    part.insert(alloc, before=op)
    load = part.call("nisa.dma_copy", dst="again", src=part["load"].args["src"])
    op.args["data2"] = "again"
    return part.insert(load, before=op)
