"""Tensors of the classic API (`neuronxcc.nki.tensor`): shapes and index expressions, no data.

There are three kinds of tensors. A `ClassicTile` is a view of the current API. A `Selected` has the
elements that index expressions select; it becomes a view when an instruction uses it, because the
instruction's mask affects the view. `Blocks` are tiles with leading block dimensions. The method
`part` of each returns a view of the current API for instructions.

Sources: NKI API reference 2.26, nki.tensor; NKI programming model, "Tensor Indexing"; NKI block
dimension migration guide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from xdsl.ir import SSAValue

from nkijit.classic.destinations.forwarding import Fresh
from nkijit.classic.indexing.boxes import TileBox
from nkijit.classic.indexing.expressions import Index, Mask, as_integer
from nkijit.classic.indexing.masked_regions import MaskedRegion
from nkijit.classic.indexing.quotients import Divided, merged
from nkijit.classic.indexing.selection import (
    BASIC,
    KNOWN,
    Shape,
    as_expressions,
    placement,
    plain_keys,
    runs_past,
    selection,
)
from nkijit.classic.tensors.dtypes import as_numpy
from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.python_values import as_index, numbers_in, one_line
from nkijit.dialects.rule_texts.classic import (
    DYNAMIC_CONTROL_FLOW,
    INDEX_1D,
    INDIRECT_FREE_DIM,
    MASK_EXPRESSION,
    MIXED_INDEXING,
    OUT_OF_BOUNDS,
    PARAMETER_TRUTH_VALUE,
    TILE_EXPECTED,
    TRUTH_VALUE,
)
from nkijit.dialects.rule_texts.operands import COUNTS_AS_TRUE
from nkijit.dialects.spelling import numbered
from nkijit.tracing.conditions import condition_at, help_for_tile, tested
from nkijit.tracing.locations import author_frame, while_test
from nkijit.tracing.tensor import (
    NkiTensor,
    is_argument,
    mark_allocation_masked,
    with_pattern,
)
from nkijit.tracing.tracer import tracer_for


class ClassicTensor:
    """A tensor, or a part of one (`neuronxcc.nki.tensor`).

    Attributes:
        shape: dimensions. In SBUF and PSUM, block dimensions come first, then the partition
            dimension.
        dtype: NumPy data type.
        buffer: `nl.sbuf`, `nl.psum`, `nl.hbm` or `nl.shared_hbm`.
    """

    __slots__ = ("shape",)
    __array_ufunc__ = None
    __iter__ = None

    shape: tuple[int, ...]

    nki_members = (
        "assert_shape",
        "astype",
        "broadcast_to",
        "buffer",
        "dtype",
        "expand_dims",
        "itemsize",
        "ndim",
        "reshape",
        "shape",
        "view",
    )
    """The documented members, which kernels may use; the other members are internal."""

    @property
    def _element(self) -> str:
        raise NotImplementedError

    @property
    def _views(self) -> Sequence[NkiTensor]:
        """The views of the current API through which the tensor accesses memory."""
        raise NotImplementedError

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The tensor's name: `name=`, else the variable that it was assigned to."""
        raise NotImplementedError

    def part(self, box: TileBox) -> NkiTensor:
        """Return the view of a block of the tile. Ends the trace if there is no such view."""
        raise NotImplementedError

    def whole(self) -> NkiTensor:
        """Return the view of the whole tile."""
        return self.part(TileBox.whole(self.shape))

    @property
    def dtype(self) -> Any:
        """Data type of an element."""
        return as_numpy(self._element)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return DTYPES[self._element].itemsize

    def fail(self, rule: Any, message: str, help: str = "") -> NoReturn:
        """End the trace with a finding about this tensor."""
        tracer_for("nki.tensor").fail(rule, f"tensor '{self.name}'", message, help)

    # ---------------------------------------------------------------- views

    def __getitem__(self, key: Any) -> ClassicTensor:
        """Select a part: slices, ranges, integers, `...`; or index expressions and integers."""
        raise NotImplementedError

    def reshape(self, shape: Any) -> ClassicTensor:
        """The same elements in another shape, without a copy."""
        return ClassicTile(self.whole().reshape(shape))

    def view(self, dtype: Any) -> ClassicTensor:
        """The same bits as elements of another type, without a copy."""
        return ClassicTile(self.whole().view(dtype))

    def assert_shape(self, shape: Any) -> ClassicTensor:
        """Return the tensor itself if it has the given shape; else end the trace."""
        given = cast("Sequence[Any]", shape) if isinstance(shape, (tuple, list)) else ()
        if [as_index(size) for size in given] != [*self.shape]:
            shown = one_line(tuple(given) if given else shape)
            self.fail(TILE_EXPECTED, f"its shape is {self.shape}, not {shown}")
        return self

    if TYPE_CHECKING:  # added by `operations`, which uses tensors

        def __setitem__(self, key: Any, value: Any) -> None: ...
        def __iadd__(self, other: Any) -> ClassicTensor: ...
        def expand_dims(self, axis: int) -> ClassicTensor: ...
        def broadcast_to(self, shape: Any) -> ClassicTensor: ...
        def astype(self, dtype: Any) -> ClassicTensor: ...

    def __bool__(self) -> bool:
        """Return True and record a warning.

        For the result of a comparison, and in the test of `while`, a truth value is an error
        instead.
        """
        tracer = tracer_for("nki.tensor")
        subject, frame = f"tensor '{self.name}'", author_frame()
        holds_truth_values = DTYPES[self._element].kind is Kind.boolean
        if isinstance(self, ClassicTile) and is_argument(self.value):
            tracer.record(PARAMETER_TRUTH_VALUE, subject, "a tensor parameter counts as true")
            return True
        if not holds_truth_values and (frame is None or while_test(frame) is None):
            tracer.record(COUNTS_AS_TRUE, subject, "a tensor counts as true")
            return True
        rule = DYNAMIC_CONTROL_FLOW if math.prod(self.shape) == 1 else TRUTH_VALUE
        condition = condition_at(frame)
        tracer.fail(
            rule,
            tested(condition) or subject,
            "the values of a tensor are not known while a kernel is traced",
            help_for_tile(condition),
        )

    def __len__(self) -> int:
        return self.shape[0]

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"tensor({self.name or '?'}: {self.buffer.value} {shape} {self._element})"


def element_of(tensor: ClassicTensor) -> str:
    """Return the name of a tensor's data type.

    It is a function because tensors have only the members that the reference documents.
    """
    return tensor._element  # pyright: ignore[reportPrivateUsage]


def mark_masked(tensor: ClassicTensor) -> None:
    """Mark a tensor's allocations in the IR as partly unwritten, because of a mask."""
    for view in tensor._views:  # pyright: ignore[reportPrivateUsage]
        mark_allocation_masked(view)


class Displaced:
    """An index known only at run time: a tile of one element, plus an index expression."""

    __slots__ = ("index", "shape", "tile")

    def __init__(self, tile: ClassicTensor, index: Index):
        """`tile`: the value known only at run time; `index`: the expression that is added."""
        self.tile = tile
        self.index = index
        self.shape = index.shape


class Masked(ClassicTensor):
    """An operand of a matmul with a separate mask: `lhs[i_f < 64]`.

    Source: NKI API reference 2.26, "NKI API Masking".
    """

    __slots__ = ("mask", "shape", "tensor")

    def __init__(self, tensor: ClassicTensor, mask: Mask):
        """`mask`: the elements of `tensor` that the matmul uses."""
        self.tensor = tensor
        self.mask = mask
        self.shape = tensor.shape

    @property
    def _element(self) -> str:
        return element_of(self.tensor)

    @property
    def _views(self) -> Sequence[NkiTensor]:
        return self.tensor._views  # pyright: ignore[reportPrivateUsage]

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        return self.tensor.buffer

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self.tensor.name

    def part(self, box: TileBox) -> NkiTensor:
        """End the trace: only matmuls take operands with masks."""
        del box
        self.fail(
            MASK_EXPRESSION,
            "an operand with a mask of its own is one of a matmul",
            "give the mask to the function as mask=",
        )


class ClassicTile(ClassicTensor):
    """A tensor that is a view of the current API."""

    __slots__ = ("_computed", "_writes", "fresh", "value")

    def __init__(
        self, value: NkiTensor, fresh: Fresh | None = None, computed: MaskedRegion | None = None
    ):
        """Create a tile from a view of the current API.

        Args:
            value: the view.
            fresh: the instructions that compute the tile, if it is the result of a call.
            computed: the region that these instructions compute; None for the whole tile.
        """
        self.value = value
        self.shape = Shape.of(value.shape)
        self.fresh = fresh
        self._computed = computed
        self._writes = 0 if computed is None else _writes(value.storage.value)

    def __repr__(self) -> str:
        values = self.value.storage.tracer.values
        text = super().__repr__()
        return text if values is None else f"{text}\n{values.shown(self.value)}"

    @property
    def computed(self) -> MaskedRegion | None:
        """The region that a masked call has computed.

        None if it is all of the tile, or if another instruction has written the tile since.
        """
        if self._computed is not None and _writes(self.value.storage.value) != self._writes:
            self._computed = None
        return self._computed

    @property
    def _element(self) -> str:
        return self.value.dtype

    @property
    def _views(self) -> Sequence[NkiTensor]:
        return (self.value,)

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        return self.value.buffer

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self.value.name

    def part(self, box: TileBox) -> NkiTensor:
        """Return the view of a block of the tile."""
        value = self.value
        for dim, (start, size) in enumerate(zip(box.starts, box.sizes, strict=True)):
            if size != value.shape[dim]:
                value = value.slice(dim, start, start + size)
        return value

    def __getitem__(self, key: Any) -> ClassicTensor:
        if isinstance(key, Mask):
            return Masked(self, key)
        keys = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))
        if any(isinstance(item, (Index, ClassicTensor, Displaced, Divided)) for item in keys):
            return Selected(self.value, keys)
        plain = plain_keys(keys)
        if not self.value.buffer.on_chip and runs_past(plain, self.shape):
            return Selected(self.value, as_expressions(plain, self.shape), plain)
        return ClassicTile(self.value[plain])


def _writes(value: SSAValue) -> int:
    """Return the number of operands that write to an allocation or to one of its views."""
    count = 0
    for use in value.uses:
        op = use.operation
        if isinstance(op, ViewOp):
            count += _writes(op.result)
        elif is_instruction(op):
            count += sum(f.role is not Role.read for f, v in op.given_operands() if v is value)
    return count


class Selected(ClassicTensor):
    """The elements of a tensor that index expressions select: `t[i_p, 2 * i_f + 1]`.

    The shape is the shape of all indices broadcast together. Bounds are checked when an instruction
    uses the elements, after its mask has been applied.
    """

    __slots__ = ("_base", "_constants", "_forms", "_runtime", "_slices")

    def __init__(self, base: NkiTensor, keys: tuple[Any, ...], slices: tuple[Any, ...] = ()):
        """Select elements of `base`.

        Args:
            base: the tensor.
            keys: index expressions, integers, and at most one tile of indices.
            slices: the user's index, if `keys` were converted from slices.
        """
        is_known = all(type(key) in KNOWN for key in keys)
        if not is_known:
            base, keys = merged(base, keys)
        self._base = base
        self._slices = slices
        self._runtime = None
        tiles: list[tuple[int, ClassicTensor | Displaced]] = []
        if not is_known:
            if any(isinstance(key, BASIC) or key is None for key in keys):
                help = _help_for_slices(keys, base.shape)
                self.fail(MIXED_INDEXING, "slices and index expressions in one index", help)
            tiles = [
                (dim, key)
                for dim, key in enumerate(keys)
                if isinstance(key, (ClassicTensor, Displaced))
            ]
        if len(keys) != base.ndim:
            self.fail(
                MIXED_INDEXING,
                f"{numbered(len(keys), 'index', 'indices')} for a tensor of shape {base.shape}; "
                "those left out would be "
                "slices",
                _help_for_slices((*keys, *[slice(None)] * (base.ndim - len(keys))), base.shape)
                if len(keys) < base.ndim
                else f"leave out {len(keys) - base.ndim} of the indices",
            )
        if tiles:
            self._runtime = tiles[0]
            if len(tiles) > 1:
                self.fail(
                    INDIRECT_FREE_DIM, f"{numbered(len(tiles), 'index', 'indices')} are tiles"
                )
        expressions = [self._expression(dim, key) for dim, key in enumerate(keys)]
        shapes = tuple([tile.shape for _, tile in tiles if not isinstance(tile, Displaced)])
        forms = tuple([expression.form for expression in expressions])
        shape, self._forms = selection(forms, shapes, bool(tiles))
        if shape is None:
            known = [*shapes, *(form.span for form in forms)]
            message = f"the shapes of the indices do not broadcast: {known}"
            self.fail(OUT_OF_BOUNDS, message, _help_for_ranges(known))
        if len(shape) < 2:
            self.fail(INDEX_1D, "an index of one dimension")
        self.shape = shape
        self._constants = tuple([expression.constant for expression in expressions])

    def _expression(self, dim: int, key: Any) -> Index:
        """Return the part of an index that is known during tracing."""
        if isinstance(key, Index):
            return key
        if isinstance(key, Displaced):
            return key.index
        number = 0 if isinstance(key, ClassicTensor) else self._integer(dim, key)
        return Index((), (), number)

    @property
    def is_indirect(self) -> bool:
        """True when one of the indices is known only at run time."""
        return self._runtime is not None

    def _integer(self, dim: int, key: Any) -> int:
        number = as_integer(key)
        if number is None:
            self.fail(MIXED_INDEXING, f"index {one_line(key)} of dimension {dim}")
        return number + self._base.shape[dim] if number < 0 else number

    @property
    def _element(self) -> str:
        return self._base.dtype

    @property
    def _views(self) -> Sequence[NkiTensor]:
        return (self._base,)

    @property
    def buffer(self) -> MemoryRegion:
        """The memory of the tensor."""
        return self._base.buffer

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self._base.name

    def __getitem__(self, key: Any) -> ClassicTensor:
        if isinstance(key, Mask):
            return Masked(self, key)
        return ClassicTile(self.whole())[key]

    def part(self, box: TileBox) -> NkiTensor:
        """Return the view of a block of the tile; all of it must be inside the tensor."""
        base = self._base
        at_runtime = None if self._runtime is None else self._runtime[0]
        strides = base.strides
        place = placement(self._forms, box, strides, base.buffer.on_chip)
        offset = base.offset + place.shift
        shape = base.shape
        for dim, constant in enumerate(self._constants):
            low, high = place.bounds[dim]
            low, high = low + constant, high + constant
            if (low < 0 or high >= shape[dim]) and dim != at_runtime:
                if self._slices:
                    return base[self._slices]  # ends the trace
                self.fail(
                    OUT_OF_BOUNDS,
                    f"index range [{low}, {high}] exceeds dimension {dim}, whose size is "
                    f"{shape[dim]}",
                    _help_for_range(low, high, shape[dim], base.buffer.on_chip and dim == 0),
                )
            if dim == place.mixed:
                self._mixed_partitions(dim)
            offset += constant * strides[dim]
        if self._runtime is not None:
            return self._indirect(box, offset, place.strides)
        return with_pattern(base, AccessPattern(offset, place.strides, box.sizes))

    def _mixed_partitions(self, dim: int) -> NoReturn:
        help = (
            "index the partition dimension with the first dimension of the expressions, all other "
            "dimensions with the others"
        )
        rank, sizes = len(self.shape), list(map(str, self._base.shape))
        if dim and not any(any(form.aligned(rank)) for form in self._forms[:dim]):
            sizes[dim] = f"nl.par_dim({sizes[dim]})"
            help = (
                f"allocate '{self.name}' with shape ({', '.join(sizes)}): without nl.par_dim, the "
                "first dimension is the partition dimension"
            )
        message = f"the index of dimension {dim} mixes partitions and elements"
        self.fail(TILE_EXPECTED, message, help)

    def _indirect(self, box: TileBox, offset: int, strides: Sequence[int]) -> NkiTensor:
        assert self._runtime is not None
        dim, key = self._runtime
        base = self._base
        tile = key.tile if isinstance(key, Displaced) else key
        pattern = [[s, n] for s, n in zip(strides, box.sizes, strict=True)]
        displaced = isinstance(key, Displaced) or base.buffer.on_chip
        if displaced and tile.shape == (1,) * tile.ndim:
            return base.ap(
                pattern, offset - base.offset, scalar_offset=tile.whole(), indirect_dim=dim
            )
        if base.buffer.on_chip or tile.shape != (self.shape[0], *(1 for _ in tile.shape[1:])):
            self.fail(
                INDIRECT_FREE_DIM,
                f"the index of dimension {dim} is a tile of shape {tile.shape}"
                + (f" of a tensor in {base.buffer.value}" if base.buffer.on_chip else ""),
            )
        if any(form.aligned(len(self.shape))[0] and box.sizes[0] > 1 for form in self._forms):
            self.fail(INDIRECT_FREE_DIM, "another index moves with the one that is a tile")
        rows = tile.part(
            TileBox(
                (box.starts[0],) + (0,) * (tile.ndim - 1), (box.sizes[0],) + (1,) * (tile.ndim - 1)
            )
        )
        order = (dim, *(d for d in range(base.ndim) if d != dim))
        moved = base if dim == 0 else base.permute(order)
        return moved.ap(pattern, offset - base.offset, vector_offset=rows)


def _help_for_range(low: int, high: int, size: int, of_partitions: bool) -> str:
    if of_partitions:
        return (
            f"the tile has {numbered(size, 'partition')}: index other rows of the tensor in HBM, "
            "with a tile "
            "for every 128 rows"
        )
    limits = ["index >= 0"] if low < 0 else []
    limits += [f"index < {size}"] if high >= size else []
    mask = limits[0] if len(limits) == 1 else " & ".join(f"({limit})" for limit in limits)
    return (
        f"leave out the elements beyond the tensor, mask=({mask}) with the index expression of "
        "this dimension, or correct the expression"
    )


def _help_for_ranges(shapes: Sequence[tuple[int, ...]]) -> str:
    """Return the help for two ranges without dimensions to broadcast along; else empty."""
    if [len(shape) for shape in shapes] != [1, 1]:
        return ""
    rows, columns = (shape[0] for shape in shapes)
    return (
        "give each range its own dimension: "
        f"nl.arange({rows})[:, None] and nl.arange({columns})[None, :]"
    )


def _help_for_slices(keys: tuple[Any, ...], shape: Sequence[int]) -> str:
    """Return the help for slices next to index expressions: expressions that replace the slices."""
    rank = max((len(key.shape) for key in keys if isinstance(key, Index)), default=2)
    rank = max(rank, len(keys))
    texts: list[str] = []
    for dim, key in enumerate(keys[: len(shape)]):
        numbers = numbers_in(shape[dim], key)
        if numbers is None:
            continue
        axes = ", ".join(":" if at == dim else "None" for at in range(rank))
        start = "" if numbers.start == 0 else f"{numbers.start} + "
        step = "" if numbers.step == 1 else f"{numbers.step} * "
        texts.append(f"{start}{step}nl.arange({len(numbers)})[{axes}] for dimension {dim}")
    if not texts:
        return ""
    return f"write index expressions for all dimensions: {', '.join(texts)}"


def as_tensor(call: str, argument: str, value: Any) -> ClassicTensor:
    """Return an argument as a tensor; tensors of the current API are accepted as well."""
    if isinstance(value, ClassicTensor):
        return value
    if isinstance(value, NkiTensor):
        return ClassicTile(value)
    tracer_for(call).wrong_argument(call, argument, "a tensor", value)
