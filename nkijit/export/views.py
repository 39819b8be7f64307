"""Views as expressions: the text after a tensor's name that selects elements.

Candidate expressions are tried from the simplest on. A candidate is used if the tracer's tensors
create the same view from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, cast

from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern, DynamicSlice, Indirection, ViewError
from nkijit.dialects.nki.views import DynamicPart
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.tracing.registers import VirtualRegister
from nkijit.tracing.tracer import Storage
from nkijit.tracing.views import TensorView


@dataclass(frozen=True, slots=True)
class _Index:
    """A placeholder in the arguments of a step for the run-time index of a view."""

    def __str__(self) -> str:
        return "{index}"


@dataclass(frozen=True, slots=True)
class _Type:
    """A dtype among the arguments of a step."""

    name: str

    def __str__(self) -> str:
        return f"nl.{self.name}"


_INDEX = _Index()
_NO_SHIFT = ("offset", 0)
_Key = int | slice | _Index | DynamicSlice


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of an expression: a call of a tensor method, or a subscript (its name is "")."""

    name: str
    positional: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()

    def source(self, offsets: bool) -> str:
        """Return the text of the step; with `offsets`, an offset of 0 is written."""
        if not self.name:
            return f"[{', '.join(map(_key_source, self.positional))}]"
        named = [
            (name, value) for name, value in self.named if offsets or (name, value) != _NO_SHIFT
        ]
        arguments = [*map(str, self.positional), *(f"{n}={value}" for n, value in named)]
        return f".{self.name}({', '.join(arguments)})"

    def of(self, tensor: TensorView, index: Any) -> TensorView:
        """Apply the step to a tensor. Raises ViewError if the tensor does not allow the step."""
        arguments = [_argument(value, index) for value in self.positional]
        if not self.name:
            return tensor[tuple(arguments)]
        named = {name: _argument(value, index) for name, value in self.named}
        return getattr(tensor, self.name)(*arguments, **named)


_Form = tuple[_Step, ...]


def dynamic_source(
    base: TileInfo,
    access: AccessPattern,
    dtype: str,
    dynamic: DynamicPart,
    index: str,
    offsets: bool = False,
) -> str | None:
    """Return the text after a tensor's name for elements with a run-time address.

    Args:
        base: the tensor.
        access: the elements for an index of 0.
        dtype: the dtype to read them as.
        dynamic: the unit and kind of the index.
        index: the expression of the index.
        offsets: write the offset of a pattern even if it is 0.

    Returns:
        The text; None if no expression creates the view.
    """
    for form in _dynamic_forms(base, access, dtype, dynamic):
        if _creates(form, base, access, dtype, dynamic):
            return _source(form, offsets).replace(str(_INDEX), index)
    return None


def pattern_source(base: TileInfo, access: AccessPattern, dtype: str) -> str:
    """Return an explicit pattern, for a tensor with different shapes in different iterations."""
    return _source((_pattern(access, None if dtype == base.dtype.name else dtype),), True)


@lru_cache(maxsize=4096)
def static_source(
    base: TileInfo, access: AccessPattern, dtype: str, offsets: bool = False
) -> str | None:
    """Return the text after a tensor's name for some of its elements, read as a dtype.

    `offsets` is as for `dynamic_source`. Returns None if no expression creates the view.
    """
    form = _static_form(base, access, dtype)
    return None if form is None else _source(form, offsets)


def _source(form: _Form, offsets: bool) -> str:
    return "".join(step.source(offsets) for step in form)


def _static_form(base: TileInfo, access: AccessPattern, dtype: str) -> _Form | None:
    forms = _static_forms(base, access, dtype)
    return next((form for form in forms if _creates(form, base, access, dtype, None)), None)


# ---------------------------------------------------------------- forms


def _static_forms(base: TileInfo, access: AccessPattern, dtype: str) -> Iterator[_Form]:
    prefix: _Form = ()
    whole: AccessPattern | None = AccessPattern.contiguous(base.shape)
    if dtype != base.dtype.name:
        prefix = (_Step("view", (_Type(dtype),)),)
        viewed = _applied(prefix, base, None)
        whole = (
            None if viewed is None else AccessPattern(viewed.offset, viewed.strides, viewed.shape)
        )
    if whole is not None:
        yield from ((*prefix, *form) for form in _parts_of(whole, access))
    yield (_pattern(access, None if dtype == base.dtype.name else dtype),)


def _parts_of(whole: AccessPattern, access: AccessPattern) -> Iterator[_Form]:
    """Yield candidate expressions for elements of a dense tensor."""
    if access == whole:
        yield ()
    keys = _keys(whole, access)
    if keys is not None:
        yield (_Step("", tuple(keys)),)
    if access.offset == 0 and access.size == whole.size and access.is_contiguous(False):
        yield (_Step("reshape", (access.shape,)),)
    order = sorted(range(access.ndim), key=lambda dim: -access.strides[dim])
    if order != list(range(access.ndim)):
        strides = tuple(access.strides[dim] for dim in order)
        part = AccessPattern(access.offset, strides, tuple(access.shape[dim] for dim in order))
        permute = _Step("permute", (tuple(order.index(dim) for dim in range(access.ndim)),))
        keys = _keys(whole, part)
        if part == whole:
            yield (permute,)
        elif keys is not None:
            yield _Step("", tuple(keys)), permute


def _dynamic_forms(
    base: TileInfo, access: AccessPattern, dtype: str, dynamic: DynamicPart
) -> Iterator[_Form]:
    """Yield candidates for elements at a run-time address; `_INDEX` represents the index."""
    other = None if dtype == base.dtype.name else dtype
    if dynamic.indirection is Indirection.tensor:
        of = _static_form(base, access, dtype)
        if of is not None:
            yield *of, _Step("indirect", (_INDEX,), (("num_elem", dynamic.count),))
        return
    is_scalar = dynamic.indirection is Indirection.scalar
    whole = AccessPattern.contiguous(base.shape)
    if is_scalar and other is None:
        for dim, stride in enumerate(whole.strides):
            keys = _keys(whole, access, dim) if stride == dynamic.scale else None
            if keys is not None:
                yield (_Step("", tuple(keys)),)
    word = "scalar_offset" if is_scalar else "vector_offset"
    for dim in range(len(base.shape)):
        which = (("indirect_dim", dim),) if dim else ()
        yield (_pattern(access, other, (word, _INDEX), *which),)
    # Finally, a view with this step and number of elements in one dimension, and a pattern of it.
    pairs = [[dynamic.scale, dynamic.bound]]
    which = ()
    if base.region.on_chip:
        pairs = [[1, 1], *pairs]
        which = (("indirect_dim", 1),)
    named = () if other is None else (("dtype", _Type(other)),)
    yield _Step("ap", (pairs,), named), _pattern(access, None, (word, _INDEX), *which)


def _pattern(access: AccessPattern, dtype: str | None, *more: tuple[str, Any]) -> _Step:
    named = [("offset", access.offset), *more]
    if dtype is not None:
        named.append(("dtype", _Type(dtype)))
    return _Step("ap", (access.pairs,), tuple(named))


def _keys(
    whole: AccessPattern, access: AccessPattern, dynamic: int | None = None
) -> list[_Key] | None:
    """Return the subscript that selects elements of a dense tensor, or None.

    `dynamic` is the dimension along which the run-time index selects elements.
    """
    keys: list[_Key] = []
    rest, at = access.offset, 0
    for dim, (stride, size) in enumerate(zip(whole.strides, whole.shape, strict=True)):
        start = min(rest // stride, size - 1)
        rest -= start * stride
        count, step = 1, 0
        if at < access.ndim and access.strides[at] % stride == 0:
            count, step = access.shape[at], access.strides[at] // stride
        if step < 1 or start + (count - 1) * step >= size or (count == 1 and step != 1):
            count, step = 1, 0
        if step:
            at += 1
        if dim == dynamic:
            if start or step > 1:
                return None
            keys.append(DynamicSlice(cast(Any, _INDEX), count) if step else _INDEX)
        elif step:
            keys.append(slice(start, start + (count - 1) * step + 1, step))
        else:
            keys.append(start)
    return keys if at == access.ndim and rest == 0 else None


def _key_source(key: _Key) -> str:
    if isinstance(key, slice):
        text = f"{key.start}:{key.stop}"
        return text if key.step == 1 else f"{text}:{key.step}"
    return f"nl.ds({key.start}, {key.size})" if isinstance(key, DynamicSlice) else str(key)


# ---------------------------------------------------------------- evaluating forms


class _Checker:
    """Replaces the tracer for trial views, so that an invalid view raises an exception."""

    is_open = is_classic = False

    def fail(self, *_: Any) -> NoReturn:
        raise ViewError("there is no such view")


_CHECKER: Any = _Checker()


def _argument(value: Any, index: Any) -> Any:
    """Convert a step's argument for a tensor method; `_INDEX` becomes `index`."""
    if isinstance(value, DynamicSlice):
        return DynamicSlice(index, value.size)
    if isinstance(value, _Index):
        return index
    return value.name if isinstance(value, _Type) else value


def _applied(form: _Form, base: TileInfo, index: SSAValue | None) -> TensorView | None:
    """Apply the steps of an expression to a tensor; None if a step is invalid."""
    argument: Any = None
    if index is not None:
        argument = (
            _tensor(info_of(index), index) if is_tile(index) else VirtualRegister(_CHECKER, index)
        )
    tensor = _tensor(base)
    try:
        for step in form:
            tensor = step.of(tensor, argument)
    except ViewError:
        return None
    return tensor


def _tensor(info: TileInfo, value: Any = None) -> TensorView:
    storage = Storage(_CHECKER, value, info.shape, info.dtype, info.region, "")
    return TensorView(info.shape, info.dtype.name, storage)


def _creates(
    form: _Form, base: TileInfo, access: AccessPattern, dtype: str, dynamic: DynamicPart | None
) -> bool:
    view = _applied(form, base, None if dynamic is None else dynamic.index)
    if view is None or view.dtype != dtype:
        return False
    view_access, part = view._access, view._dynamic  # pyright: ignore[reportPrivateUsage]
    if view_access != access or part is None or dynamic is None:
        return view_access == access and part is None and dynamic is None
    # All fields except the index, which is an expression of its own.
    return (part.indirection, part.scale, part.bound, part.count) == (
        dynamic.indirection,
        dynamic.scale,
        dynamic.bound,
        dynamic.count,
    )
