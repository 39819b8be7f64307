"""Random kernels with device loops in sequence and nested, and every instance of their tiles.

The source of a kernel and the contents of its tiles come from one tree of statements: Python
executes the tree with NumPy, without nkijit. Loops of Python and on the device, of all forms, write
the same tiles; loops at one depth have variables of one name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from support.exports import kernel_of_source

from nkijit.kernels.kernel import Kernel

SHAPE = (2, 4)
VARIABLES = "ijk"
"""The variable of the loops at each depth."""
FORMS = ("python", "fori_loop", "dynamic_range", "while", "while_loop")

Array = np.ndarray[Any, np.dtype[np.float32]]


@dataclass
class Instance:
    """The contents of a tile after consecutive writes in one iteration of the device loops."""

    loops: dict[str, int]
    value: Array


@dataclass
class Sequenced:
    """A kernel with its expected results."""

    kernel: Kernel
    source: str
    inputs: list[Array]
    instances: dict[str, list[Instance]] = field(default_factory=dict)
    results: list[Array] = field(default_factory=list)


@dataclass
class _Write:
    tile: str
    columns: tuple[int, int]
    amount: float
    """It is added; an allocation is filled with it."""
    allocates: bool = False


@dataclass
class _Loop:
    form: str
    variable: str
    count: int
    body: list[_Write | _Loop]
    number: int

    @property
    def is_on_device(self) -> bool:
        return self.form != "python"

    @property
    def name(self) -> str:
        """The name of its iterations in a recording."""
        return "while" if self.form.startswith("while") else self.variable


def wrong_with(made: Sequenced, random: Random) -> Iterator[str]:
    """How the recording and the bisection of a kernel differ from its instances."""
    record = made.kernel.record(*made.inputs)
    for name, instances in made.instances.items():
        found = [(tile.loops, tile.value.tolist()) for tile in record[name]]
        expected = [(each.loops, each.value.tolist()) for each in instances]
        if found != expected:
            yield f"the instances of {name} are {found}, they have to be {expected}"
            return
    reference = {name: [i.value for i in found] for name, found in made.instances.items()}
    if found := record.bisect(reference):
        yield f"a bisection against the right values finds {found}"
    name = random.choice(list(reference))
    number = random.randrange(len(reference[name]))
    reference[name][number] = reference[name][number] + 1
    departure = record.bisect(reference).departure
    wanted = record[name][number].writes[-1].number
    if departure is None or (departure.tile, departure.instruction.number) != (name, wanted):
        yield f"number {number} of {name} is wrong in the reference, found is {departure}"


def sequenced_kernel(random: Random) -> Sequenced:
    """A kernel, its input and its instances; equal generators make equal kernels."""
    tree = _Tree(random)
    body = tree.block(["a", "b"], 0, random.randint(2, 5), may_while=True)
    lines = [
        "import nkijit as nki",
        "import nkijit.isa as nisa",
        "import nkijit.language as nl",
        "",
        "@nki.jit",
        "def sequenced(x):",
    ]
    for tile in "ab":
        lines += [
            f"    {tile} = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)",
            f"    nisa.dma_copy(dst={tile}, src=x)",
            f"    out_{tile} = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)",
        ]
    for statement in body:
        _emit(statement, "    ", lines)
    lines += [f"    nisa.dma_copy(dst=out_{tile}, src={tile})" for tile in "ab"]
    lines += ["    return out_a, out_b"]
    source = "\n".join(lines) + "\n"
    x = np.array([[random.randrange(8) for _ in range(SHAPE[1])] for _ in range(SHAPE[0])])
    made = Sequenced(kernel_of_source(source, "sequenced"), source, [x.astype(np.float32)])
    run = _Run(made)
    for statement in body:
        run.execute(statement, (), 0)
    made.results = [run.contents(tile) for tile in "ab"]
    return made


class _Tree:
    """Draws statements."""

    def __init__(self, random: Random):
        self._random = random
        self._loops = 0

    def block(
        self, tiles: list[str], depth: int, length: int, *, may_while: bool
    ) -> list[_Write | _Loop]:
        random, tiles = self._random, list(tiles)
        found: list[_Write | _Loop] = []
        if depth and random.random() < 0.4:
            tiles.append(f"own{depth}")
            found.append(_Write(tiles[-1], (0, SHAPE[1]), random.randrange(1, 9), allocates=True))
        for _ in range(length):
            if depth < len(VARIABLES) and random.random() < 0.55:
                form = random.choice(FORMS if may_while else FORMS[:3])
                self._loops += 1
                number, inner = self._loops, may_while and not form.startswith("while")
                # Python executes no body that runs 0 times, and a trace does not see it.
                count = random.randint(form == "python", 3)
                body = self.block(tiles, depth + 1, random.randint(1, 3), may_while=inner)
                found.append(_Loop(form, VARIABLES[depth], count, body, number))
            else:
                start = random.choice((0, 0, 2))
                amount = float(random.randrange(1, 50))
                found.append(_Write(random.choice(tiles), (start, SHAPE[1]), amount))
        return found


def _emit(node: _Write | _Loop, indent: str, lines: list[str]) -> None:
    """The source of a statement."""
    if isinstance(node, _Write):
        if node.allocates:
            lines.append(f"{indent}{node.tile} = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)")
            lines.append(f"{indent}nisa.memset(dst={node.tile}, value={node.amount})")
            return
        part = f"{node.tile}[:, {node.columns[0]}:{node.columns[1]}]"
        lines.append(
            f"{indent}nisa.tensor_scalar("
            f"dst={part}, data={part}, op0=nl.add, operand0={node.amount})"
        )
        return
    name, left, register = f"body{node.number}", f"left{node.number}", f"go{node.number}"
    count_down = []
    if node.form.startswith("while"):
        lines += [
            f"{indent}{left} = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)",
            f"{indent}nisa.memset(dst={left}, value={node.count})",
            f"{indent}{register} = nisa.register_alloc({node.count})",
        ]
        count_down = [
            f"nisa.tensor_scalar(dst={left}, data={left}, op0=nl.subtract, operand0=1)",
            f"nisa.register_load({register}, {left})",
        ]
    if node.form == "while_loop":
        count_down[1] = f"nisa.register_load(condition, {left})"
        count_down.append("return condition")
    heads = {
        "python": f"for {node.variable} in range({node.count}):",
        "dynamic_range": f"for {node.variable} in nl.dynamic_range({node.count}):",
        "fori_loop": f"def {name}({node.variable}):",
        "while": f"while {register}:",
        "while_loop": f"def {name}(condition):",
    }
    lines.append(indent + heads[node.form])
    for statement in node.body:
        _emit(statement, indent + "    ", lines)
    lines += [f"{indent}    {line}" for line in count_down]
    if node.form == "fori_loop":
        lines.append(f"{indent}nl.fori_loop(0, {node.count}, {name})")
    elif node.form == "while_loop":
        lines.append(f"{indent}nl.while_loop({register}, {name})")


@dataclass
class _Tensor:
    contents: Array
    loops: dict[str, int]
    """The loops of Python around its allocation."""
    iteration: int = -1
    """That in which it was written last."""
    latest: Instance | None = None


@dataclass(frozen=True)
class _Around:
    """An iteration of a loop."""

    name: str
    value: int
    is_on_device: bool


class _Run:
    """Executes statements."""

    def __init__(self, made: Sequenced):
        self._made = made
        self._iterations = 0
        """Iterations of loops on the device that have begun."""
        self._visible: dict[str, _Tensor] = {}
        self._allocated: dict[tuple[Any, ...], _Tensor] = {}
        """By the statement and the loops of Python around it."""
        for tile in "ab":
            tensor = self._visible[tile] = _Tensor(made.inputs[0].copy(), {})
            self._note(tile, tensor, (), 0)

    def execute(self, node: _Write | _Loop, around: tuple[_Around, ...], iteration: int) -> None:
        """Execute a statement in an iteration of the loops on the device, 0 for none."""
        if isinstance(node, _Write):
            self._write(node, around, iteration)
            return
        for value in range(node.count):
            if node.is_on_device:
                self._iterations += 1
            inner = self._iterations if node.is_on_device else iteration
            for statement in node.body:
                self.execute(
                    statement, (*around, _Around(node.name, value, node.is_on_device)), inner
                )

    def contents(self, tile: str) -> Array:
        """Return the contents of a tile of the kernel."""
        return self._visible[tile].contents.copy()

    def _write(self, node: _Write, around: tuple[_Around, ...], iteration: int) -> None:
        if node.allocates:
            python = {loop.name: loop.value for loop in around if not loop.is_on_device}
            fresh = _Tensor(np.zeros(SHAPE, np.float32), python)
            key = id(node), *python.items()
            tensor = self._visible[node.tile] = self._allocated.setdefault(key, fresh)
            tensor.contents[...] = node.amount
        else:
            tensor = self._visible[node.tile]
            tensor.contents[:, slice(*node.columns)] += node.amount
        self._note(node.tile, tensor, around, iteration)

    def _note(
        self, tile: str, tensor: _Tensor, around: tuple[_Around, ...], iteration: int
    ) -> None:
        if tensor.latest is not None and tensor.iteration == iteration:
            tensor.latest.value = tensor.contents.copy()
            return
        innermost = max([n for n, loop in enumerate(around) if loop.is_on_device], default=-1)
        loops = {loop.name: loop.value for loop in around[: innermost + 1]}
        tensor.iteration = iteration
        tensor.latest = Instance(loops | tensor.loops, tensor.contents.copy())
        self._made.instances.setdefault(tile, []).append(tensor.latest)
