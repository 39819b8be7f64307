"""Wrong arguments of public functions end in a finding at the user's line, or in Python's error."""

from __future__ import annotations

import operator
import sys
from time import monotonic
from typing import Any

import pytest
from support.valid_calls import (
    CLASSIC,
    CURRENT,
    PROGRAM,
    Setting,
    ValidCall,
    classic_calls,
    current_calls,
    outside_calls,
)
from support.wrong_arguments import mutants, names_of, outcomes, problem_of

import nkijit as nki
import nkijit.language as nl
from nkijit.dialects.rule_texts.text import ErrorKind
from nkijit.host.processes.isolated import Isolated, Limits

if sys.platform == "win32":
    pytest.skip("a timer of the CPU limits each call", allow_module_level=True)


# ------------------------------------------------------------------ the valid calls


@pytest.mark.parametrize(
    "call", [*current_calls(), *classic_calls(), *outside_calls()], ids=lambda call: call.title
)
def test_calls_to_mutate_are_valid(call: ValidCall) -> None:
    names: dict[str, Any] = {}

    def function() -> None:
        names.update(call.setting.names())
        exec(compile(call.source, "<call>", "exec"), names)

    traced = call.setting.trace(function)
    if traced is not None:
        assert [d for d in traced.diagnostics if d.kind is ErrorKind.illegal] == []


def test_every_method_of_a_tensor_is_called() -> None:
    sources = "\n".join(call.source for call in current_calls())
    members = [name for name in dir(nl.NkiTensor) if not name.startswith("_")]
    methods = [name for name in members if callable(getattr(nl.NkiTensor, name))]
    assert [name for name in methods if f".{name}(" not in sources and name != "ssa_value"] == []


# ------------------------------------------------------------------ random calls


def test_random_wrong_calls_end_in_findings() -> None:
    """One round of the campaign `arguments` of `make fuzz`, with its limits of time and memory."""
    process = Isolated(outcomes, ("gate", 250), Limits(seconds=120.0, mebibytes=3072))
    tried, until = 0, monotonic() + 25.0
    while (found := process.next()) is not None and monotonic() < until:
        _, source, problem = found[0]
        assert problem is None, f"{source}\n{problem}"
        tried += 1
    process.kill()
    assert tried > 20


def test_mutants_replace_each_argument_and_add_each_parameter() -> None:
    call = ValidCall("nl.sum", "total = nl.sum(x[0:64], axis=1)", CURRENT)
    sources = list(mutants(call, names_of(CURRENT), ["None"]))
    assert sorted(sources) == sorted(
        [
            "total = nl.sum(None, axis=1)",
            "total = nl.sum(x[0:64], axis=None)",
            "total = nl.sum(x[None], axis=1)",
            "total = nl.sum(x[None:64], axis=1)",
            "total = nl.sum(x[0:None], axis=1)",
            "total = nl.sum(x[0:64:None], axis=1)",
            "total = nl.sum(x[0:64], axis=1, dtype=None)",
            "total = nl.sum(x[0:64], axis=1, keepdims=None)",
            "total = nl.sum(axis=1)",
            "total = nl.sum(x[0:64])",
            "total = nl.sum(x[0:64], 1, axis=1)",
            "total = nl.sum(x[0:64], axis=1, no_such_argument=1)",
        ]
    )


# ------------------------------------------------------------------ outcomes


@pytest.mark.parametrize(
    "source",
    [
        "nl.program_id(1 / 0)",  # the user's own error
        "nl.program_id()",
        "nl.program_id(axis=0, axes=0)",
        "x + 1",
        "nisa.memset(x, 'a')",
        "(lambda: 0)(1)",
    ],
)
def test_errors_of_the_author_are_no_problem(source: str) -> None:
    assert problem_of(source, CURRENT) is None


def test_an_exception_of_the_library_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert problem_of("nl.program_id(2)", CURRENT) is None
    monkeypatch.setattr("nkijit.language.programs.as_index", operator.attrgetter("missing"))
    problem = problem_of("nl.program_id(2)", CURRENT)
    assert problem is not None
    assert problem.startswith("AttributeError in nkijit.language.programs._check_axis")


def test_a_loop_without_end_is_a_problem() -> None:
    problem = problem_of("while True: pass", CURRENT, seconds=0.2)
    assert problem is not None
    assert problem.startswith("more than 0.2 s")


# ------------------------------------------------------------------ found by the campaign


def finding_of(source: str, setting: Setting) -> str:
    """The exception of a call, with its message."""
    assert problem_of(source, setting) is None
    names: dict[str, Any] = {}

    def function() -> None:
        names.update(setting.names())
        exec(compile(source, "<call>", "exec"), names)

    try:
        traced = setting.trace(function)
        if traced is not None:
            traced.verify()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no exception"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nl.ndarray((8, 4), nl.int8, address=(0, 2 ** 40))", "'address': expected (partition off"),
        ("nl.ndarray((8, 4), nl.int8, address=10 ** 5000)", "'address': expected (partition offse"),
        ("nisa.scalar_load(10 ** 5000)", "'src': expected one int32 element in SBUF or HBM"),
        # integers that no attribute and no message can hold
        ("nl.softmax(x, axis=10 ** 5000)", "'axis' is a value of type list"),
        (
            "x.ap([[512, 128], [1, 8]], scalar_offset=10 ** 5000)",
            "the index is a value of type int",
        ),
        (
            "nl.fori_loop(nl.tiles(x, tile_shape=(128, 512)), 4, print)",
            "'lower': expected an int32",
        ),
        ("x[10 ** 5000]", "index a value of type int that is too large to print of dim 0 is out"),
        ("x[:, nl.ds(2 ** 70, 4)]", "nl.ds(1180591620717411303424, 4) of dim 1 is out of its size"),
        ("x.ap([[2 ** 70, 128], [1, 8]])", "the stride of [1180591620717411303424, 128] is out of"),
        ("x.ap([[512, 128], [2 ** 40, 2 ** 40]])", "the stride of [1099511627776, 1099511627776]"),
        ("hbm.ap([[], []], vector_offset=positions)", "[] is no pair"),
        ("hbm.ap(3, vector_offset=positions)", "3 is no pair"),
        ("x[:, 0:1].broadcast(1, 2 ** 70)", "broadcast of dim 1 to 1180591620717411303424"),
        ("x.reshape(range(2 ** 70))", "more than 65536 items: range(0, 1180591620717411303424)"),
        ("x.rearrange(('p', 'f'), ('p', 'f'), 5)", "with sizes 5"),
        ("nl.ndarray((2 ** 40, 2 ** 40), nl.float32)", "a tensor has at most 2**48 elements"),
        ("nl.fori_loop(0, 4, print, step=2 ** 70)", "'step' must fit 32 bits"),
        ("nl.fori_loop(0, 4, nisa.engine.vector)", "'body_fun': expected a function, got <engine"),
        ("nl.fori_loop(0, 4, nisa.engine)", "'body_fun': expected a function, got <enum 'engine'>"),
        ("nl.fori_loop(0, 4, lambda: 0)", "'body_fun' is called with 1 argument(s), but: "),
        ("nl.fori_loop(0, np.ones(2), print)", "'upper': expected an int32 or a register"),
        ("nl.while_loop(register, 3)", "'body_fun': expected a function, got 3"),
        ("nl.shared_identity_matrix(2 ** 70)", "'n': expected an integer from 1 to 128"),
        ("nl.dropout(x, 0.5, dtype='float7')", "'dtype': unknown data type 'float7'"),
        ("nl.max(x, 1, keepdims=np.ones(4))", "'keepdims': expected True or False"),
        ("nl.matmul(weights, bf16, 'yes')", "'transpose_x': expected True or False, got 'yes'"),
        ("nl.divide(x, float)", "'y': expected a tile or a number"),
        ("nl.program_id(np.ones(2))", "the launch grid has one axis, got axis array([1., 1.])"),
        ("nisa.core_barrier(shared, np.ones(0))", "'cores': expected"),
        ("nisa.nc_matmul(psum, weights, bf16, tile_size=2 ** 70)", "'tile_size': expected an int"),
        ("nisa.iota(positions, [[2 ** 70, 512]])", "'pattern': expected a list of [step, count]"),
        ("nl.tiles(hbm, tile_shape=(4, 2 ** 70))", "'tile_shape' has more than 2**48 elements"),
        ("nl.tiles(hbm, tile_shape=(128, 512))['a']", "a coordinate is an integer or a slice"),
        ("nl.tiles(hbm, tile_shape=(128, 512))[::0]", "a coordinate is an integer or a slice"),
        ("nl.affine_range(2 ** 70)", "'stop': 1180591620717411303424 does not fit 64 bits"),
    ],
)
def test_wrong_calls_of_the_current_api(source: str, text: str) -> None:
    found = finding_of(source, CURRENT)
    assert "NkiValidationError: " in found or "Error: error[" in found
    assert text in found


def test_a_long_step_selects_the_first_element() -> None:
    """As in NumPy."""

    @nki.jit
    def kernel():
        x = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
        shapes.append(x[:: 2**70, 3 : 300 : 10**5000].shape)
        shapes.append(x.slice(1, 0, 512, 2**70).shape)
        return nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)

    shapes: list[tuple[int, ...]] = []
    kernel.trace()
    assert shapes == [(1, 1), (128, 1)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nl.ndarray((128, 8), nl.float32, buffer=np.ones(2))", "'buffer': expected nl.sbuf"),
        ("nl.zeros((128, 8), nl.float32, buffer=np.ones(2))", "'buffer': expected nl.sbuf"),
        ("nl.ndarray((2 ** 31, nl.par_dim(128), 8), nl.float32)", "'shape' has 2147483648 blocks"),
        ("nl.empty_like(x, np.ones(2))", "'dtype': unknown data type array([1., 1.])"),
        ("nl.arange(np.ones(2))", "nl.arange takes one to three integers"),
        ("nl.arange(2 ** 70)", "nl.arange takes one to three integers"),
        ("nl.arange(0, 8, 0)", "has a step of 0"),
        ("nl.mgrid[0:128, 0:8:0]", "slices with a stop and no step of 0"),
        ("nl.mgrid[0:128, -2 ** 70:8]", "slices with a stop and no step of 0"),
        ("nl.mgrid[()]", "nl.mgrid[()] is empty"),
        ("nl.mgrid[0:128].x", "nl.mgrid of 1 dimension has no x"),
        ("nl.nc(0)", "the dimensions of a grid are positive integers, got 0"),
        ("x * nl.nc(2)", "'y': expected a tile or a number, got nl.nc(2)"),
        ("f[np.ones(2)]", "index array([1., 1.]) of an expression of shape (1, 512)"),
        ("f[:, 0:8:0]", "index slice(0, 8, 0) of an expression of shape (1, 512)"),
        ("f * 2 ** 47 * 2 ** 47", "is beyond every tensor"),
        ("x[2 ** 70, f]", "index 1180591620717411303424 of dimension 0"),
        ("nl.load(hbm[0:2 ** 70])", "slice 0:1180591620717411303424 of dim 0 runs past"),
        ("x.reshape(3)", "reshape to 3"),
        ("x.assert_shape(3)", "its shape is (128, 512), not 3"),
        ("nl.matmul(weights, bf16, transpose_x=np.ones(2))", "'transpose_x': expected True or"),
        ("nl.sum(x, 1, keepdims=np.ones(2))", "'keepdims': expected True or False"),
        ("nl.shared_identity_matrix(2 ** 70)", "'n': expected an integer from 1 to 8192"),
        ("nl.static_cast('a', nl.float32)", "'input_data' has no numbers of type"),
        ("nl.random_seed(int)", "'seed': expected an integer of 32 bits or a tile"),
        ("nisa.memset((128, 8), 0, None)", "'dtype': unknown data type None"),
        ("nisa.memset((128, 8), 0, nl.float32, engine=x)", "'engine' of shape (128, 512) does not"),
        ("nisa.nc_stream_shuffle(x[0:32], out[0:32], np.array(2))", "'shuffle_mask': expected a"),
        ("nisa.local_gather(x, short_indices, 1, np.ones(0))", "argument"),
        ("sbuf.mod_alloc(base_addr=-1)", "positive numbers of places"),
        ("sbuf.alloc(3)", "alloc expects a function, got 3"),
    ],
)
def test_wrong_calls_of_the_classic_api(source: str, text: str) -> None:
    found = finding_of(source, CLASSIC)
    assert "NkiValidationError: " in found or "Error: error[" in found
    assert text in found


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nki.simulate(None)", "ArgumentTypeError: nki.jit expects a function, got None"),
        ("nki.run_ranks(None, [[a]])", "ArgumentTypeError: nki.jit expects a function, got None"),
        ("nki.jit(print)", "ArgumentTypeError: nki.jit expects a function, got <built-in"),
        ("nki.jit(body, platform_target=[])", "ValueError: unknown platform target []; known: "),
        ("nki.jit(body, mode=np.ones(2))", "UnsupportedError: nki.jit does not model mode=array("),
        ("copied.strict('no')(a)", "TypeError: 'strict' is True, False or None, got 'no'"),
        ("copied.with_schedule(3)", "ArgumentTypeError: with_schedule expects a list of pairs"),
        ("copied.with_options(3)", "ArgumentTypeError: with_options expects a mapping, got 3"),
        ("copied.portability(nki=7)", "ValueError: unknown release 7 of NKI; known: "),
        ("copied.bisect(a, against=lambda: 0)", "ArgumentTypeError: bisect calls 'against', but: "),
        ("nki.TensorSpec(3, 'float32')", "ValueError: expected positive dimensions, got 3"),
        ("nki.TensorSpec((2 ** 70,), 'float32')", "ValueError: the tensor is larger than the HBM"),
        (
            "nki.TensorSpec.parse(3)",
            "ValueError: expected SHAPE:DTYPE, e.g. 128x512:float32, got 3",
        ),
        (
            "classic_copied[2 ** 70](a)",
            "ValueError: launch grid: a grid has at most 1048576 instances",
        ),
        ("list(nl.affine_range('a'))", "TypeError: nl.affine_range: 'stop': expected an integer"),
    ],
)
def test_wrong_calls_outside_of_kernels(source: str, text: str) -> None:
    assert finding_of(source, PROGRAM).startswith(text)
