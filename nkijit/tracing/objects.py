"""NKIObject: the base of classes that kernels use and take as arguments."""

from __future__ import annotations

import dataclasses
import inspect
from functools import lru_cache
from typing import Any, ClassVar, cast

from nkijit.dialects.rule_texts.portability import PORTABLE_FIELD
from nkijit.dialects.spelling import did_you_mean, numbered
from nkijit.tracing.tracer import active_tracer


class _Signature:
    """The signature of a class, with its fields as parameters."""

    def __get__(self, instance: Any, owner: type) -> inspect.Signature:
        if instance is not None or owner.__init__ is not NKIObject.__init__ or not _fields(owner):
            raise AttributeError("__signature__")
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        parameters = [
            inspect.Parameter(name, kinds[field.kw_only]) for name, field in _fields(owner).items()
        ]
        return inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind))


class NKIObject:
    """Base class for kernel data classes (`nki.language.NKIObject`).

    Fields are the annotated names of the class and its bases, and class attributes without an
    annotation that are no functions. A class without its own `__init__` takes fields by position or
    by name, with and without `@dataclass`; a field that is left out has its default. A field that
    is left out and has no default is None, and inside a kernel a warning is recorded. Outside a
    kernel, a `@dataclass` raises TypeError instead, as in Python. `__post_init__` runs afterwards.
    Objects are equal when their class and all fields are.

    Source: NKI language guide, class support.
    """

    __signature__ = _Signature()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__init__ is NKIObject.__init__:
            # On the class itself, so that @dataclass adds none that raises for missing fields.
            cls.__init__ = NKIObject.__init__

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        fields = _fields(cls)
        by_position = [name for name, field in fields.items() if not field.kw_only]
        if len(args) > len(by_position):
            raise TypeError(
                f"{cls.__name__} has {numbered(len(by_position), 'field')}, got "
                f"{numbered(len(args), 'value')}"
            )
        values = dict(zip(by_position, args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f"{cls.__name__} got two values for field '{name}'")
            if fields and name not in fields:
                hint = did_you_mean(name, fields)
                raise TypeError(f"{cls.__name__} has no field '{name}'; it has {[*fields]}{hint}")
            values[name] = value
        for name in fields:
            if name not in values:
                values[name] = _default(cls, name, fields[name])
        values |= _fields_outside_init(cls)
        parameters: Any = getattr(cls, "__dataclass_params__", None)
        is_frozen = parameters is not None and parameters.frozen
        put = object.__setattr__ if is_frozen else setattr
        for_post_init: list[Any] = []
        for name in dict.fromkeys((*fields, *values)):
            if name in fields and fields[name].init_only:
                for_post_init.append(values[name])
            else:
                put(self, name, values[name])
        self.__post_init__(*for_post_init)

    def __post_init__(self) -> None:
        """Called after the fields are set; for subclasses to override."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    """A parameter of the constructor of a class."""

    declared: dataclasses.Field[Any] | None = None
    """The `dataclasses.field` that declares the parameter, if any."""
    kw_only: bool = False
    init_only: bool = False
    """Whether the value is only passed to `__post_init__`, not stored (`dataclasses.InitVar`)."""


@lru_cache(maxsize=512)
def _fields(cls: type) -> dict[str, _Field]:
    """The fields of a class and its bases by name, in the order of positional arguments."""
    found: dict[str, _Field] = {}
    as_declared: dict[str, dataclasses.Field[Any]] = getattr(cls, "__dataclass_fields__", {})
    for name, field in as_declared.items():
        kind = field._field_type  # pyright: ignore
        if field.init and kind is not dataclasses._FIELD_CLASSVAR:  # pyright: ignore
            init_only = kind is dataclasses._FIELD_INITVAR  # pyright: ignore
            found[name] = _Field(field, bool(field.kw_only), init_only)
    for base in reversed(cls.__mro__):
        if base in (object, NKIObject):
            continue
        annotations = inspect.get_annotations(base)
        annotated = {} if "__dataclass_fields__" in vars(base) else annotations
        names = [name for name, kind in annotated.items() if not _is_class_variable(kind)]
        names += [
            name
            for name, value in vars(base).items()
            if name not in annotations and _is_value(name, value)
        ]
        for name in names:
            if name not in as_declared:
                declared_value = vars(base).get(name)
                is_declared = isinstance(declared_value, dataclasses.Field)
                found[name] = _Field(
                    cast("dataclasses.Field[Any]", declared_value) if is_declared else None
                )
    return found


def _is_class_variable(annotation: Any) -> bool:
    text = annotation if isinstance(annotation, str) else ""
    return (
        annotation is ClassVar
        or getattr(annotation, "__origin__", None) is ClassVar
        or (text.removeprefix("typing.").startswith("ClassVar"))
    )


def _is_value(name: str, value: Any) -> bool:
    """Return True for a class attribute that is no method, descriptor or part of Python's
    machinery."""
    return not (
        name.startswith("__")
        or name in ("_abc_impl", "_is_protocol")
        or isinstance(value, type)
        or hasattr(cast(Any, type(value)), "__get__")
    )


def _default(cls: type, name: str, field: _Field) -> Any:
    """Return the value of a field that a call leaves out."""
    declared = field.declared
    if declared is not None and declared.default_factory is not dataclasses.MISSING:
        return declared.default_factory()
    if declared is not None and declared.default is not dataclasses.MISSING:
        return declared.default
    if declared is None and hasattr(cls, name):
        return getattr(cls, name)
    tracer = active_tracer()
    if tracer is not None:
        message = f"field '{name}' has no default and is left out, so it is None"
        tracer.record(PORTABLE_FIELD, f"class '{cls.__name__}'", message)
    elif dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__name__} needs a value for field '{name}'")
    return None


def _fields_outside_init(cls: type) -> dict[str, Any]:
    """Return the defaults of dataclass fields that no call can set (`init=False`), by name."""
    if not dataclasses.is_dataclass(cls):
        return {}
    fields = [field for field in dataclasses.fields(cls) if not field.init]
    return {
        field.name: _default(cls, field.name, _Field(field))
        for field in fields
        if not field.default is field.default_factory is dataclasses.MISSING
    }
