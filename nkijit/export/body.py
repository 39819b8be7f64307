"""The body of a kernel as Python statements.

Allocations, instructions and loops become statements. Views, numbers and registers become
expressions in the statements that use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.arith import ConstantOp as NumberConstantOp
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.dialects.scf import ConditionOp, ForOp, WhileOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.attributes import number_source, string_source
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.properties import IntegersKind, PairsKind, StringKind
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nisa.registers import RegisterLoadOp
from nkijit.dialects.nki.affine import TYPE, Affine, varying
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, NoReorderOp, ReturnOp
from nkijit.dialects.nki.loops import compared
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.repeat import ElementOp, NumberOp, RepeatOp, TilesType
from nkijit.dialects.nki.repeat import YieldOp as RepeatYieldOp
from nkijit.dialects.nki.views import DynamicPart, ViewOp, access_of
from nkijit.dialects.tiles import info_of
from nkijit.export.calls import Function, call_source, function_of, list_source
from nkijit.export.constants import constant_source
from nkijit.export.errors import ExportError
from nkijit.export.facts import differs_in_shape, facts_of, is_used
from nkijit.export.iterations import Iterations
from nkijit.export.layout import INDENT, WIDTH
from nkijit.export.merging import in_brackets
from nkijit.export.names import Names
from nkijit.export.registers import (
    initial_move,
    is_read_at_once,
    is_register,
    is_scalar,
    loop_start,
)
from nkijit.export.statements import Statement
from nkijit.export.views import dynamic_source, pattern_source, static_source
from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.places import Position, positions
from nkijit.passes.diagnostics.source_text import is_parsed_text
from nkijit.passes.transform.numbers import join, join_text

_SILENT = (
    *(ViewOp, NumberConstantOp, CmpiOp, ConditionOp, YieldOp),
    *(NumberOp, ElementOp, RepeatYieldOp),
)
"""Operations without a statement: their expression is part of the statement that uses them."""
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}
"""Python's symbols for the operators on registers, by the operator's name."""


def _is_zero(value: SSAValue) -> bool:
    return scalar_constant(value) == 0


def _is_authors(file: str) -> bool:
    """Whether comments quote a file's lines: only the user's files, not libraries or IR."""
    return not is_library_file(file) and not is_parsed_text(file)


class Body:
    """Writes the body of one core's program."""

    def __init__(
        self, kernel: KernelOp, names: Names, data: dict[str, str], *, offsets: bool = False
    ):
        """Prepare the text of a program.

        Args:
            kernel: the program.
            names: the names that are in use.
            data: receives the texts of constants, by name. They are written outside the kernel.
            offsets: write the offsets of all access patterns, for merging with another core's text.
        """
        self._offsets = offsets
        self._kernel = kernel
        self._names = names
        self._data = data
        self._named: dict[SSAValue, str] = {}
        self._handles: dict[Operation, str] = {}
        self._places: dict[Any, Position | None] = {}
        self._out: list[Statement] = []
        self._facts = facts_of(kernel)
        self._iterations = Iterations(constants=offsets)
        self._indices: dict[str, str] = {}
        self._patterns = False
        """Whether views are written as explicit access patterns (`t.ap(…)`)."""
        self._later: dict[Operation, list[Operation]] = {}
        self.arguments = [self._name(value, "argument") for value in kernel.arguments]

    def statements(self) -> list[Statement]:
        """Return the statements of the whole body."""
        return self._block(self._kernel.body.block)

    # ---------------------------------------------------------------- blocks

    def _block(self, block: Block, result: SSAValue | None = None) -> list[Statement]:
        """Return the statements of a block, followed by `return result` if there is a result."""
        outer, self._out = self._out, []
        op = block.first_op
        while op is not None:
            self._operation(op)
            op = op.next_op
        last = block.last_op
        if result is not None and last is not None:
            self._add_statement(last, lambda: f"return {self._operand(result)}")
        inner, self._out = self._out, outer
        return inner

    def _operation(self, op: Operation) -> None:
        if isinstance(op, NisaOp):
            self._instruction(op)
        elif not isinstance(op, _SILENT):
            write = self._WRITERS.get(type(op))
            if write is None:
                raise ExportError.at(op, "nothing of the API makes it")
            write(self, op)

    def _add_statement(
        self, op: Operation, build: Callable[[], str], body: list[Statement] | None = None
    ) -> None:
        """Add a statement. `build` returns its text for the current iteration."""
        text = self._iterations.text(build)
        if text is None:
            self._patterns = True
            text = self._iterations.text(build)
            self._patterns = False
        if text is None:
            raise ExportError.at(op, "what it says in each iteration is no one text")
        self._out.append(Statement(text, self._place(op), body))

    def _place(self, op: Operation) -> Position | None:
        location = op.location
        if location not in self._places:
            places = positions(location)
            own = (place for place in places if _is_authors(place.file))
            self._places[location] = next(own, None)
        return self._places[location]

    # ---------------------------------------------------------------- values

    def _name(self, value: SSAValue, otherwise: str) -> str:
        name = self._named[value] = self._names.of(value.name_hint, otherwise)
        return name

    def _operand(self, value: SSAValue) -> str:
        name = self._named.get(value)
        if name is not None:
            return name
        owner = value.owner
        if isinstance(owner, ViewOp):
            return self._view(owner)
        if isinstance(owner, NumberOp):
            return str(self._iterations.number(owner.value.data))
        if isinstance(owner, ElementOp):
            return self._element(owner)
        if isinstance(owner, ReadRegisterOp):
            return self._operand(owner.source)
        number = scalar_constant(value)
        if number is not None:
            return number_source(number)
        at = owner if isinstance(owner, Operation) else self._kernel
        raise ExportError.at(at, "it is used where Python does not know it")

    def _element(self, op: ElementOp) -> str:
        lists = [self._operand(value) for value in op.lists]
        parts = zip(lists, op.lists, strict=True)
        joined = ", ".join(f"*{n}" if isinstance(v.type, TilesType) else n for n, v in parts)
        of = lists[0] if joined == f"*{lists[0]}" else f"[{joined}]"
        return f"{of}[{self._iterations.number(op.position.data)}]"

    def _view(self, view: ViewOp) -> str:
        base, dtype = info_of(view.source), info_of(view.result).dtype.name
        index = "" if view.index is None else self._operand(view.index)
        differing = varying(view)
        access, dynamic = access_of(view.result), view.dynamic
        if differing:
            access, dynamic = self._varied_view(view, differing)
        offsets = self._offsets or bool(differing)
        if dynamic is not None:
            access = access if differing else view.access
            source = dynamic_source(base, access, dtype, dynamic, index, offsets)
        elif self._patterns or differs_in_shape(view.source):
            source = pattern_source(base, access, dtype)
        else:
            source = static_source(base, access, dtype, offsets)
        if source is None:
            raise ExportError.at(view, "no expression makes this view")
        return f"{self._operand(view.source)}{source}"

    def _varied_view(
        self, view: ViewOp, differing: Mapping[str, Sequence[Affine]]
    ) -> tuple[AccessPattern, DynamicPart | None]:
        """Return a view's access pattern and dynamic part in the current iteration (`_varied`)."""
        attrs = self._varied(view, differing)
        numbers = {
            name: attr.value.data for name, attr in attrs.items() if isinstance(attr, IntegerAttr)
        }
        pattern = PairsKind().decode(attrs["pattern"])
        access = AccessPattern.from_pairs(pattern, numbers["offset"])
        dynamic = view.dynamic
        if dynamic is not None:
            names = ("scale", "bound", "count")
            dynamic = replace(dynamic, **{n: numbers[n] for n in names if n in numbers})
        return access, dynamic

    def _varied(
        self, op: Operation, differing: Mapping[str, Sequence[Affine]]
    ) -> dict[str, Attribute]:
        """Return the properties of an operation in the current iteration.

        `differing` maps each property that differs between iterations to its numbers.
        """
        return {
            name: join(attr, self._iterations.numbers(differing[name]))
            if name in differing
            else attr
            for name, attr in op.properties.items()
        }

    # ---------------------------------------------------------------- allocations

    def _allocate(self, op: AllocOp) -> None:
        if self._is_created_as_identity(op):
            return
        if info_of(op.result).region.on_chip and len(info_of(op.result).shape) < 2:
            raise ExportError.at(op, "a tile has at least two dimensions")
        otherwise = info_of(op.result).region.value
        self._assign(op, op.result, otherwise, lambda: self._allocation(op))

    def _allocation(self, op: AllocOp) -> str:
        differing = varying(op)
        info, attrs = info_of(op.result), op.properties
        shape = info.shape
        if differing:
            attrs = self._varied(op, differing)
            shape = tuple(self._iterations.numbers(differing.get(TYPE, ()))) or shape
        arguments = [str(shape), f"dtype=nl.{info.dtype.name}", f"buffer=nl.{info.region.name}"]
        if op.tensor_name is not None:
            arguments.append(f"name={string_source(StringKind().decode(attrs['name']))}")
        if op.address is not None:
            arguments.append(f"address={IntegersKind().decode(attrs['address'])}")
        return f"nl.ndarray({', '.join(arguments)})"

    def _is_created_as_identity(self, op: AllocOp) -> bool:
        """Whether the instruction after an allocation fills the tile with an identity matrix."""
        copy = op.next_op
        return (
            isinstance(copy, DmaCopyOp)
            and copy.required("src") in self._facts.identities
            and copy.required("dst") is op.result
            and not op.properties
        )

    def _identity(self, op: DmaCopyOp) -> None:
        """Write the copy of a constant identity matrix as `nl.shared_identity_matrix`."""
        dst = op.required("dst")
        info = info_of(dst)
        call = f"nl.shared_identity_matrix({info.shape[0]}, dtype=nl.{info.dtype.name}"
        alloc = op.prev_op
        if (
            isinstance(alloc, AllocOp)
            and alloc.result is dst
            and self._is_created_as_identity(alloc)
        ):
            self._assign(op, dst, "identity", lambda: f"{call})")
        else:
            self._add_statement(op, lambda: f"{call}, dst={self._operand(dst)})")

    def _constant(self, op: ConstantOp) -> None:
        if op.result in self._facts.identities:
            return
        name = self._names.of(op.result.name_hint, "constant")
        source = constant_source(op, self._data, self._names)
        self._named[op.result] = name
        self._assign(op, op.result, "constant", lambda: f"nl.shared_constant({source})")

    def _register(self, op: RegisterOp) -> None:
        if op.result in self._facts.makers or op.result in self._facts.conditions:
            return
        first = initial_move(op)
        number = "" if first is None else self._operand(first.required("src"))
        creator = op if first is None else first
        self._assign(op, op.result, "register", lambda: f"nisa.register_alloc({number})", creator)

    def _assign(
        self,
        op: Operation,
        value: SSAValue,
        otherwise: str,
        build: Callable[[], str],
        creator: Operation | None = None,
    ) -> None:
        """Add the statement `name = expression`, or the expression alone if `value` is not used.

        `build` returns the expression. `otherwise` is the name for a value without a name hint.
        """
        if is_used(value, creator or op):
            name = self._named.get(value) or self._name(value, otherwise)
            self._add_statement(op, lambda: f"{name} = {build()}")
        else:
            self._add_statement(op, build)

    def _read(self, op: ReadRegisterOp) -> None:
        source = op.source
        if source not in self._facts.scalars and not is_read_at_once(op):
            name = self._name(op.result, "number")
            self._add_statement(op, lambda: f"{name} = nisa.register_alloc()")
            self._add_statement(
                op, lambda: f"nisa.register_move(dst={name}, src={self._operand(source)})"
            )

    # ---------------------------------------------------------------- instructions

    def _instruction(self, op: NisaOp) -> None:
        facts = self._facts
        if op in facts.implied:
            return
        written = op.operand_named("dst") if op.declares("dst") else None
        if written is not None and written in facts.scalars:
            self._assign(op, written, "scalar", lambda: self._scalar(op))
            return
        if isinstance(op, DmaCopyOp) and op.required("src") in facts.identities:
            self._identity(op)
            return
        function = function_of(type(op))
        if function is None:
            raise ExportError.at(op, "no function of the API computes with what instructions write")

        def call() -> str:
            extra, varied = self._extra_arguments(op, function), self._varied_fields(op)
            return call_source(op, function, self._operand, extra, varied)

        if function.result is not None:
            self._assign(op, op.required(function.result), "register", call)
        elif op in facts.awaited or op in facts.triggers or op.runs_after:
            self._ordered(op, call)
        else:
            self._add_statement(op, call)

    def _varied_fields(self, op: NisaOp) -> dict[str, Any] | None:
        """Return the values, by name, of the fields that differ between iterations; else None."""
        found: dict[str, Any] = {}
        for name, numbers in varying(op).items():
            field = name.removesuffix("?")
            values = self._iterations.numbers(numbers)
            if field == "name":
                found[field] = join_text(op.label, values)
            elif field in op.SPEC.by_name:
                kind: Any = op.SPEC.by_name[field].kind
                attr = op.properties.get(field)
                attr = kind.encode(values[0]) if attr is None else join(attr, values)
                found[field] = kind.decode(attr)
            else:
                raise ExportError.at(op, f"its '{name}' is another one in each iteration")
        return found or None

    def _scalar(self, op: NisaOp) -> str:
        if isinstance(op, RegisterLoadOp):
            return f"nisa.scalar_load({self._operand(op.required('src'))})"
        left, right = (self._term(op.required(name)) for name in ("data1", "data2"))
        word: str = op.value_of("op")
        if word not in _SIGNS:
            raise ExportError.at(op, f"scalars have no operator nl.{word}")
        return f"{left} {_SIGNS[word]} {right}"

    def _term(self, value: SSAValue) -> str:
        """Return an operand of a Python operator as an expression, in brackets where needed."""
        source = self._operand(value)
        return source if is_register(value) else in_brackets(source)

    def _extra_arguments(self, op: NisaOp, function: Function) -> dict[str, str] | None:
        """Return expressions for the parameters that no field of the instruction determines."""
        if not function.unknown:
            return None
        prepare = self._facts.prepares.get(op)
        if prepare is not None:
            return dict.fromkeys(function.unknown, self._handles[prepare])
        triggers = self._facts.triggers.get(op, ())
        return {
            name: list_source([self._operand(value) for value in trigger.operands_named(name)], "")
            for trigger in triggers[:1]
            for name in function.unknown
        }

    def _ordered(self, op: NisaOp, call: Callable[[], str]) -> None:
        """Write an instruction with ordering edges (`depends_on`) to or from other instructions."""
        producers: list[str] = []
        waits = False
        for label in op.runs_after:
            producer = self._producer(op, label)
            if producer in self._handles:
                producers.append(self._handles[producer])
            else:
                self._later.setdefault(producer, []).append(op)
                waits = True
        chained = f".depends_on({', '.join(producers)})" if producers else ""
        if waits or op in self._facts.awaited or op in self._facts.triggers:
            handle = self._handles[op] = self._names.of(op.label or op.SPEC.name, "instruction")
            self._add_statement(op, lambda: f"{handle} = {call()}")
            if chained:
                self._add_statement(op, lambda: f"{handle}{chained}")
        else:
            self._add_statement(op, lambda: f"{call()}{chained}")
        for consumer in self._later.pop(op, ()):
            first, then = self._handles[op], self._handles[consumer]
            self._add_statement(op, f"{then}.depends_on({first})".__str__)

    def _producer(self, op: NisaOp, label: str) -> NisaOp:
        found = self._facts.labelled.get(label, ())
        if len(found) != 1 or found[0].parent is not op.parent:
            raise ExportError.at(op, f"it runs after '{label}', which is no instruction beside it")
        return found[0]

    # ---------------------------------------------------------------- loops

    def _function(
        self, loop: ForOp | WhileOp, block: Block, head: str, result: SSAValue | None = None
    ) -> None:
        """Write the body of a device loop as a function.

        Names that the function assigns and that are used outside the loop are declared before it.
        """
        scalars, named = self._facts.scalars, self._named
        escapes = self._facts.escapes
        for escape in escapes:
            if escape.outer is loop:
                name = self._name(escape.register, "scalar")
                kind = "NkiScalar" if escape.register in scalars else "VirtualRegister"
                self._add_statement(loop, f"{name}: nisa.{kind}".__str__)
        inner = self._block(block, result)
        self._add_statement(loop, head.__str__, inner or [Statement("pass")])
        self._out[-1].nonlocals = tuple(named[e.register] for e in escapes if e.inner is loop)

    def _for(self, op: ForOp) -> None:
        step = scalar_constant(op.step)
        if not isinstance(step, int):
            raise ExportError.at(op, "the step of a loop is a number")
        index = op.body.block.args[0]
        body = self._names.of("body", "body")
        name = self._name(index, "i")
        kind = "NkiScalar" if is_scalar(index, self._facts.scalars) else "VirtualRegister"
        self._function(op, op.body.block, f"def {body}({name}: nisa.{kind}) -> None:")
        more = "" if step == 1 else f", step={step}"
        bounds = (op.lb, op.ub)
        self._add_statement(
            op, lambda: f"nl.fori_loop({', '.join(map(self._operand, bounds))}, {body}{more})"
        )

    def _while(self, op: WhileOp) -> None:
        numbers = compared(op)
        read = None if numbers is None else numbers[0].owner
        if numbers is None or not isinstance(read, ReadRegisterOp) or not _is_zero(numbers[1]):
            raise ExportError.at(op, "a loop goes on while a register is not 0")
        register = read.source
        start = loop_start(op)
        body = self._names.of("body", "body")
        if start is None:
            # A register of the loop's own represents the one that the body changes.
            init = following = register
            name = self._names.of("condition", "condition")
        else:
            init, following = start.required("src"), self._facts.following[op]
            name = self._name(register, "condition")
        kind = "nisa.VirtualRegister"
        head = f"def {body}({name}: {kind}) -> {kind}:"
        self._function(op, op.after_region.block, head, following)
        self._add_statement(op, lambda: f"nl.while_loop({self._operand(init)}, {body})")

    def _no_reorder(self, op: NoReorderOp) -> None:
        inner = self._block(op.body.block)
        if inner:
            self._add_statement(op, lambda: "with nl.no_reorder():", inner)

    def _repeat(self, op: RepeatOp) -> None:
        lists = [self._name(value, "tiles") for value in op.results]
        for name in lists:
            self._add_statement(op, f"{name} = []".__str__)
        index = op.index.data
        if index not in self._indices:
            self._indices[index] = self._names.of(index, "i")
        end = self._iterations.end(op.end.data)
        self._iterations.open(index, self._indices[index], op.end.data)
        inner = self._block(op.body.block)
        for name, value in zip(lists, op.yielded, strict=True):
            method = "extend" if isinstance(value.type, TilesType) else "append"
            inner.append(Statement(f"{name}.{method}({self._operand(value)})"))
        self._iterations.close()
        if inner:
            head = f"for {self._indices[index]} in range({end}):"
            self._out.append(Statement(head, self._place(op), inner))

    # ---------------------------------------------------------------- the rest

    def _print(self, op: DevicePrintOp) -> None:
        prefix = string_source(op.prefix.data)
        self._add_statement(op, lambda: f"nl.device_print({prefix}, {self._operand(op.tensor)})")

    def _return(self, op: ReturnOp) -> None:
        values = [self._operand(value) for value in op.values]
        container = None if op.container is None else op.container.data
        if container is None:
            text = f"return {values[0]}" if values else ""
        elif container == "dict":
            keys = cast(ArrayAttr[StringAttr], op.keys)
            pairs = zip((string_source(key.data) for key in keys), values, strict=True)
            text = f"return {{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
        elif container == "list":
            text = f"return [{', '.join(values)}]"
        else:
            text = f"return {', '.join(values)}"
            if len(values) < 2 or len(text) > WIDTH - len(INDENT):
                text = f"return ({', '.join(values)}{',' if len(values) == 1 else ''})"
        if text:
            self._add_statement(op, text.__str__)

    _WRITERS: ClassVar[Mapping[type[Operation], Callable[..., None]]] = {
        AllocOp: _allocate,
        ConstantOp: _constant,
        RegisterOp: _register,
        ReadRegisterOp: _read,
        ForOp: _for,
        WhileOp: _while,
        RepeatOp: _repeat,
        NoReorderOp: _no_reorder,
        DevicePrintOp: _print,
        ReturnOp: _return,
    }
