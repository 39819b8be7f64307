"""Random kernels whose loops and addresses are known only at run time.

Loop bounds, addresses and indices are of every kind of the API: numbers, scalars, registers,
induction variables, elements of tensors, and results of Python's operators on them. Each value has
a range, so all addresses are inside their tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel

P, F, PAGES = 32, 16, 9
NUMBERS = 3
"""The greatest number in the tensor of run-time numbers, and the most iterations of a loop."""
STORED = 12
RUNS = 40
"""How often a statement runs at most: loops around it multiply."""
WIDE = 10**6


def runtime_kernel(
    seed: int, target: str = "trn3", length: int = 10, depth: int = 2, cores: int = 1
) -> tuple[TracedKernel, list[Any]]:
    """A kernel and its inputs.

    Args:
        seed: equal seeds make equal kernels.
        target: the platform.
        length: about how many statements a block has.
        depth: how deep loops are nested.
        cores: 1 or 2; a kernel for trn1 has one.
    """
    if target == "trn1":
        cores = 1

    def kernel(x, numbers):
        return _Body(Random(f"{seed} {target}"), x, numbers, target, cores).build(length, depth)

    made: Any = nki.jit(kernel, platform_target=target)
    random = np.random.default_rng(seed)
    x = random.integers(-(2**31), 2**31, (PAGES, P, F)).astype(np.int32)
    numbers = random.integers(0, NUMBERS + 1, (P, F)).astype(np.int32)
    traced = (made[cores] if cores > 1 else made).trace(x, numbers)
    traced.verify()
    return traced, [x, numbers]


@dataclass
class _Number:
    """A number that is known at run time, and its range."""

    value: Any
    least: int
    most: int

    @property
    def is_small(self) -> bool:
        """Whether a loop may run so often."""
        return self.least >= -NUMBERS and self.most <= NUMBERS


@dataclass
class _Known:
    """The values of a block."""

    scalars: list[_Number]
    """Numbers for Python's operators."""
    registers: list[_Number]
    """Registers that instructions write, in the range from 0 to NUMBERS."""
    frozen: list[_Number]
    """Induction variables that are registers."""
    elements: list[_Number]
    """Tiles of one element."""

    def inside(self) -> _Known:
        return _Known(*map(list, (self.scalars, self.registers, self.frozen, self.elements)))


class _Body:
    """The statements of a kernel while it is traced."""

    def __init__(self, random: Random, x: Any, numbers: Any, target: str, cores: int):
        self.random, self.x, self.given, self.target = random, x, numbers, target
        self.cores, self.core = cores, nl.program_id(0) if cores > 1 else 0
        self.step = 0
        """The iteration of Python's loop."""
        self.runs = 1
        """How often a statement runs at most."""
        out = nl.ndarray((cores, PAGES, P, F), dtype=nl.int32, buffer=nl.shared_hbm)
        stored = nl.ndarray((cores, 1, STORED), dtype=nl.int32, buffer=nl.shared_hbm)
        self.results = out, stored
        self.out, self.stored = out[self.core], stored[self.core]
        self.numbers = self.sbuf((P, F))
        nisa.dma_copy(dst=self.numbers, src=numbers)
        self.tiles = [self.sbuf((P, F)) for _ in range(3)]
        for number, tile in enumerate(self.tiles):
            nisa.dma_copy(dst=tile, src=x[number])
        for page in range(PAGES):
            nisa.dma_copy(dst=self.out[page], src=x[page])
        nisa.dma_copy(dst=self.stored, src=self.tiles[0][0:1, 0:STORED])
        self.known = _Known([], [], [], [])
        self.new_scalar()
        self.new_register()

    def build(self, length: int, depth: int) -> Any:
        self.block(length, depth)
        for number, tile in enumerate(self.tiles):
            nisa.dma_copy(dst=self.out[number], src=tile)
        return self.results

    def block(self, length: int, depth: int) -> None:
        for _ in range(length):
            if depth and self.random.random() < 0.3:
                self.random.choice((self.loop, self.loop, self.while_loop, self.repeat))(
                    max(2, length // 2), depth - 1
                )
            elif not self.core_alone():
                self.random.choice(self.statements())()

    def core_alone(self) -> bool:
        """Add a statement of one of two cores; later ones may use its results."""
        if self.cores == 1 or self.random.random() > 0.1:
            return False
        number, seed, is_kept = (self.random.randrange(n) for n in (2, 2**31, 2))
        if number == self.core:
            kept, outer = self.random, self.known.inside()
            self.random = Random(seed)
            self.random.choice(self.statements())()
            self.random = kept
            if not is_kept:
                self.known = outer
        return True

    def statements(self) -> list[Callable[[], None]]:
        common = [
            self.new_scalar, self.computed, self.computed, self.computed, self.new_register,
            self.moved, self.loaded, self.scalar_stored, self.register_stored, self.new_element,
            self.copy, self.copy, self.load, self.load, self.store, self.store, self.pattern,
            self.gather, self.iota, self.ordered, self.shaped, self.shaped,
        ]  # fmt: skip
        return [*common, self.indirect] if self.target == "trn3" else common

    # -------------------------------------------------------------- numbers

    def sbuf(self, shape: tuple[int, int], dtype: Any = nl.int32) -> Any:
        return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)

    def number(self, end: int) -> int:
        """A number below `end`, which may differ between iterations and cores."""
        step, of_core = self.random.randrange(3), self.random.randrange(2)
        first = self.random.randrange(end)
        return (first + step * self.step + of_core * self.core) % end

    def source(self) -> Any:
        """An element with a number from 0 to NUMBERS, in SBUF or HBM."""
        of = self.random.choice((self.numbers, self.given))
        row, column = self.number(P), self.number(F)
        if of is self.given and self.random.random() < 0.3:
            return of[row, nl.ds(column, 1)]
        return of[row : row + 1, column : column + 1]

    def scalar(self) -> _Number:
        """A scalar, often the newest: in the body of a loop its induction variable."""
        scalars = self.known.scalars
        return scalars[-1] if self.random.random() < 0.4 else self.random.choice(scalars)

    def register(self) -> _Number:
        return self.random.choice(self.known.registers)

    def address(self, end: int) -> Any:
        """Return a value that can be an index below `end`."""
        known = self.known
        pool = [*known.scalars, *known.registers, *known.frozen, *known.elements]
        fits = [n.value for n in pool if n.least >= 0 and n.most < end]
        return self.random.choice(fits) if fits else self.number(end)

    # -------------------------------------------------------------- statements about numbers

    def new_scalar(self) -> None:
        loaded = nisa.scalar_load(self.source())
        self.known.scalars.append(_Number(loaded, 0, NUMBERS))

    def computed(self) -> None:
        one, two = self.scalar(), self.scalar()
        word = self.random.choice(("+", "-", "*", "neg", "pos"))
        if word == "pos":
            self.known.scalars.append(_Number(+one.value, one.least, one.most))
            return
        if word == "neg":
            self.known.scalars.append(_Number(-one.value, -one.most, -one.least))
            return
        if self.random.random() < 0.6:
            given = self.random.choice((0, 1, 1, 2, -1, 3, -2))
            given += self.random.randrange(2) * self.step + self.random.randrange(2) * self.core
            two = _Number(given, given, given)
            if self.random.random() < 0.3:
                one, two = two, one
        ends = [(a, b) for a in (one.least, one.most) for b in (two.least, two.most)]
        if word == "+":
            made, found = one.value + two.value, [a + b for a, b in ends]
        elif word == "-":
            made, found = one.value - two.value, [a - b for a, b in ends]
        else:
            made, found = one.value * two.value, [a * b for a, b in ends]
        if max(map(abs, found)) < WIDE:
            self.known.scalars.append(_Number(made, min(found), max(found)))

    def new_register(self) -> None:
        number = self.number(NUMBERS + 1)
        register = nisa.register_alloc(number)
        if self.random.random() < 0.3:
            register = nisa.register_alloc()
            self.write(register)
        self.known.registers.append(_Number(register, 0, NUMBERS))

    def write(self, register: Any) -> None:
        """Any number from 0 to NUMBERS."""
        word = self.random.randrange(3)
        known = self.known
        pool = [*known.scalars, *known.registers, *known.frozen]
        fits = [n.value for n in pool if n.least >= 0 and n.most <= NUMBERS]
        if word == 0 and fits:
            nisa.register_move(dst=register, src=self.random.choice(fits))
        elif word == 1:
            nisa.register_load(dst=register, src=self.source())
        else:
            nisa.register_move(dst=register, src=self.number(NUMBERS + 1))

    def moved(self) -> None:
        self.write(self.register().value)

    def loaded(self) -> None:
        nisa.register_load(dst=self.register().value, src=self.source())

    def scalar_stored(self) -> None:
        nisa.scalar_store(self.element_of(self.stored), self.scalar().value)

    def register_stored(self) -> None:
        known = self.known
        value = self.random.choice([*known.registers, *known.frozen, *known.scalars]).value
        nisa.register_store(dst=self.element_of(self.stored), src=value)

    def element_of(self, stored: Any) -> Any:
        if self.random.random() < 0.3:
            return stored[0, self.address(STORED)]
        column = self.number(STORED)
        return stored[0:1, column : column + 1]

    def new_element(self) -> None:
        tile = self.sbuf((1, 1))
        fits = [n.value for n in self.known.scalars if n.least >= 0 and n.most <= NUMBERS]
        if fits and self.random.random() < 0.5:
            nisa.scalar_store(tile, self.random.choice(fits))
        else:
            nisa.tensor_copy(dst=tile, src=self.numbers[0:1, 3:4])
        self.known.elements.append(_Number(tile, 0, NUMBERS))

    # -------------------------------------------------------------- statements with addresses

    def tile(self) -> Any:
        return self.random.choice(self.tiles)

    def window(self, width: int) -> Any:
        """Some columns of a tile."""
        word, tile = self.random.randrange(3), self.tile()
        if word == 0:
            start = self.number(F - width + 1)
            return tile[:, start : start + width]
        index = self.address(F - width + 1)
        if word == 1 and not isinstance(index, int):
            pattern = [[F, P], [1, width]]
            return tile.ap(pattern=pattern, scalar_offset=index, indirect_dim=1)
        return tile[:, nl.ds(index, width)]

    def page(self, tensor: Any) -> Any:
        word, index = self.random.randrange(3), self.address(PAGES)
        if word == 0:
            return tensor.select(0, index)
        return tensor[index] if word == 1 else tensor[index, :, :]

    def copy(self) -> None:
        width = self.random.choice((1, 4, 8))
        nisa.tensor_tensor(
            dst=self.window(width), data1=self.window(width), data2=self.window(width), op=nl.add
        )

    def load(self) -> None:
        if self.random.random() < 0.3:
            count = self.random.choice((1, 2))
            pages = self.x[nl.ds(self.address(PAGES - count + 1), count), 0:P, 0]
            nisa.dma_copy(dst=self.out[nl.ds(self.number(PAGES - 1), count), 0:P, 3], src=pages)
        else:
            nisa.dma_copy(dst=self.tile(), src=self.page(self.x))

    def store(self) -> None:
        width = self.random.choice((4, 8, F))
        start = self.number(F - width + 1)
        page = self.out[self.address(PAGES), 0:P, start : start + width]
        nisa.dma_copy(dst=page, src=self.window(width))

    def pattern(self) -> None:
        """Explicit patterns, from an offset and an element that is known at run time."""
        dim = self.random.randrange(3)
        index = self.address((PAGES - 1, P // 2, F // 2)[dim])
        # The offset is in bounds for the greatest index.
        shape = [[F, P // 2], [1, 4]]
        offset = self.number(4)
        if isinstance(index, int):
            page = self.x.ap(pattern=shape, offset=offset + index)
        else:
            page = self.x.ap(pattern=shape, offset=offset, scalar_offset=index, indirect_dim=dim)
        nisa.dma_copy(dst=self.tile()[0 : P // 2, 0:4], src=page)

    def shaped(self) -> None:
        """An index of a view: of a part, in another shape, order or data type."""
        x, rows = self.x, self.tile()
        index = self.address(F)
        views: list[Callable[[], tuple[Any, Any]]] = [
            lambda: (rows[:, 0:1], x.select(2, index)[self.number(PAGES)].reshape((P, 1))),
            lambda: (
                rows[0:4, 0:F],
                x[self.number(PAGES)].reshape((P // 4, 4, F))[self.address(8)],
            ),
            lambda: (rows[0:2, 0:F], x[0:PAGES:2, 4:6][self.address(5)]),
            lambda: (rows[0:PAGES, 0:F], x[:, self.address(P)]),
            lambda: (rows[0:PAGES, 0:4], x[:, self.number(P), nl.ds(self.address(F - 3), 4)]),
            lambda: (rows[0:F, 0:8], x[self.address(PAGES)].permute((1, 0))[:, 4:12]),
            lambda: (rows[:, 0:4], rows.reshape((P, 4, 4))[:, self.address(4), :]),
            lambda: (rows[:, 8:12], rows.reshape((P, 4, 4))[:, :, self.address(4)]),
            lambda: (rows[:, 0:2].view("int16"), rows.view("int16")[:, nl.ds(self.address(9), 4)]),
            lambda: (rows[:, 0:8], rows[:, 4:12][:, nl.ds(self.address(1), 8)]),
            lambda: (
                rows[0:8, 0:2].view("int16"),
                x.ap([[2 * F, 8], [1, 4]], 2, self.element(), indirect_dim=1, dtype="int16"),
            ),
        ]
        dst, src = self.random.choice(views)()
        nisa.dma_copy(dst=dst, src=src)

    def element(self) -> Any:
        """A register or a tile of one element with a number up to NUMBERS."""
        fits = [n.value for n in [*self.known.registers, *self.known.elements]]
        return self.random.choice(fits)

    def gather(self) -> None:
        index = self.sbuf((4, 1))
        column = self.number(F)
        nisa.tensor_copy(dst=index, src=self.numbers[0:4, column : column + 1])
        source = self.x.reshape((PAGES * P, F))
        if self.random.random() < 0.5:
            part = source.vector_select(0, index)
        else:
            part = source.ap(pattern=[[F, 4], [1, F]], offset=0, vector_offset=index)
        nisa.dma_copy(dst=self.tile()[0:4, :], src=part)

    def iota(self) -> None:
        known = self.known
        pool = [n.value for n in [*known.scalars, *known.registers, *known.frozen]]
        offset = self.random.choice([*pool, self.number(9)])
        nisa.iota(self.tile()[:, 0:8], [[1, 8]], offset=offset, channel_multiplier=self.number(3))

    def indirect(self) -> None:
        index = self.sbuf((P, 1))
        column = self.number(F)
        nisa.tensor_copy(dst=index, src=self.numbers[:, column : column + 1])
        nisa.tensor_copy(
            dst=self.tile(), src=self.tile().indirect(index, F), engine=nisa.vector_engine
        )

    def ordered(self) -> None:
        with nl.no_reorder():
            for _ in range(self.random.randint(1, 3)):
                self.random.choice((self.copy, self.load, self.store, self.scalar_stored))()

    # -------------------------------------------------------------- loops

    def bound(self) -> _Number:
        """A bound of a loop; some are loaded or computed where they are used."""
        known, word = self.known, self.random.randrange(8)
        if word > 5 or word == 0:
            return _Number(nisa.scalar_load(self.source()), 0, NUMBERS)
        if word == 1:
            number = self.number(NUMBERS + 1)
            return _Number(number, number, number)
        if word == 2:
            scalar = self.scalar()
            made = _Number(scalar.value + 1, scalar.least + 1, scalar.most + 1)
            return made if made.is_small else self.bound()
        pool = [known.scalars, known.registers, known.frozen][word - 3]
        fits = [n for n in pool if n.is_small]
        return self.random.choice(fits) if fits else self.bound()

    def loop(self, length: int, depth: int) -> None:
        lower, upper = self.bound(), self.bound()
        if self.random.random() < 0.5:
            lower = _Number(0, 0, 0)
        times = max(0, upper.most - lower.least)
        if self.runs * times > RUNS:
            return
        is_range = self.random.random() < 0.4
        if is_range and self.random.random() < 0.5:
            lower, upper = _Number(0, 0, 0), _Number(2, 2, 2)
        step = self.random.choice((1, 1, 2))
        # A loop without iterations allows any index.
        least, most = lower.least, max(lower.least, upper.most - 1)
        outer = self.known
        self.runs *= max(1, times)

        def body(i: Any) -> None:
            self.known = outer.inside()
            pool = self.known.scalars if isinstance(i, nisa.NkiScalar) else self.known.frozen
            pool.append(_Number(i, least, most))
            self.block(self.random.randint(1, length), depth)

        if not is_range:
            nl.fori_loop(lower.value, upper.value, body, step=step)
            self.known = outer
        else:
            ends = (lower.value, upper.value, step)
            is_plain = isinstance(lower.value, int) and lower.value == 0 and step == 1
            for index in nl.dynamic_range(*(ends[1:2] if is_plain else ends)):
                body(index)
            # Python's names outlive the loop, which has run at least once.
            inner, self.known = self.known, outer
            if lower.most < upper.least and self.random.random() < 0.7:
                outer.scalars += inner.scalars[len(outer.scalars) :]
                outer.registers += inner.registers[len(outer.registers) :]
        self.runs //= max(1, times)

    def while_loop(self, length: int, depth: int) -> None:
        """As often as a tile that counts down says."""
        if self.runs * NUMBERS > RUNS:
            return
        outer = self.known
        self.known = outer.inside()
        left = self.sbuf((1, 1))
        nisa.tensor_copy(dst=left, src=self.numbers[0:1, 5:6])
        word = self.random.randrange(4)
        self.runs *= NUMBERS

        def count() -> None:
            nisa.tensor_scalar(dst=left, data=left, op0=nl.add, operand0=-1)

        if word == 0:
            going = nisa.register_alloc()
            nisa.register_load(going, left)
            while going:
                self.block(self.random.randint(1, length), depth)
                count()
                nisa.register_load(going, left)
        else:
            going = nisa.scalar_load(left) if word == 1 else nisa.register_alloc(1)
            if word > 1:
                nisa.register_load(going, left)

            def body(condition: Any) -> Any:
                self.block(self.random.randint(1, length), depth)
                count()
                if word == 1:
                    return nisa.scalar_load(left)
                if word == 2:
                    nisa.register_load(condition, left)
                    return condition
                following = nisa.register_alloc()
                nisa.register_load(following, left)
                return following

            nl.while_loop(going, body)
        self.runs //= NUMBERS
        self.known = outer

    def repeat(self, length: int, depth: int) -> None:
        """Python's loop: the same statements with other numbers."""
        times, length = self.random.randint(2, 4), self.random.randint(1, length)
        seed, outer, kept = self.random.randrange(2**31), self.known, self.random
        made: list[_Known] = []
        for self.step in range(times):
            self.random, self.known = Random(seed), outer.inside()
            self.block(length, depth)
            made.append(self.known)
        self.step, self.random, self.known = 0, kept, outer
        if self.random.random() < 0.5:
            old = outer.inside()
            for inner in made:
                outer.scalars += inner.scalars[len(old.scalars) :][:1]
                outer.registers += inner.registers[len(old.registers) :][:1]
