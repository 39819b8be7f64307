"""Planted bugs are found at their lines, and right kernels are found right."""

import importlib
import importlib.util
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from support.examples import examples
from support.paths import EXAMPLES as FOLDER
from typer.testing import CliRunner

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.cli import app
from nkijit.passes.values.items import RecordError

ATTENTION = (FOLDER / "flash_attention.py").read_text()
COMMON = importlib.import_module("common")

CARRY = "nisa.activation(dst=carry, op=nl.exp, data=before, scale=scale, bias=shift)"
PLANTS = {
    "no scale": (CARRY, CARRY.replace(" scale=scale,", ""), "carry", "nisa.activation"),
    "the wrong maximum": ("op=nl.maximum)", "op=nl.minimum)", "maxima", "nisa.tensor_tensor"),
    "the sum is subtracted": (
        "op1=nl.add,", "op1=nl.subtract,", "p_sum", "nisa.scalar_tensor_tensor"
    ),
    "too few products": (
        "accumulate=c > 0", "accumulate=c > 128", "product", "nisa.nc_matmul"
    ),
}  # fmt: skip
"""The changed expression, and the tile and instruction that depart first."""


def reference(q, k, v):
    """Attention in blocks as the kernel does it, in float64 and without its code."""
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    scale = q.shape[1] ** -0.5
    scores = np.where(np.tri(len(q), dtype=bool), q @ k.T, -np.inf)

    def largest(i, end):
        return scores[128 * i : 128 * (i + 1), :end].max(axis=1, keepdims=True)

    def p(i, j, start):
        end = min(start + 512, 128 * (i + 1))
        return np.exp(scale * (scores[128 * i : 128 * (i + 1), start:end] - largest(i, end)))

    def p_sum(i, j, start):
        sums = p(i, j, start).sum(axis=1)
        # The first block's tile takes the others'.
        return sums if i < 4 or j > 0 else sums_of_all(i)

    def sums_of_all(i):
        end = 128 * (i + 1)
        return np.exp(scale * (scores[128 * i : end, :end] - largest(i, end))).sum(axis=1)

    def maxima(i):
        ends = [min(start + 512, 128 * (i + 1)) for start in range(0, 128 * (i + 1), 512)]
        return np.concatenate([largest(i, end) for end in ends], axis=1)

    def carry(i, j, start):
        return np.exp(scale * (largest(i, start) - largest(i, start + 512)))

    def product(i, j, start):
        end = min(start + 512, 128 * (i + 1))
        return p(i, j, start) @ v[start:end]

    exponentials = np.exp(scale * (scores - scores.max(axis=1, keepdims=True)))
    out = exponentials / exponentials.sum(axis=1, keepdims=True) @ v
    return {
        "maxima": maxima, "p": p, "p_sum": p_sum, "carry": carry, "product": product, "out": out
    }  # fmt: skip


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def inputs(dtype="bfloat16"):
    random = np.random.default_rng(3)
    stored = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16}[dtype]
    return [random.standard_normal((640, 64)).astype(np.float32).astype(stored) for _ in "qkv"]


def plant(folder, name):
    before, after, tile, op = PLANTS[name]
    changed = ATTENTION.replace(before, after)
    assert changed != ATTENTION
    path = folder / "planted.py"
    path.write_text(changed)
    return module(path).flash_attention, tile, op


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_flash_attention_agrees_with_its_reference_itself_and_float32(dtype):
    kernel = module(FOLDER / "flash_attention.py").flash_attention
    for against in (reference, "float32", kernel):
        found = kernel.bisect(*inputs(dtype), against=against)
        assert not found, found
        assert found.compared > 20
        assert "results agree" in str(found)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found_by_a_reference(tmp_path, name, dtype):
    kernel, tile, op = plant(tmp_path, name)
    found = kernel.bisect(*inputs(dtype), against=reference)
    assert found
    assert found.departure.tile == tile
    assert found.departure.instruction.op == op


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found_by_the_version_before(tmp_path, name, dtype):
    kernel, tile, op = plant(tmp_path, name)
    good = module(FOLDER / "flash_attention.py").flash_attention
    found = kernel.bisect(*inputs(dtype), against=good)
    assert found
    assert found.departure.tile == tile
    assert found.departure.instruction.op == op
    assert "another run of flash_attention" in str(found)


def test_the_first_bug_is_reported_with_its_line_operands_and_values(tmp_path):
    kernel, *_ = plant(tmp_path, "no scale")
    good = module(FOLDER / "flash_attention.py").flash_attention
    text = str(kernel.bisect(*inputs(), against=good)).splitlines()
    line = 1 + [each.strip() for each in ATTENTION.splitlines()].index(CARRY)
    assert f"planted.py:{line}: nisa.activation departs: carry[" in text[0]
    assert text[0].endswith("(i=4, j=1, start=512)")
    assert text[1] == "    nisa.activation(dst=carry, op=nl.exp, data=before, bias=shift)"
    assert text[2].startswith("  off by ")
    assert text[4:7] == [
        "  scale is missing, there it is 0.125",
        "  data = maxima is the same, bit by bit",
        "  bias = shift is the same, bit by bit",
    ]


def variances(x, dtype, shifted):
    """The variance of rows, of which one way loses all digits."""

    @nki.jit
    def variance(x):
        rows, columns = x.shape
        out = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        mean = nl.ndarray((rows, 1), dtype=dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=mean, op=nl.add, data=tile, axis=1)
        nisa.tensor_scalar(dst=mean, data=mean, op0=nl.multiply, operand0=1 / columns)
        squares = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=squares, data1=tile, data2=tile, op=nl.multiply)
        total = nl.ndarray((rows, 1), dtype=dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=squares, axis=1)
        nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=1 / columns)
        square = nl.ndarray((rows, 1), dtype=dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=square, data1=mean, data2=mean, op=nl.multiply)
        result = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=result, data1=total, data2=square, op=nl.subtract)
        nisa.dma_copy(dst=out, src=result)
        return out

    return variance.bisect(x + shifted, against="float32")


def test_float32_shows_where_digits_are_lost():
    x = np.random.default_rng(0).standard_normal((16, 256)).astype(np.float32)
    assert not variances(x, nl.float32, 0)
    found = variances(x, nl.bfloat16, np.float32(300))
    assert found.departure.tile == "result"
    assert found.departure.instruction.op == "nisa.tensor_tensor"
    assert "the same kernel in float32" in str(found)


EXAMPLES = [
    pytest.param(example, dtype, id=f"{example.name}-{dtype}")
    for example in examples(
        "softmax", "rmsnorm", "layernorm", "mamba_scan", "topk_router", "mxfp8_matmul"
    )
    for dtype in example.dtypes
]


@pytest.mark.parametrize(("example", "dtype"), EXAMPLES)
def test_examples_agree_with_float32(example, dtype):
    given = example.inputs(replace(example.small, dtype=dtype))
    found = example.kernel.bisect(**given, against="float32")
    assert not found, found


@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(2):
        tile = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[4 * i : 4 * i + 4])
        twice = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=twice, data=tile, op0=nl.multiply, operand0=2.0 + i)
        nisa.dma_copy(dst=out[4 * i : 4 * i + 4], src=twice)
    return out


def test_references_are_arrays_lists_and_functions_of_loops():
    x = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    halves = [2 * x[:4], 2 * x[4:]]
    for given in (
        halves,
        np.array(halves),
        lambda i: halves[i],
        lambda i: halves[i] if i else None,
    ):
        found = doubled.bisect(x, against={"twice": given})
        assert found.departure.instruction.loops == {"i": 1}
        assert found.departure.tile == "twice"
    wrong = doubled.bisect(x, against=lambda x: {"twice": halves}).departure
    index = wrong.index
    assert wrong.values[index] == np.float32(3) * x[4:][index]
    assert wrong.reference[index] == 2 * x[4:][index]
    assert not doubled.bisect(x, against={"twice": [2 * x[:4], 3 * x[4:]]})


def test_references_that_cannot_be_compared_are_refused():
    x = np.zeros((8, 8), np.float32)
    for against, message in (
        ({"two": x}, "has 'two', which the kernel does not write; it writes tile, twice, out"),
        ({"twice": x}, "one 'twice' of shape .* the kernel has 2 of them; .* a function of i"),
        ({"twice": [x]}, "the reference has 1 of 'twice', the kernel 2"),
        ({"out": x[:3]}, r"has shape \(3, 8\) for <out"),
        (
            3,
            r"an array for each result .*8x8 for 'out'.*, got 3 .int.",
        ),
        ((x, x), r"got float32 of shape \(8, 8\), float32 of shape \(8, 8\)"),
        ({}, r"got \{\} \(dict\); the kernel's variables are tile, twice, out"),
        (lambda x: None, r"got None \(NoneType\)"),
        ("bfloat16", "got 'bfloat16'"),
    ):
        with pytest.raises(RecordError, match=message):
            doubled.bisect(x, against=against)


def test_a_reference_may_return_the_results_of_the_kernel():
    x = np.ones((8, 8), np.float32)
    result = np.repeat(np.float32([[2], [3]]), 4, axis=0) * x
    for right, wrong in ((result, 3 * x), ((result,), [3 * x])):
        assert not doubled.bisect(x, against=lambda x, right=right: right)
        departure = doubled.bisect(x, against=lambda x, wrong=wrong: wrong).departure
        assert departure.tile == "out"


@nki.jit
def twice_in_sequence(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    for i in nl.dynamic_range(3):  # noqa: B007
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)
    for i in nl.dynamic_range(2):  # noqa: B007
        nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=100.0)
    nisa.dma_copy(dst=out, src=t)
    return out


def test_loops_in_sequence_are_compared_one_by_one():
    x = np.zeros((1, 2), np.float32)
    right = [x, x + 1, x + 2, x + 3, x + 103, x + 203]
    assert not twice_in_sequence.bisect(x, against={"t": right})
    for number in range(1, 6):
        wrong = [each + 7 * (n == number) for n, each in enumerate(right)]
        found = twice_in_sequence.bisect(x, against={"t": wrong})
        assert found.departure.instruction.number == number
    first = twice_in_sequence.bisect(x, against={"t": [None, x, None, None, None, None]})
    assert first.departure.instruction.loops == {"i": 0}
    assert first.departure.instruction.numbers == {"operand0": 1.0}
    # A function of the index says the same of both loops.
    function = lambda i=None: None if i is None else x + i + 1  # noqa: E731
    message = r"two instances, <t: .* i=0 as of #1 .*> and <t: .* i=0 as of #4 .*>; give a list"
    with pytest.raises(RecordError, match=message):
        twice_in_sequence.bisect(x, against={"t": function})


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plant(tmp_path, "no scale")
    (tmp_path / "good.py").write_text(ATTENTION)
    (tmp_path / "ref.py").write_text("def right(q, k, v):\n    return {'first': 0 * q[:128, :1]}\n")
    for name, array in zip("qkv", inputs("float32"), strict=True):
        np.save(f"{name}.npy", array)
    given = [part for name in "qkv" for part in ("-i", f"{name}={name}.npy")]
    run = CliRunner().invoke
    result = run(app, ["bisect", "planted.py:flash_attention", *given, "--against", "good.py"])
    assert result.exit_code == 1, result.output
    assert "nisa.activation departs: carry[" in result.output
    result = run(app, ["bisect", "good.py", *given, "--reference", "ref.py:right"])
    assert result.exit_code == 0, result.output
    assert "1 result agrees" in result.output
    result = run(app, ["bisect", "good.py", *given, "--float32"])
    assert result.exit_code == 0, result.output
    for wrong in ([], ["--float32", "--against", "good.py"]):
        result = run(app, ["bisect", "good.py", *given, *wrong])
        assert result.exit_code == 2
        assert "one of --reference, --against and --float32" in result.output


@nki.jit
def in_blocks(x, width=64, factor=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for j in range(0, x.shape[1], width):
        block = nl.load(x[:, j : j + width])
        nl.store(out[:, j : j + width], nl.multiply(block, factor))
    return out


@nki.jit
def first_column(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x[:, 0:1]))
    return out


def test_versions_without_common_instructions_are_compared_by_their_results():
    x = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
    record = in_blocks.record(x)
    same = record.bisect(in_blocks.record(x, width=32))
    assert not same
    assert same.compared == 1
    assert "no instruction has a counterpart" in str(same)
    other = record.bisect(in_blocks.record(x, width=32, factor=3.0))
    assert other.departure.tile == "out"
    assert other.departure.index == (127, 127)  # the largest difference
    assert np.array_equal(other.departure.reference, x * 3.0)


def test_versions_without_anything_in_common_are_refused():
    x = np.ones((128, 128), np.float32)
    with pytest.raises(RecordError, match="nothing is comparable"):
        in_blocks.record(x).bisect(first_column.record(x))
