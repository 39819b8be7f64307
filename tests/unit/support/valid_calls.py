"""A valid call of every public function, method and subscript, as source text.

The calls of the current API are the examples of its docstrings. Those of the classic API are built
from the names of the parameters, because its functions share them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.function_examples import IN_KERNELS, example_of, names

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as cisa
import nkijit.classic.language as cnl
from nkijit.traced.kernel import TracedKernel

NAMES_OF_MODULES = {"nkijit.isa": "nisa", "nkijit.language": "nl", "nkijit.collectives": "ncc"}


@dataclass(frozen=True)
class Setting:
    """The place in which calls are evaluated."""

    names: Callable[[], dict[str, Any]]
    """Returns the names that calls may use; called inside the kernel, if there is one."""
    trace: Callable[[Callable[[], Any]], TracedKernel | None]
    """Evaluates a function that contains a call, in a kernel if there is one."""
    in_kernel: bool = True
    is_classic: bool = False


@dataclass(frozen=True)
class ValidCall:
    """Statements with a call of a public function."""

    title: str
    """The called function."""
    source: str
    setting: Setting


# ------------------------------------------------------------------ the current API


def _traced(function: Callable[[], Any], cores: int = 1) -> TracedKernel:
    import nkijit.language as nl

    @nki.jit
    def kernel():
        function()
        return nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)

    return kernel[cores].trace()


def _names() -> dict[str, Any]:
    import nkijit.isa as nisa

    known = names()
    return {**known, "scalar": nisa.scalar_load(known["position"])}


CURRENT = Setting(_names, _traced)
ON_TWO_CORES = Setting(_names, functools.partial(_traced, cores=2))

_TWO_CORES = ("barrier", "sendrecv", "_v(", "_v_prepare(")
"""Parts of the examples that need two cores."""

MEMBERS = """
x[0:64, 0:256]
x[...]
x[:, 4]
x[nl.ds(0, 64), nl.ds(128, 8)]
x[0:128:2, range(8)]
hbm[register, 0:8]
hbm[nl.ds(register, 4), nl.ds(0, 8)]
hbm[3, position]
x[0:64, 0:8] = y[0:64, 8:16]
x[:, 0:8] = 2.0
hbm[0:128] = x
x.slice(1, 0, 8, step=2)
hbm.select(0, 3)
hbm.select(dim=0, index=register)
x.reshape((128, 2, 256)).permute((0, 2, 1))
x[:, 0:1].broadcast(1, 512)
x.expand_dim(1)
x.expand_dim(1).squeeze_dim(dim=1)
x.reshape_dim(1, (2, -1))
x.reshape((128, 2, 256)).flatten_dims(start_dim=1, end_dim=2)
x.rearrange(('p', ('a', 'b')), ('p', 'b', 'a'), {'a': 2})
x.ap([[512, 128], [1, 8]], offset=8)
nisa.tensor_copy(x[:, 0:8], y.ap(pattern=[[512, 128], [2, 8]], dtype=nl.float32))
hbm.ap([[512, 128], [1, 8]], scalar_offset=register, indirect_dim=0)
nisa.dma_copy(x, hbm.ap([[512, 128], [1, 512]], vector_offset=positions[:, 0:1], indirect_dim=0))
x.view(nl.bfloat16)
x.reinterpret_cast(nl.int32)
nisa.dma_copy(x, hbm.vector_select(0, positions[:, 0:1]))
x.indirect(positions[:, 0:8], num_elem=16)
len(x) + x.shape[0] + x.ndim + x.size + x.offset
assert x.is_contiguous() and not x.is_indirect() and x.get_pattern()
nisa.memset(x, 0.0).depends_on(nisa.memset(y, 0.0))
scalar + 2 - scalar * 3
nl.fori_loop(0, 4, lambda i: nisa.tensor_copy(out, x, name='copy'), step=2)
nl.fori_loop(register, 4, lambda i: nisa.dma_copy(x[0:1], hbm[i, 0:512]))
grid = nl.tiles(hbm, tile_shape=(128, 512)); nl.load(grid[0, 0].data)
nl.alloc_tiles(tile_shape=(8, 4), element_shape=(16, 4), buffer=nl.sbuf, dtype=x.dtype)[1, 0]
"""
"""Methods, subscripts and operators of tensors, registers and scalars."""


def current_calls() -> list[ValidCall]:
    """Return the examples of the current API's functions, and the calls of `MEMBERS`."""
    found: list[ValidCall] = []
    for module, name in IN_KERNELS:
        source = example_of(getattr(module, name))
        setting = ON_TWO_CORES if any(word in source for word in _TWO_CORES) else CURRENT
        found.append(ValidCall(f"{NAMES_OF_MODULES[module.__name__]}.{name}", source, setting))
    lines = MEMBERS.strip().split("\n")
    return found + [ValidCall(line, line, CURRENT) for line in lines]


# ------------------------------------------------------------------ the classic API


def _names_of_classic() -> dict[str, Any]:
    nl = cnl

    def tile(*shape: int, dtype: Any = np.float32, buffer: Any = nl.sbuf) -> Any:
        made = nl.ndarray(shape, dtype=dtype, buffer=buffer)
        if buffer is not nl.hbm and buffer is not nl.shared_hbm and dtype is np.float32:
            made[...] = 0.0
        return made

    return {
        **{name: tile(128, 512) for name in ("x", "y", "out")},
        "column": tile(128, 1),
        "row": tile(1, 512),
        "bf16": tile(128, 128, dtype=nl.bfloat16),
        "weights": tile(128, 128, dtype=nl.bfloat16),
        "psum": tile(128, 512, buffer=nl.psum),
        "mask_tile": tile(128, 512, dtype=np.uint8),
        "integers": tile(128, 512, dtype=np.int32),
        "positions": tile(128, 512, dtype=np.uint32),
        "position": tile(1, 1, dtype=np.int32),
        "largest": tile(128, 8),
        "statistics": tile(128, 6),
        "short_indices": tile(128, 16, dtype=np.uint16),
        "segments": tile(1, 512),
        "seed": tile(1, 1, dtype=np.uint32),
        "hbm": tile(256, 512, buffer=nl.hbm),
        "other_hbm": tile(256, 512, buffer=nl.hbm),
        "shared": tile(128, 512, buffer=nl.shared_hbm),
        "p": nl.arange(128)[:, None],
        "f": nl.arange(512)[None, :],
        "core": nl.program_id(0),
        **{"nki": classic, "nisa": cisa, "nl": nl, "np": np, "sbuf": classic.compiler.sbuf},
    }


def _traced_classic(function: Callable[[], Any]) -> TracedKernel:
    @classic.jit
    def kernel():
        out = cnl.ndarray((128, 1), cnl.float32, buffer=cnl.shared_hbm)
        function()
        cnl.store(out, cnl.zeros((128, 1), cnl.float32))
        return out

    return kernel[1].trace()


CLASSIC = Setting(_names_of_classic, _traced_classic, is_classic=True)

_ARGUMENTS = {
    "a": "x",
    "axes": "0",
    "axis": "1",
    "bound0": "column",
    "bound1": "column",
    "buffer": "nl.sbuf",
    "comp_op0": "np.greater_equal",
    "comp_op1": "np.less",
    "condition": "mask_tile",
    "constant": "np.zeros((128, 4), np.float32)",
    "data": "x",
    "data0": "x",
    "data1": "x",
    "data2": "y",
    "dst": "out",
    "dtype": "nl.float32",
    "fill_value": "1.5",
    "imm": "-1.0",
    "imm0": "0.0",
    "index": "short_indices",
    "indices": "positions",
    "initial": "0.0",
    "input_data": "2",
    "mask": "(p < 64) & (f < 100)",
    "n": "32",
    "num_elem_per_idx": "1",
    "on_false": "y",
    "on_false_value": "-1.0",
    "on_true": "x",
    "on_true_tile": "x",
    "op": "np.add",
    "op0": "np.multiply",
    "op1": "np.add",
    "operand0": "2.0",
    "operand1": "y",
    "pred": "p > f",
    "predicate": "mask_tile",
    "prefix": "'x'",
    "prob": "0.5",
    "rate": "0.5",
    "reduce_op": "np.add",
    "reduce_res": "column",
    "seed": "seed",
    "segment_ids": "segments",
    "shape": "(128, 8)",
    "shuffle_mask": "[0] * 32",
    "size": "8",
    "src": "x",
    "src_buffer": "x",
    "start": "0",
    "value": "x",
    "vals": "largest",
    "w": "row",
    "x": "x",
    "y": "y",
}
"""Valid arguments of classic functions, by the name of the parameter."""

_INTEGER_OPERANDS = {"x": "integers", "y": "integers"}
_OVERRIDES: Mapping[str, Mapping[str, str] | str] = {
    "nisa.activation": {"op": "np.exp"},
    "nisa.activation_reduce": {"op": "np.exp"},
    "nisa.bn_aggr": {"data": "statistics"},
    "nisa.builtin_custom_op": "",
    "nisa.dma_copy": {"dst": "hbm[0:128]"},
    "nisa.dma_transpose": {"src": "bf16"},
    "nisa.iota": "nisa.iota(p * 512 + f, dtype=np.int32)",
    "nisa.memset": {"value": "0"},
    "nisa.nc_matmul": "nisa.nc_matmul(weights, bf16)",
    "nisa.nc_stream_shuffle": {"src": "x[0:32]", "dst": "out[0:32]"},
    "nisa.nc_transpose": {"data": "bf16"},
    "nisa.range_select": {"on_false_value": "nisa.fp32.min", "reduce_op": "np.max"},
    "nisa.select_reduce": {"on_false": "column", "reduce_op": "np.max"},
    "nisa.tensor_copy_dynamic_dst": "",
    "nisa.tensor_copy_dynamic_src": "",
    "nisa.tensor_partition_reduce": {"data": "x"},
    "nl.all_reduce": "",
    "nl.arange": "nl.arange(0, 128, 2)",
    "nl.atomic_rmw": {"dst": "hbm[positions[:, 0:1], f]", "value": "x"},
    "nl.bitwise_and": _INTEGER_OPERANDS,
    "nl.bitwise_or": _INTEGER_OPERANDS,
    "nl.bitwise_xor": _INTEGER_OPERANDS,
    "nl.broadcast_to": {"src": "column", "shape": "(128, 512)"},
    "nl.finfo": {"dtype": "nl.bfloat16"},
    "nl.gather_flattened": {"data": "x", "indices": "positions"},
    "nl.invert": _INTEGER_OPERANDS,
    "nl.left_shift": _INTEGER_OPERANDS,
    "nl.load": {"src": "hbm[p, f]"},
    "nl.load_transpose2d": {"src": "hbm[0:128, 0:128]"},
    "nl.loop_reduce": (
        "for i in nl.affine_range(2):\n"
        "    total = nl.loop_reduce(x, op=np.add, loop_indices=[i], dtype=np.float32)\n"
        "    y[:, i] = 0.0"  # ends a loop of very many iterations
    ),
    "nl.matmul": {"x": "weights", "y": "bf16"},
    "nl.program_id": {"axis": "0"},
    "nl.right_shift": _INTEGER_OPERANDS,
    "nl.rms_norm": {"n": "512"},
    "nl.affine_range": "for i in nl.affine_range(0, 4, 2): x[:, i] = 0.0",
    "nl.sequential_range": "for i in nl.sequential_range(0, 4, 2): x[:, i] = 0.0",
    "nl.static_range": "for i in nl.static_range(0, 4, 2): x[:, i] = 0.0",
    "nl.store": {"dst": "hbm[p, f]", "value": "x"},
    "nl.transpose": {"x": "bf16"},
}
"""Other arguments than those of `_ARGUMENTS`, or the whole call; "" if there is no valid call."""

CLASSIC_MEMBERS = """
x[0:64, 0:256]
x[p, f]
x[p, 2 * f[:, 0:4] + 1]
i, j = nl.mgrid[0:128, 0:8]; x[i, j + 8]
x[nl.mgrid[0:64, 0:8:2]]
hbm[position, f]
hbm[positions[:, 0:1], f]
x[nl.ds(0, 64), nl.ds(8, 8)]
x[0:64, 0:8] = y[0:64, 8:16]
x[p, f] = 2.0
x[:, 0:8] += y[:, 0:8]
x + 2 - y * x / 3
x < y
x.reshape((128, 2, 256))
x.astype(nl.bfloat16)
column.broadcast_to((128, 512))
x.expand_dims(1)
x.view(nl.int32)
x.assert_shape((128, 512))
x.dtype, x.shape, x.ndim, x.itemsize
p * 2 + f - 3
(p < 64) & (f >= 3)
nl.arange(128)[:, None]
nl.mgrid[0:128, 0:8].p
nl.ndarray((2, nl.par_dim(128), 8), dtype=nl.float32, buffer=nl.sbuf)
nl.ndarray((4, 128, 8), dtype=nl.float32, buffer=nl.hbm)[1, p, f[:, 0:8]]
nl.ndarray((128, 8), nl.float32, buffer=sbuf.mod_alloc(base_addr=0))
nl.ndarray((2, nl.par_dim(8), 4), x.dtype, buffer=sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))
nl.load(hbm[p, f], mask=(p < 64) & (f < 100), dtype=nl.bfloat16)
nl.store(hbm[p, f], value=x, mask=p < 64)
nl.fp32.min
nl.tile_size.pmax
"""
"""Methods, subscripts and operators of classic tensors, index expressions and masks."""


def classic_functions() -> dict[str, Callable[..., Any]]:
    """Return the public functions of the classic API's modules, by their name in kernels."""
    found: dict[str, Callable[..., Any]] = {}
    for short, module in (("nisa", cisa), ("nl", cnl)):
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            home = str(getattr(value, "__module__", ""))
            if name.startswith("_") or (isinstance(value, type) and name != "affine_range"):
                continue
            if callable(value) and home.startswith("nkijit.classic") and hasattr(value, "__name__"):
                found[f"{short}.{name}"] = value
    return found


def _classic_call(title: str, function: Callable[..., Any]) -> str:
    override = _OVERRIDES.get(title, {})
    if isinstance(override, str):
        return override
    given: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        name, kind = parameter.name, parameter.kind
        is_given = parameter.default is inspect.Parameter.empty or name in override
        if is_given and kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            text = override.get(name) or _ARGUMENTS[name]
            given.append(f"{name}={text}" if kind is parameter.KEYWORD_ONLY else text)
    return f"{title}({', '.join(given)})"


def classic_calls() -> list[ValidCall]:
    """Return a call of each function of the classic API, and the calls of `CLASSIC_MEMBERS`."""
    calls = {title: _classic_call(title, f) for title, f in classic_functions().items()}
    found = [ValidCall(title, source, CLASSIC) for title, source in calls.items() if source]
    lines = CLASSIC_MEMBERS.strip().split("\n")
    return found + [ValidCall(line, line, CLASSIC) for line in lines]


# ------------------------------------------------------------------ outside of kernels

OUTSIDE = """
nki.jit(body)
nki.jit(platform_target='trn2', mode='auto')(body)
copied(a)
scaled(a, 2.0)
scaled(a, factor=2.0)
copied.trace(a)
copied[1](a)
copied.on_cores(1)(a)
copied.for_target('trn2')(a)
copied.strict(True)(a)
copied.with_options({'debug_kernel': 1})(a)
copied.with_schedule([('second', ['first'])])(a)
nki.simulate(copied, strict=True)(a)
nki.run_ranks(copied, [[a], [a]])
copied.trace(nki.TensorSpec((4, 8), 'float32'))
nki.TensorSpec.parse('4x8:float32')
copied.portability(a, nki='0.5')
copied.record(a)
copied.bisect(a, against='float32')
copied.step(a)
[nl.ds(0, 4), nl.par_dim(4)]
list(nl.affine_range(0, 4, 2))
classic.jit(body, mode='auto')
classic.jit(mode='simulation')(body)
classic.simulate_kernel(classic_copied, a)
classic_copied(a)
classic_copied[2](a)
classic_copied[1, 2](a)
classic_copied[cnl.nc(2)](a)
classic_copied[cnl.spmd_dim(cnl.nc(2), 1)](a)
list(cnl.affine_range(0, 4, 2))
cnl.finfo(cnl.bfloat16)
cnl.static_cast(2, cnl.float32)
cnl.arange(4)
"""
"""Calls of functions and kernels by programs."""


@functools.cache
def _names_outside() -> dict[str, Any]:
    import nkijit.isa as nisa
    import nkijit.language as nl

    @nki.jit
    def copied(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x, name="first")
        nisa.dma_copy(out, tile, name="second")
        return out

    @nki.jit
    def scaled(x, factor):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.multiply, factor)
        nl.store(out, tile)
        return out

    @classic.jit
    def classic_copied(x):
        out = cnl.ndarray(x.shape, dtype=x.dtype, buffer=cnl.shared_hbm)
        cnl.store(out, cnl.load(x))
        return out

    a = np.ones((4, 8), np.float32)
    return {
        "a": a,
        "body": scaled.func,
        "copied": copied,
        "scaled": scaled,
        "classic_copied": classic_copied,
        **{"nki": nki, "nl": nl, "nisa": nisa, "classic": classic, "cnl": cnl, "np": np},
    }


def _run(function: Callable[[], Any]) -> None:
    function()


PROGRAM = Setting(lambda: dict(_names_outside()), _run, in_kernel=False)


def outside_calls() -> list[ValidCall]:
    """Return the calls of `OUTSIDE`."""
    return [ValidCall(line, line, PROGRAM) for line in OUTSIDE.strip().split("\n")]
