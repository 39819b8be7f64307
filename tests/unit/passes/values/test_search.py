"""Where NaN and infinities come from: planted ones are found where they were planted."""

import numpy as np
import pytest
from typer.testing import CliRunner

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.cli import app
from nkijit.passes.values.instructions import Statistics
from nkijit.passes.values.search import saturated


@nki.jit
def logs(x, bias):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    column = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=column, src=bias)
    fill = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=fill, value=-float("inf"))
    for i in range(2):  # noqa: B007
        tile = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        shifted = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=shifted, data=tile, op0=nl.subtract, operand0=column)
        logged = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=logged, op=nl.log, data=shifted)
        nisa.dma_copy(dst=out, src=logged)
    return out


LINE = logs.func.__code__.co_firstlineno


def test_the_instruction_that_makes_the_first_nan_is_found_with_its_operands():
    x = np.full((4, 8), 3.0, np.float32)
    x[2, 5] = 1.5
    bias = np.ones((4, 1), np.float32)
    bias[2] = 2.0
    found = logs.record(x, bias).first(np.isnan)
    assert found.instruction.op == "nisa.activation"
    assert found.instruction.location.line == LINE + 13
    assert found.instruction.loops == {"i": 0}
    assert found.had is None
    assert (found.operand.tile, found.index, found.count) == ("logged", (2, 5), 1)
    assert np.isnan(found.value)
    text = str(found).splitlines()
    assert text[0].endswith(
        f"test_search.py:{LINE + 13}: nisa.activation made it: logged[2, 5] is nan (i=0)"
    )
    assert text[1:] == [
        "    nisa.activation(dst=logged, op=nl.log, data=shifted)",
        "  1 of 32 elements of logged (4x8 float32) are such, dst[2, 5] is the first",
        "  data = shifted[2, 5] = -0.5",
    ]
    assert "\n" not in repr(found)


@nki.jit
def quantised(x, limit, fill):
    out = nl.ndarray(x.shape, dtype=nl.int8, buffer=nl.shared_hbm)
    mask = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=mask, value=fill)
    tile = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=fill)
    small = nl.ndarray(x.shape, dtype=nl.int8, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=small, data=tile, op0=nl.minimum, operand0=limit)
    nisa.dma_copy(dst=out, src=small)
    return out


def test_the_first_saturated_value_is_found_and_fillers_of_masks_are_ignored():
    x = np.full((4, 8), 3.0, np.float32)
    record = quantised.record(x, 127.0, -3.4e38)
    assert record.first_saturated() is None
    x[3, 2] = 127.0
    x[3, 3] = 500.0
    found = quantised.record(x, 127.0, -3.4e38).first_saturated()
    assert (found.operand.tile, found.index, found.count, found.had) == ("small", (3, 2), 2, None)
    # Without the limit the data type is one.
    assert quantised.record(x, 1e6, -3.4e38).first_saturated().count == 2
    # One that is in an input has been there before.
    x[0, 0] = np.finfo(np.float32).max
    found = quantised.record(x, 1.0, -1.0).first_saturated()
    assert (found.operand.tile, found.had.tile, found.index) == ("tile", "x", (0, 0))


def test_zero_is_no_end_of_unsigned_integers():
    values = np.array([0, 1, 255], np.uint8)
    assert Statistics.of(values).saturated == saturated(values).sum() == 1
    assert Statistics.of(np.array([0, -128, 127], np.int8)).saturated == 2
    assert Statistics.of(np.array([True, False])).saturated == 0
    assert str(Statistics.of(values)) == "min 0, max 255, mean 85.33, 1 saturated"


def test_an_infinity_that_is_a_number_of_the_instruction_is_meant():
    x = np.full((4, 8), 3.0, np.float32)
    x[1, 1] = 1.0
    found = logs.record(x, np.ones((4, 1), np.float32)).first()
    assert found.instruction.op == "nisa.activation"
    assert found.value == -np.inf
    assert found.index == (1, 1)


def test_values_from_an_input_are_reported_as_such():
    x = np.full((4, 8), 3.0, np.float32)
    x[3, 7] = np.nan
    found = logs.record(x, np.ones((4, 1), np.float32)).first(np.isnan)
    assert found.instruction.number == 2
    assert found.had.tile == "x"
    assert "nisa.dma_copy read it in x: tile[3, 7] is nan" in str(found)
    assert "x had it before anything was computed" in str(found)


def test_nothing_is_found_where_there_is_nothing_and_any_predicate_will_do():
    record = logs.record(np.full((4, 8), 3.0, np.float32), np.ones((4, 1), np.float32))
    assert record.first(np.isnan) is None
    found = record.first(lambda values: values == 2)
    assert found.operand.tile == "shifted"
    assert found.count == 32


def test_sums_in_psum_are_looked_at_where_they_change():
    @nki.jit
    def sums(a, b):
        out = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.psum)
        for k in range(3):
            one = nl.ndarray((16, 4), dtype=nl.float32, buffer=nl.sbuf)
            other = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=one, src=a[k])
            nisa.dma_copy(dst=other, src=b[k])
            nisa.nc_matmul(dst=total, stationary=one, moving=other, accumulate=k > 0)
        result = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=result, src=total)
        nisa.dma_copy(dst=out, src=result)
        return out

    a = np.ones((3, 16, 4), np.float32)
    b = np.ones((3, 16, 8), np.float32)
    a[1, :, 2] = b[1, :, 5] = 1e30
    found = sums.record(a, b).first()
    assert found.instruction.op == "nisa.nc_matmul"
    assert found.instruction.loops == {"k": 1}
    assert found.index == (2, 5)
    assert found.had is None


SOURCE = """import nkijit as nki, nkijit.isa as nisa, nkijit.language as nl
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.sqrt, data=tile)
    nisa.dma_copy(dst=out, src=tile)
    return out
"""


@pytest.mark.parametrize("inputs", [[], ["-i", "x=x.npy"]])
def test_the_command(tmp_path, monkeypatch, inputs):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.py").write_text(SOURCE)
    np.save("x.npy", np.array([[1, 4], [9, -16]], np.float32))
    given = inputs or ["-a", "x=2x2:float32"]
    result = CliRunner().invoke(app, ["run", "kernel.py", *given, "--first-nan"])
    assert result.exit_code == 1
    assert result.output.startswith("kernel.py:7: nisa.activation made it: tile[")
    np.save("x.npy", np.array([[1, 4], [9, 16]], np.float32))
    result = CliRunner().invoke(app, ["run", "kernel.py", "-i", "x=x.npy", "--first-nan"])
    assert (result.exit_code, result.output) == (
        0, "no NaN or infinity in the results of 3 instructions\n"
    )  # fmt: skip
