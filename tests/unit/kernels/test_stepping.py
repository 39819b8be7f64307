"""Stepping: tiles show the values that a recording of the same run has."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.examples import parameters
from support.kernel_parts import PARTS, random_kernel
from support.lowered_runs import numbers

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.kernel import UnsupportedError
from nkijit.tracing.tracer import current_tracer
from nkijit.tracing.views import TensorView


@nki.jit
def twice(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    print(tile[0:1, 0:3])
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    print(tile)
    nisa.dma_copy(dst=out, src=tile)
    return out


def test_a_printed_tile_shows_numbers(capsys):
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    out = twice.step(x)
    assert np.array_equal(out, 2 * x)
    assert capsys.readouterr().out == (
        "NkiTensor(tile: sbuf 1x3 float32)\n[[0. 1. 2.]]\n"
        "NkiTensor(tile: sbuf 2x4 float32)\n[[ 0.  2.  4.  6.]\n [ 8. 10. 12. 14.]]\n"
    )
    twice(x)
    assert capsys.readouterr().out == (
        "NkiTensor(tile: sbuf 1x3 float32)\nNkiTensor(tile: sbuf 2x4 float32)\n"
    )


def looking(function, seen):
    """Wrap a kernel's function: compare all existing tensors after every instruction."""

    def wrapped(*args, **kwargs):
        tracer = current_tracer.get()
        tracer.history = Looking(tracer, seen)
        return function(*args, **kwargs)

    return wrapped


class Looking(list):
    """Compares the tensors written so far whenever another operation follows."""

    def __init__(self, tracer, seen):
        super().__init__()
        self.tracer, self.seen = tracer, seen

    def append(self, op):
        super().append(op)
        if op.name.startswith("nisa."):
            now = self.tracer.values._now()
            self.seen.append({value.name_hint: memory for value, memory in now.items()})


def check_steps(kernel, arguments, tmp=None):
    """Results of stepping equal those of a call, and its values equal those of a recording."""
    del tmp
    given = {name: np.copy(a) if isinstance(a, np.ndarray) else a for name, a in arguments.items()}
    expected = kernel(**given)
    again = {name: np.copy(a) if isinstance(a, np.ndarray) else a for name, a in arguments.items()}
    stepped = kernel.step(**again)
    for one, other in zip(flat(expected), flat(stepped), strict=True):
        assert one.tobytes() == other.tobytes()
    for name in arguments:
        if isinstance(arguments[name], np.ndarray):
            assert given[name].tobytes() == again[name].tobytes()


def flat(results):
    if results is None:
        return []
    return list(results) if isinstance(results, (tuple, list)) else [results]


@pytest.mark.parametrize(
    "example",
    parameters(
        "activate2", "softmax", "rmsnorm", "residual", "layernorm", "flash_attention",
        "mamba_scan", "topk_router", "embedding_update",
    ),
)  # fmt: skip
def test_examples_give_the_results_of_a_call(example):
    check_steps(example.kernel, example.inputs(replace(example.small, rows=128)))


@pytest.mark.parametrize("part", PARTS)
def test_values_seen_in_random_kernels_equal_those_of_a_recording(part):
    kernel = random_kernel(Random(f"{part} 0"), part)
    if kernel.cores == 2:
        return
    inputs = [numbers(spec, 0) for _, spec in kernel.arguments]
    if sum(array.size for array in inputs) > 1 << 18:
        return
    check_seen(kernel, inputs)


def check_seen(kernel, inputs):
    space = {"nki": nki, "nisa": nisa, "nl": nl, "np": np, "ncc": nki.collectives}
    exec(compile(kernel.source(), "<random kernel>", "exec"), space)
    seen = []
    made = nki.jit(looking(space["kernel"], seen), platform_target=kernel.target)
    plain = nki.jit(space["kernel"], platform_target=kernel.target)
    results = made.step(*[np.copy(each) for each in inputs])
    record = plain.trace(*inputs).record(*inputs)
    for one, other in zip(flat(results), record.results, strict=True):
        assert one.tobytes() == other.tobytes()
    if len(seen) != len(record):  # loops on the device
        assert len(seen) < len(record)
        return
    for memories, instruction in zip(seen, record.instructions, strict=True):
        for operand in instruction.operands:
            if operand.is_written:
                tile = record._contents_of(base(operand.value), instruction.number)
                assert tile.tobytes() in {memory.tobytes() for memory in memories.values()}


def base(value):
    from nkijit.dialects.nki.views import base_of

    return base_of(value)


def test_values_in_loops_on_the_device_are_those_of_the_first_iteration():
    seen = []

    @nki.jit
    def kernel(x):
        out = nl.ndarray((3, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=total, src=x)
        for i in nl.dynamic_range(0, 3):
            nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=2.0)
            if isinstance(total, TensorView):
                seen.append(nki.value_of(total)[0, 0])
            nisa.dma_copy(dst=out[i], src=total)
        seen.append(nki.value_of(total)[0, 0])
        return out

    kernel.step(np.ones((2, 2), np.float32))
    assert seen == [2, 8]


def test_a_value_is_requested_where_there_is_none():
    @nki.jit
    def kernel(x):
        nki.value_of(x)
        return x

    x = np.ones((2, 2), np.float32)
    with pytest.raises(RuntimeError, match=r"runs by kernel\.step"):
        kernel(x)
    with pytest.raises(TypeError, match="expects a tile, got 3"):
        nki.value_of(3)
    with pytest.raises(
        UnsupportedError, match="runs on 2 cores, and can be stepped through on one"
    ):
        kernel[2].step(x)


SOURCE = """import numpy as np
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    breakpoint()
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    nisa.dma_copy(dst=out, src=tile)
    return out

print(kernel.step(np.full((1, 2), 5.0, np.float32)))
"""


def debugged(path: Path, commands: str) -> str:
    """Return the output of pdb for commands, in a script that stops in it."""
    done = subprocess.run(
        [sys.executable, str(path)], input=commands, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pdb_shows_numbers_and_the_authors_frames_only(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(SOURCE)
    # Python 3.13 stops at the line of `breakpoint()`, earlier ones at the next.
    commands = "tile\nwhere\nstep\nstep\ntile\nwhere\nup\nup\ncontinue\n"
    shown = debugged(path, commands)
    assert "NkiTensor(tile: sbuf 1x2 float32)\n[[5. 5.]]" in shown
    assert "NkiTensor(tile: sbuf 1x2 float32)\n[[6. 6.]]" in shown
    assert "[[6. 6.]]\n" in shown.splitlines()[-1] + "\n"
    for hidden in ("nkijit/", "xdsl/", "<frozen", "<string>", "numpy/"):
        assert hidden not in shown
    assert f"{path}(16)<module>()" in shown


def test_tiles_of_the_classic_api_show_numbers(capsys):
    from neuronxcc import nki as classic
    from neuronxcc.nki import language

    @classic.jit
    def kernel(x):
        out = language.ndarray(x.shape, dtype=x.dtype, buffer=language.shared_hbm)
        tile = language.load(x)
        print(language.exp(tile))
        language.store(out, tile)
        return out

    assert np.array_equal(kernel.step(np.zeros((1, 2), np.float32)), [[0, 0]])
    assert capsys.readouterr().out.splitlines()[-1] == "[[1. 1.]]"


def test_output_of_a_kernel_is_written_once():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=x, src=tile)
        assert nki.value_of(x)[0, 0] == 1
        return x

    x = np.zeros((2, 2), np.float32)
    kernel.step(x)
    assert (x == 1).all()


WITH_CALLS = """import textwrap
import numpy as np
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

def add_one(tile):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    breakpoint()
    textwrap.dedent("text")
    add_one(tile)
    nisa.dma_copy(dst=out, src=tile)
    return out

print(kernel.step(np.full((1, 2), 5.0, np.float32)))
"""


def test_pdb_steps_into_functions_of_the_author(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(WITH_CALLS)
    commands = "step\nstep\nreturn\n" + "step\n" * 6 + "continue\n"
    shown = debugged(path, commands)
    assert "textwrap.py" in shown
    assert "-> nisa.tensor_scalar(dst=tile" in shown
    for hidden in ("nkijit/", "xdsl/", "<frozen"):
        assert hidden not in shown
