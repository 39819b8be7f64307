"""Steps that compute the digests of an instruction's results: a backend of the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.dialects.nisa.mx import GROUP_PARTITIONS, scale_rows
from nkijit.passes.interpret.records.environment import Env, Slots, Step
from nkijit.passes.interpret.records.operands import Read
from nkijit.passes.interpret.records.records import (
    AccumulatorUse,
    Applied,
    Arithmetic,
    Calculated,
    Chain,
    Chosen,
    Computed,
    Constructor,
    Copy,
    Declared,
    Destination,
    Drawn,
    Fill,
    Gather,
    Generated,
    Loaded,
    Matmul,
    Meets,
    MoveRows,
    OfRegister,
    OnRegisters,
    Opaque,
    Reach,
    Record,
    Reduce,
    Scaled,
    Selected,
    Source,
    Table,
    Transpose,
)
from nkijit.passes.numerics.storage import storage
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import Cells, differ
from nkijit.passes.prove.errors import NotProvableError
from nkijit.passes.prove.held import held_type
from nkijit.passes.prove.memory import read, rounded_number, stored_numbers, write
from nkijit.passes.prove.symbols import Symbol, register_cells

REGISTER = DTYPES["int32"]
"""The data type of a register's content."""


class Binder:
    """Returns steps for records, with the constructors of an algebra."""

    def __init__(self, algebra: Algebra):
        self.algebra = algebra
        self._binders: dict[type[Any], Callable[[Any], Step]] = {
            Chain: self._chain,
            Computed: self._computed,
            Copy: self._copy,
            Fill: self._fill,
            Transpose: self._transpose,
            Matmul: self._matmul,
            Reduce: self._reduce,
            Gather: self._gather,
            MoveRows: self._move_rows,
            Opaque: self._opaque,
            Meets: self._meets,
        }
        self._described: dict[type[Any], Callable[[Any], Step]] = {
            Declared: self._declared,
            Generated: self._generated,
            Chosen: self._chosen,
            Selected: self._selected,
            Drawn: self._drawn,
            Loaded: self._loaded,
        }

    def bind(self, record: Record, slots: Slots) -> Step:
        """Return the step that computes the digests of a record's results.

        Raises NotProvableError for a record without a constructor of terms.
        """
        del slots
        return self._binders[type(record)](record)

    # ---------------------------------------------------------------- results

    def _store(self, env: Env, into: Destination, values: Cells, of: DType | None = None) -> None:
        """Round float32 results into a tile; `of` is a data type that contains all values."""
        if of is None or not into.dtype.contains(of):
            values = self.algebra.rounded(values, into.dtype)
        write(env, into, values, self.algebra)

    def _accumulating(
        self, use: AccumulatorUse | None
    ) -> Callable[[Env, Callable[[], Cells]], object]:
        """Return a function that computes results, between the updates of the accumulators.

        The argument `compute` stores the results and returns them before they are rounded.
        """
        if use is None:
            return lambda env, compute: compute()
        algebra = self.algebra
        slot, lanes = use.registers.slot, use.registers.lanes or slice(None)
        start = None if use.start is None else _start(use.start, algebra)

        def step(env: Env, compute: Callable[[], Cells]) -> None:
            registers: Cells = env[slot][lanes]
            if start is not None:
                registers[...] = start(env)
            results = compute()
            if use.word is not None:
                registers[...] = algebra.fold(use.word, registers.copy(), results)
            if use.keeps_last:
                registers[...] = results[:, -1:]
            if use.into is not None:
                out = algebra.unary("negate", registers) if use.negate else registers
                self._store(env, use.into, out.reshape(use.into.shape))

        return step

    # ---------------------------------------------------------------- chains

    def _chain(self, record: Chain) -> Step:
        if record.arithmetic is not Arithmetic.float32:
            return self._bits(record)
        data, into = read(record.data, self.algebra), record.into
        stages = [self._stage(stage, into.shape) for stage in record.stages]
        around = self._accumulating(record.accumulators)
        copies = all(stage.word == "copy" for stage in record.stages)
        of = _values_in(record.data) if copies else None

        def step(env: Env) -> None:
            def compute() -> Cells:
                x = np.broadcast_to(data(env), into.shape)
                for stage in stages:
                    x = stage(env, x)
                self._store(env, into, x, of)
                return x

            around(env, compute)

        return step

    def _stage(self, stage: Applied, shape: tuple[int, ...]) -> Callable[[Env, Cells], Cells]:
        algebra, word, reverse = self.algebra, stage.word, stage.reverse
        if stage.operand is None:
            return lambda env, x: algebra.unary(word, x)
        operand = read(stage.operand, algebra)
        if stage.table is Table.running:
            return lambda env, x: algebra.running(word, x, operand(env))
        if stage.table is Table.activation:
            return lambda env, x: algebra.elements(("activation", word), x, operand(env))
        if _is_neutral(word, stage.operand.constant, reverse):
            return lambda env, x: x
        if _negates(word, stage.operand.constant):
            return lambda env, x: algebra.unary("negate", x)
        if reverse:
            return lambda env, x: algebra.binary(word, operand(env), x, shape)
        return lambda env, x: algebra.binary(word, x, operand(env), shape)

    def _bits(self, record: Chain) -> Step:
        algebra, into = self.algebra, record.into
        data = read(record.data, algebra)
        assert record.data.tile is not None
        kind = record.data.tile.info.dtype.name
        stages: list[tuple[Applied, Any, tuple[str, ...]]] = []
        for stage in record.stages:
            operand = None if stage.operand is None else read(stage.operand, algebra)
            tile = None if stage.operand is None else stage.operand.tile
            other = kind if tile is None else tile.info.dtype.name
            mode = record.arithmetic.value
            stages.append((stage, operand, (kind, other, kind, mode)))

        def step(env: Env) -> None:
            x = np.broadcast_to(data(env), into.shape)
            for stage, operand, kinds in stages:
                if operand is None:
                    x = algebra.bits(stage.word, kinds, x)
                    continue
                y = np.broadcast_to(operand(env), into.shape)
                ends = (y, x) if stage.reverse else (x, y)
                x = algebra.bits(stage.word, (*kinds, str(stage.reverse)), *ends)
            if into.dtype.name != kind:
                x = algebra.elements(("bits as", kind, into.dtype.name), x)
            write(env, into, x, algebra)

        return step

    # ---------------------------------------------------------------- functions and reductions

    def _computed(self, record: Computed) -> Step:
        constructor = record.constructor
        if constructor is None:
            raise NotProvableError("its function has no term")
        reads = [read(source, self.algebra) for source in record.sources]
        around = self._accumulating(record.accumulators)

        def step(env: Env) -> None:
            def compute() -> Cells:
                operands = [each(env) for each in reads]
                found = self._constructed(constructor, 0, record.into.shape, operands)
                self._store(env, record.into, found)
                return found

            around(env, compute)

        return step

    def _constructed(
        self, of: Constructor, number: int, shape: tuple[int, ...], operands: Sequence[Cells]
    ) -> Cells:
        """Return a constructor's result `number` in a shape."""
        algebra, name = self.algebra, (of.name, number)
        if of.reach is Reach.elements:
            return algebra.elements(name, *(np.broadcast_to(each, shape) for each in operands))
        if of.reach is Reach.columns:
            return algebra.by_column(name, shape, *operands)
        if of.reach is Reach.prefixes:
            *rows, start = operands
            return algebra.scan(name, start, *rows)
        if of.reach is Reach.rows:
            flat = (len(operands[0]), int(np.prod(shape)) // len(operands[0]))
            rows = [each.reshape(len(each), -1) for each in operands]
            return algebra.of_rows(name, flat, *rows).reshape(shape)
        return algebra.of_tiles(name, shape, *operands)

    def _reduce(self, record: Reduce) -> Step:
        algebra, source, into = self.algebra, read(record.source, self.algebra), record.into
        raw = record.arithmetic is Arithmetic.bits

        def step(env: Env) -> None:
            x = source(env)
            if record.over_partitions:
                x = x.reshape(len(x), -1).T
            word = f"bits {record.word}" if raw else record.word
            found = algebra.reduce(word, x).reshape(into.shape)
            if record.divisor != 1:
                found = algebra.elements(("divide", record.divisor), found)
            if record.negate:
                found = algebra.unary("negate", found)
            if raw:
                write(env, into, found, algebra)
            else:
                self._store(env, into, found)

        return step

    # ---------------------------------------------------------------- movement

    def _copy(self, record: Copy) -> Step:
        source, into = read(record.source, self.algebra), record.into
        of = _values_in(record.source)

        def step(env: Env) -> None:
            values = source(env)
            if np.may_share_memory(values, env[into.slot]):
                values = values.copy()
            if of is None:
                write(env, into, values, self.algebra)
            else:
                self._store(env, into, values, of)

        return step

    def _fill(self, record: Fill) -> Step:
        found, into = stored_numbers(record.values, record.into.dtype, self.algebra), record.into
        return lambda env: write(env, into, found, self.algebra)

    def _transpose(self, record: Transpose) -> Step:
        if record.valid is not None:
            raise NotProvableError("rows are left out by an index that is known only at run time")
        source, into = read(record.source, self.algebra), record.into

        def step(env: Env) -> None:
            moved = source(env).transpose(record.axes).copy()
            write(env, into, moved.reshape(into.shape), self.algebra)

        return step

    def _gather(self, record: Gather) -> Step:
        algebra, into = self.algebra, record.into
        data, indices = read(record.data, algebra), read(record.indices, algebra)

        def step(env: Env) -> None:
            index, rows = indices(env), data(env)
            of_rows = algebra.of_rows("row", (len(rows), 1), rows.reshape(len(rows), -1))
            index = index.reshape(len(index), -1)
            found = algebra.elements("gather", np.broadcast_to(of_rows, index.shape), index)
            write(env, into, found.reshape(into.shape), algebra)

        return step

    def _move_rows(self, record: MoveRows) -> Step:
        algebra, into = self.algebra, record.into
        source = read(record.source, algebra)
        targets, sources = (np.array(list(r), np.intp) for r in (record.rows, record.rows.values()))
        whole = read(Source(into.slot, tile=into.tile), algebra)

        def step(env: Env) -> None:
            values = whole(env).copy()
            values[targets] = source(env)[sources]
            write(env, into, values, algebra)

        return step

    # ---------------------------------------------------------------- products

    def _matmul(self, record: Matmul) -> Step:
        algebra, into, added = self.algebra, record.into, record.added
        left, right = self._factor(record.stationary), self._factor(record.moving)
        previous = None if record.previous is None else read(record.previous, algebra)

        def step(env: Env) -> None:
            found = algebra.product(left(env), right(env))
            if previous is not None:
                total = algebra.binary("add", found, previous(env), found.shape)
                found = total if added is True else np.where(added, total, found)
            self._store(env, into, found.reshape(into.shape))

        return step

    def _factor(self, operand: Source | Scaled) -> Callable[[Env], Cells]:
        algebra = self.algebra
        if isinstance(operand, Source):
            return read(operand, algebra)
        data, scale = read(operand.data, algebra), read(operand.scale, algebra)
        rows = np.repeat(scale_rows(operand.partitions), GROUP_PARTITIONS)
        name = ("scaled", operand.element)

        def scaled(env: Env) -> Cells:
            shape = operand.partitions, operand.free_size
            packed = data(env).reshape(shape)
            scales = scale(env).reshape(len(scale(env)), -1)[rows]
            return algebra.elements(name, packed, np.broadcast_to(scales, shape))

        return scaled

    def _selected(self, of: Selected) -> Step:
        algebra = self.algebra
        stationary, moving = read(of.stationary, algebra), read(of.moving, algebra)
        one, zero = algebra.number(np.float32(1)), algebra.number(np.float32(0))
        exact = of.stationary.dtype

        def step(env: Env) -> None:
            selector, values = moving(env), stationary(env)
            ones = ~differ(selector, np.broadcast_to(one, selector.shape))
            zeros = ~differ(selector, np.broadcast_to(zero, selector.shape))
            if (ones | zeros).all() and (ones.sum(0) == 1).all():
                found = values[ones.argmax(0), :].T
            else:
                shape = values.shape[1], selector.shape[1]
                rows = algebra.of_rows("column", (shape[0], 1), values.T)
                columns = algebra.of_rows("column", (shape[1], 1), selector.T)
                found = algebra.elements(
                    "selected", np.broadcast_to(rows, shape), np.broadcast_to(columns.T, shape)
                )
            found = found.reshape(of.into.shape)
            if exact is None:
                write(env, of.into, found, algebra)
            else:
                self._store(env, of.into, found, exact)

        return step

    # ---------------------------------------------------------------- opaque computations

    def _opaque(self, record: Opaque) -> Step:
        if record.description is None:
            raise NotProvableError("its result depends on data that only a run knows")
        if isinstance(record.description, OnRegisters):
            return record.step
        if isinstance(record.description, Calculated):
            return self._calculated(record.description, record.step)
        return self._described[type(record.description)](record.description)

    def _meets(self, record: Meets) -> Any:
        if not record.moves:
            raise NotProvableError("it computes with data of other ranks")
        return record.drive

    def _declared(self, of: Declared) -> Step:
        algebra = self.algebra
        reads = [read(source, algebra) for source in of.sources]
        masks = of.written or (None,) * len(of.into)
        before = [
            read(Source(into.slot, reshape=into.shape, tile=into.tile), algebra) for into in of.into
        ]

        def step(env: Env) -> None:
            operands = [each(env) for each in reads]
            found = [
                self._constructed(of.constructor, number, into.shape, operands)
                for number, into in enumerate(of.into)
            ]
            for into, values, mask, old in zip(of.into, found, masks, before, strict=True):
                kept = values if mask is None else np.where(mask, values, old(env))
                write(env, into, kept, algebra)

        return step

    def _generated(self, of: Generated) -> Step:
        def step(env: Env) -> None:
            values = self._of_register(of.of, env)
            if values is None:
                values = stored_numbers(of.values(env), of.into.dtype, self.algebra)
            shape = of.into.reshape or of.into.shape
            write(env, of.into, np.broadcast_to(values, shape).reshape(of.into.shape), self.algebra)

        return step

    def _of_register(self, of: OfRegister, env: Env) -> Cells | None:
        """Return the term of a function of a register; None if the register's number is known."""
        content: int | Symbol = of.register(env)
        if not isinstance(content, Symbol):
            return None
        return self.algebra.elements(of.name, self.algebra.number(of.numbers), content.cells)

    def _chosen(self, of: Chosen) -> Step:
        algebra, into = self.algebra, of.into
        source = read(of.source, algebra)
        fill = stored_numbers(rounded_number(of.fill, into.dtype), into.dtype, algebra)
        exact = of.source.dtype

        def step(env: Env) -> None:
            values = np.broadcast_to(source(env), into.shape)
            if exact is not None and not into.dtype.contains(exact):
                values = algebra.rounded(values, into.dtype)
            chooses = None if of.of is None else self._of_register(of.of, env)
            if chooses is None:
                write(env, into, np.where(of.on_false(env), fill, values), algebra)
            else:
                write(env, into, algebra.elements("where", chooses, values, fill), algebra)

        return step

    def _loaded(self, of: Loaded) -> Step:
        source = read(of.source, self.algebra)
        assert of.source.tile is not None
        dtype = of.source.tile.info.dtype
        stored = storage(dtype)
        least, most = dtype.ends if dtype.is_integer and dtype.kind is not Kind.boolean else (0, 0)
        fits = REGISTER.ends[0] <= least < most <= REGISTER.ends[1]

        def step(env: Env) -> None:
            cells = source(env)
            values = self.algebra.values(cells)
            if values is not None:
                env[of.register] = of.convert(values.astype(stored))
                return
            content = cells.reshape(()).copy()
            if not fits:
                content = self.algebra.elements(("register", dtype.name), content)
            env[of.register] = Symbol(content)

        return step

    def _calculated(self, of: Calculated, exact: Step) -> Step:
        def step(env: Env) -> None:
            contents: list[int | Symbol] = [read(env) for read in of.operands]
            if any(isinstance(content, Symbol) for content in contents):
                cells = [register_cells(content, self.algebra) for content in contents]
                env[of.register] = Symbol(self.algebra.on_registers(of.word, *cells))
            else:
                exact(env)

        return step

    def _drawn(self, of: Drawn) -> Step:
        algebra, name = self.algebra, of.constructor.name
        reads = [read(source, algebra) for source in of.sources]

        def step(env: Env) -> None:
            states: Cells = env[of.state][of.lanes]
            operands = [each(env) for each in reads]
            if of.into is None:
                # The lanes of a seed differ by their position among the generators.
                shape = states.shape
                states[...] = algebra.of_tiles(name, shape, *operands)
                return
            before = states.copy()
            found = algebra.by_column(name, of.into.shape, before, *operands)
            if of.advances:
                states[...] = algebra.elements(("next", name), before)
            write(env, of.into, found, algebra)

        return step


def _values_in(source: Source) -> DType | None:
    """Return a data type that contains all values of an operand; None for one used as stored."""
    if source.dtype is None or source.tile is None or source.tile.info.dtype is not source.dtype:
        return source.dtype
    return held_type(source.tile.base) or source.dtype


def _start(start: Source | float, algebra: Algebra) -> Read:
    """Return a function that reads the values that accumulators are first set to."""
    if isinstance(start, Source):
        return read(start, algebra)
    number = algebra.number(np.float32(start))
    return lambda env: number


def _is_neutral(word: str, constant: Any, reverse: bool) -> bool:
    """True if a constant operand never changes the bits of the other operand."""
    if constant is None or np.ndim(constant) != 0:
        return False
    if word == "multiply":
        return bool(constant == 1)
    zero = bool(constant == 0) and not np.signbit(constant)
    return word == "subtract" and not reverse and zero


def _negates(word: str, constant: Any) -> bool:
    """True if a constant operand changes only the sign of the other operand."""
    return (
        word == "multiply"
        and constant is not None
        and np.ndim(constant) == 0
        and (bool(constant == -1))
    )
