"""Random kernels with numbers from many sources, and statements that change these numbers.

A kernel multiplies by numbers at the end of random paths: a root (globals, modules, closures,
arguments, files, the environment), then containers, objects and functions of many kinds. All code
is source text, so the same statements bring a new process to the same state. The kernel's results
there are the expected ones.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import random
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.language as nl

LEAVES = (0.0, -0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 7.0)


@dataclass(frozen=True)
class Node:
    """A value of some structure, with a number at its end.

    `{}` is replaced by the value in `read` (an expression that gives the number) and in the
    statements of `changes`.
    """

    make: Callable[[random.Random], str]
    """An expression for such a value, with other numbers each time."""
    read: str
    changes: Sequence[Callable[[random.Random], str]] = ()


def _leaf(rng: random.Random, depth: int) -> Node:
    del rng, depth
    forms = (
        "{}",
        "int({})",
        "np.float32({})",
        "np.float64({})",
        "np.array([{}, 1])",
        "np.array([{}, 1], np.float16)",
        "np.array([{}, 1]).view(Noted)",
        "complex(1, {})",
        "complex({}, 1).conjugate()",
        "str({})",
        "str({}).encode()",
        "bytearray(str({}).encode())",
        "np.timedelta64(int({}), 's')",
        "np.timedelta64(int({}), 'm')",
        "Fraction({})",
        "range(int({}), 99)",
        "slice(None, int({}))",
        "Number({})",
        "Text({})",
        "Level(int({}) % 3)",
    )
    hidden = ("iter([{}])", "array.array('d', [{}])")
    return Node(
        lambda rng: rng.choice(forms if rng.random() < 0.97 else hidden).format(
            f"({rng.choice(LEAVES)!r})"
        ),
        "num({})",
    )


def _inside(inner: Node, place: str, make: str) -> Node:
    """Return a node inside an outer value: `place` is its place, `make` makes the outer value."""
    changes = [
        lambda rng: f"{place} = {inner.make(rng)}",
        *(lambda rng, c=change: c(rng).replace("{}", place) for change in inner.changes),
    ]
    return Node(
        lambda rng: make.replace("{}", inner.make(rng)), inner.read.replace("{}", place), changes
    )


def _item(rng: random.Random, depth: int) -> Node:
    forms = (
        ("{}[0]", "[{}, 3]"),
        ("{}[-1]", "Items([3, {}])"),
        ("{}['k']", "dict(k={})"),
        ("{}['k']", "OrderedDict(j=1, k={})"),
        ("{}['k']", "Loose(k={})"),
        ("{}['k']", "defaultdict(list, k={})"),
    )
    return _inside(_node(rng, depth), *rng.choice(forms))


def _attribute(rng: random.Random, depth: int) -> Node:
    kind = rng.choice(
        [
            "Plain",
            "Slots",
            "Record",
            "SlotRecord",
            "SimpleNamespace",
            "Namespace",
            "Anything",
            "Asking",
            "Sub",
        ]
    )
    return _inside(_node(rng, depth), "{}.v", f"{kind}(v={{}})")


def _shared(rng: random.Random, depth: int) -> Node:
    """Two names of one object, or of two equal ones."""
    inner = _node(rng, depth)
    changes = [
        lambda rng: "{}[1] = {}[0]",
        lambda rng: "{}[1] = copy.copy({}[0])",
        *(lambda rng, c=change: c(rng).replace("{}", "{}[0]") for change in inner.changes),
    ]
    return Node(
        lambda rng: rng.choice(
            ("(lambda a: [a, a])({})", "(lambda a: [a, copy.copy(a)])({})")
        ).replace("{}", f"Plain(v={inner.make(rng)})"),
        "({}[0] is {}[1]) + " + inner.read.replace("{}", "{}[0].v"),
        [changes[0], changes[1]],
    )


def _frozen(rng: random.Random, depth: int) -> Node:
    """Return an immutable value that contains a mutable one."""
    inner = _node(rng, depth)
    make, place = rng.choice(
        (
            ("({}, 1)", "{}[0]"),
            ("Point({}, 1)", "{}.a"),
            ("Pair(({}, 2))", "{}[0]"),
            ("Frozen({})", "{}.v"),
            ("MappingProxyType(dict(k={}))", "{}['k']"),
            ("iter([{}, 1]).__next__", "{}()"),
        )
    )
    is_once = "__next__" in make
    return Node(
        lambda rng: make.replace("{}", inner.make(rng)),
        inner.read.replace("{}", place),
        [] if is_once else [lambda rng, c=c: c(rng).replace("{}", place) for c in inner.changes],
    )


def _function(rng: random.Random, depth: int) -> Node:
    """Return a function of some kind with a value, and statements that change its result."""
    inner = _node(rng, depth)
    read = inner.read.replace("{}", "{}()")
    inside = [lambda rng, c=c: c(rng).replace("{}", "{}()") for c in inner.changes]
    form, *put = rng.choice(
        (
            ("giving({})", "{}.__closure__[0].cell_contents = @"),
            ("defaulting({})", "{}.__defaults__ = (@,)"),
            ("naming({})", "{}.__kwdefaults__ = {'v': @}"),
            ("noting({})", "{}.v = @"),
            ("functools.partial(same, {})", "{}.__setstate__((same, (@,), {}, {}))"),
            ("functools.partial(same, v={})", "{}.keywords['v'] = @"),
            ("Plain(v={}).get", "{}.__self__.v = @"),
            ("Calling(v={})", "{}.v = @"),
            ("wrapped(giving({}))", "{}.__wrapped__.__closure__[0].cell_contents = @"),
            (
                "decorated(giving({}))",
                "{}.__closure__[0].cell_contents.__closure__[0].cell_contents = @",
            ),
            ("functools.singledispatch(giving({}))", "{}.register(object, giving(@))"),
            ("dict(k={}).popitem", "{}.__self__['k'] = @"),
        )
    )
    if form.startswith("dict"):
        form = "functools.partial(dict(k={}).get, 'k')"
        put = ["{}.func.__self__['k'] = @"]
    puts = [lambda rng, p=p: p.replace("@", inner.make(rng)) for p in put]
    return Node(lambda rng: form.replace("{}", inner.make(rng)), read, [*inside, *puts, *puts])


def _remembered(rng: random.Random, depth: int) -> Node:
    """Return a function that caches its results."""
    inner = _node(rng, 0)
    form = rng.choice(("functools.cache", "functools.lru_cache(3)"))
    return Node(
        lambda rng: f"{form}(defaulting({inner.make(rng)}))",
        inner.read.replace("{}", "{}()"),
        [
            lambda rng: "{}.cache_clear()",
            lambda rng: f"{{}}.__wrapped__.__defaults__ = ({inner.make(rng)},)",
            lambda rng: f"{{}}.__wrapped__.__defaults__ = ({inner.make(rng)},); {{}}.cache_clear()",
        ],
    )


def _class(rng: random.Random, depth: int) -> Node:
    """Return a class or instance with a value: attributes, methods, properties, descriptors."""
    inner = _node(rng, depth)
    make, place = rng.choice(
        (
            ("type('C', (), dict(v={}))", "{}.v"),
            ("type('C', (type('B', (), dict(v={})),), dict())", "{}.v"),
            ("type('C', (Sub,), dict(v={}))()", "{}.v"),
            ("type('C', (), dict(v=property(giving_to({}))))()", "{}.v"),
            ("type('C', (), dict(f=staticmethod(giving({}))))", "{}.f()"),
            ("type('C', (), dict(f=classmethod(giving_to({}))))", "{}.f()"),
            ("type('C', (), dict(__getattr__=giving_to_any({})))()", "{}.anything"),
            ("type('C', (), dict(__getitem__=giving_to_any({})))()", "{}[3]"),
            ("type('C', (Meta,), dict(v={}))", "{}.v"),
            ("dataclasses.make_dataclass('C', [('v', object, Plain({}))])", "{}().v.v"),
            ("enum.Enum('E', dict(v={}))", "{}['v'].value"),
        )
    )
    changes: list[Callable[[random.Random], str]] = []
    if place == "{}.v" and "property" not in make:
        of = "type({})" if make.endswith("()") else "{}"
        changes.append(lambda rng: f"{of}.v = {inner.make(rng)}")
        changes += [lambda rng, c=c: c(rng).replace("{}", place) for c in inner.changes]
    return Node(
        lambda rng: make.replace("{}", inner.make(rng)),
        inner.read.replace("{}", place),
        changes,
    )


def _module(rng: random.Random, depth: int) -> Node:
    """Return a module that is not imported."""
    make = rng.choice(("types.ModuleType('m')", "Package('m')"))
    return _inside(_node(rng, depth), "{}.v", f"having({make}, {{}})")


_KINDS = (_leaf, _item, _attribute, _frozen, _function, _class, _module, _shared, _remembered)


def _node(rng: random.Random, depth: int) -> Node:
    kind = rng.choice(_KINDS) if depth > 0 else _leaf
    return kind(rng, depth - 1)


@dataclass(frozen=True)
class Root:
    """A path from a kernel to a value. `#` is replaced by the number of the value."""

    read: str
    """An expression, in the kernel or in `number#`, which it calls."""
    place: str
    """The value for statements from outside: `K`, `S` are the two modules."""
    before: str = ""
    """A statement before the expression, where it is."""
    put: str = ""
    """A statement that puts the value there at the beginning, where `settings` does not."""


ROOTS = (
    Root("k#", "K.k#", put="K.k# = {}"),
    Root("settings.s#", "S.s#"),
    Root("getattr(settings, 's#')", "S.s#"),
    Root("getattr(settings, 's' + '#')", "S.s#"),
    Root("operator.attrgetter('s#')(settings)", "S.s#"),
    Root("vars(settings)['s#']", "S.s#"),
    Root("settings.__dict__['s#']", "S.s#"),
    Root("through(settings).s#", "S.s#"),
    Root("globals()['k#']", "K.k#", put="K.k# = {}"),
    Root("eval('k#')", "K.k#", put="K.k# = {}"),
    Root("sys.modules['settings'].s#", "S.s#"),
    Root("importlib.import_module('settings').s#", "S.s#"),
    Root("there.s#", "S.s#", before="import settings as there"),
    Root("s#", "S.s#", before="from settings import s#"),
    Root("mine", "S.s#", before="from settings import s# as mine"),
    Root("m.s#", "S.s#", before="m = settings"),
    Root("[settings][0].s#", "S.s#"),
    Root("package.inner.p#", "K.package.inner.p#", put="K.package.inner.p# = {}"),
    Root(
        "p#",
        "K.package.inner.p#",
        before="from package.inner import p#",
        put="K.package.inner.p# = {}",
    ),
    Root("(lambda: settings.s#)()", "S.s#"),
    Root("[settings.s# for _ in (1,)][0]", "S.s#"),
    Root("cell_#()", "K.cell_#.__closure__[0].cell_contents", put="K.cell_# = S.giving({})"),
    Root("given_#()", "K.given_#.__defaults__[0]", put="K.given_# = S.defaulting({})"),
    Root("__builtins__['b#']", "K.__builtins__['b#']", put="K.__builtins__['b#'] = {}"),
    Root("b#", "K.__builtins__['b#']", put="K.__builtins__['b#'] = {}"),
    Root("math.m#", "K.math.m#", put="K.math.m# = {}"),
    Root("nl.n#", "K.nl.n#", put="K.nl.n# = {}"),
    Root("Holder.h#", "K.Holder.h#", put="K.Holder.h# = {}"),
    Root("holder.h#", "K.holder.h#", put="K.holder.h# = {}"),
    Root("holder.method().h#", "K.holder.h#", put="K.holder.h# = {}"),
    Root("a[#]", "K.ARGUMENTS[#]", put="K.ARGUMENTS[#] = {}"),
    Root("a[3]", "K.kernel.func.__defaults__[0]", put="K.kernel.func.__defaults__ = ({},)"),
    Root(
        "a[4 + #]",
        "K.kernel.func.__kwdefaults__['q#']",
        put="K.kernel.func.__kwdefaults__['q#'] = {}",
    ),
    Root("kernel.t#", "K.kernel.t#", put="K.kernel.t# = {}"),
    Root("installed.i#", "K.installed.i#", put="K.installed.i# = {}"),
)

OUTSIDE = (
    ("float(os.environ['N#'])", "os.environ['N#'] = str({})"),
    ("float(os.getenv('N#', '3'))", "os.environ['N#'] = str({})"),
    ("float(environ.get('N#'))", "os.environ['N#'] = str({})"),
    ("('N#' in os.environ)", "os.environ.pop('N#', None) or os.environ.update(N#='1')"),
    ("float(open(FOLDER + '/f#').read())", "write('f#', {})"),
    ("float(pathlib.Path(FOLDER, 'f#').read_text())", "write('f#', {})"),
    ("float(np.load(FOLDER + '/f#.npy')[0])", "np.save(K.FOLDER + '/f#', [{}])"),
    ("float(np.loadtxt(FOLDER + '/f#'))", "write('f#', {})"),
    ("os.path.exists(FOLDER + '/f#')", "toggle('f#')"),
    ("pathlib.Path(FOLDER, 'f#').exists()", "toggle('f#')"),
    ("len(os.listdir(FOLDER))", "toggle('f#')"),
    ("json.load(open(FOLDER + '/f#'))", "write('f#', {})"),
    ("random.random()", "random.seed({})"),
    ("np.random.rand()", "np.random.seed(int({}))"),
    ("generator.random()", "K.generator = np.random.default_rng(int({}))"),
    ("dice()", "random.seed({})"),
)
"""Expressions that read state outside Python, and statements that change it."""


@dataclass(frozen=True)
class Program:
    """A random kernel: its modules by file name, how it begins, and how it changes."""

    files: dict[str, str]
    begin: list[str]
    changes: list[str]


def program(rng: random.Random) -> Program:
    """Return a random kernel, and statements that may change its results."""
    begin: list[str] = []
    settings: list[str] = []
    body: list[str] = []
    functions: list[str] = []
    changes: list[str] = []
    count = rng.randint(1, 3)
    for index in range(count):
        number = str(index)
        if rng.random() < 0.15:
            read, change = (text.replace("#", number) for text in rng.choice(OUTSIDE))
            makes = [change.replace("{}", repr(rng.choice(LEAVES))) for _ in range(4)]
            begin.append(makes.pop())
            changes += makes
            before = ""
        else:
            root, node = rng.choice(ROOTS), _node(rng, rng.randint(0, 3))
            place = root.place.replace("#", number)
            before = root.before.replace("#", number)
            read = node.read.replace("{}", root.read.replace("#", number))
            if root.put:
                put = root.put.replace("#", number)
                begin.append(_of_settings(put.replace("{}", node.make(rng))))
            else:
                settings.append(f"s{number} = {node.make(rng)}")
            for _ in range(3):
                change = rng.choice((*node.changes, *node.changes, None))
                if change is None and "__closure__" in place and "cell_" in place:
                    changes.append(_of_settings(f"{place} = {node.make(rng)}"))
                elif change is None and "__defaults__" in place:
                    owner = place.removesuffix("[0]")
                    changes.append(_of_settings(f"{owner} = ({node.make(rng)},)"))
                elif change is None:
                    changes.append(_of_settings(f"{place} = {node.make(rng)}"))
                else:
                    changes.append(_of_settings(change(rng).replace("{}", place)))
        if rng.random() < 0.5:
            body += [before, f"numbers.append({read})"]
        else:
            functions += [f"def number{number}(a):", f"    {before}", f"    return {read}", ""]
            body.append(f"numbers.append(number{number}(a))")
    rng.shuffle(changes)
    kernel = _KERNEL.format(
        functions="\n".join(functions),
        body="\n".join(f"    {line}" for line in body if line),
    )
    files = {
        "settings.py": _SETTINGS + "\n".join(settings) + "\n",
        "kernel.py": kernel,
        "package/__init__.py": "",
        "package/inner.py": "",
        "site-packages/installed.py": "",
    }
    return Program(files, begin, changes)


def _of_settings(statement: str) -> str:
    """Return a statement that can use the names of the module `settings`."""
    return f"exec({statement!r}, {{**vars(S), 'K': K, 'S': S}})"


_KERNEL = """
import importlib, json, math, operator, os, pathlib, random, sys
from os import environ
from random import random as dice
import numpy as np
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
import settings
import installed
import package.inner
from settings import num, through

FOLDER = os.path.dirname(__file__)
ARGUMENTS = [0, 0, 0]
generator = np.random.default_rng(1)


class Holder:
    def method(self):
        return self


holder = Holder()

{functions}

@nki.jit
def kernel(x, a0, a1, a2, d=0, *, q0=0, q1=0, q2=0):
    a = (a0, a1, a2, d, q0, q1, q2)
    numbers = []
{body}
    out = nl.ndarray((1, len(numbers)), nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((1, 1), nl.float32, buffer=nl.sbuf)
    for index, number in enumerate(numbers):
        nisa.memset(dst=tile, value=float(number))
        nisa.dma_copy(dst=out[0:1, index : index + 1], src=tile)
    return out
"""

_SETTINGS = '''
import array, copy, dataclasses, enum, functools, math, types
from argparse import Namespace
from collections import OrderedDict, defaultdict, deque, namedtuple
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
import numpy as np


def num(v):
    if isinstance(v, np.ndarray):
        return float(v.flat[0]) + getattr(v, "note", 0)
    if isinstance(v, complex):
        return 2 * v.imag + v.real
    if isinstance(v, np.timedelta64):
        return float(v / np.timedelta64(1, "s"))
    if isinstance(v, (bytes, bytearray)):
        return float(bytes(v))
    if isinstance(v, range):
        return v.start
    if isinstance(v, slice):
        return v.stop
    if isinstance(v, array.array):
        return v[0]
    if isinstance(v, Level):
        return v.value
    if hasattr(v, "__next__"):
        return next(v, -1)
    return float(v)


class Noted(np.ndarray):
    note = 0


class Number(float):
    pass


class Text(str):
    pass


class Level(enum.Enum):
    low, middle, high = 0, 1, 2


class Items(list):
    pass


class Loose(dict):
    def __getattr__(self, name):
        return self[name]


class Plain:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v


class Sub(Plain):
    def __init__(self, v=1):
        super().__init__(v)


class Slots:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


@dataclasses.dataclass
class Record:
    v: object


@dataclasses.dataclass(slots=True)
class SlotRecord:
    v: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: object


class Anything:
    """As mocks and settings are: it has every attribute."""

    def __init__(self, v):
        self.__dict__["v"] = v

    def __getattr__(self, name):
        return self.__dict__["v"]


class Asking(Plain):
    """Its attributes are asked for in its own way."""

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Calling(Plain):
    def __call__(self):
        return self.v


class Meta:
    pass


class Package(types.ModuleType):
    @property
    def twice(self):
        return 2


Point = namedtuple("Point", "a b")


class Pair(tuple):
    pass


def same(v):
    return v


def through(module):
    return module


def having(module, v):
    module.v = v
    return module


def giving(v):
    def give(*rest):
        return v

    return give


def giving_to(v):
    return lambda self: v


def giving_to_any(v):
    return lambda self, name: v


def defaulting(v):
    def give(v=v):
        return v

    return give


def naming(v):
    def give(*, v=v):
        return v

    return give


def noting(v):
    def give():
        return give.v

    give.v = v
    return give


def wrapped(function):
    @functools.wraps(math.factorial)
    def give():
        return function()

    give.__wrapped__ = function
    return give


def decorated(function):
    def give():
        return function()

    return give


'''


# ------------------------------------------------------------------ running


@dataclass(frozen=True)
class Outcome:
    """The results of a program's kernel at each step, each traced twice."""

    texts: list[str]
    hits: int
    traces: int
    """Traces that were found, and that were made."""
    reasons: list[str]


NOTHING = Outcome([], 0, 0, [])


def outcome(made: Program, folder: Path, *, remembers: bool, steps: range) -> Outcome:
    """Run a program in this process, which is spoilt afterwards; NOTHING if it cannot begin.

    Args:
        made: the program.
        folder: an empty folder.
        remembers: use traces again, as calls do.
        steps: the steps after which the kernel is traced.
    """
    for name, text in made.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(folder), str(folder / "site-packages")]
    try:
        kernel_module = importlib.import_module("kernel")
    except Exception:
        return NOTHING
    names: dict[str, Any] = {
        "K": kernel_module,
        "S": sys.modules["settings"],
        **{"np": np, "os": os, "random": random},
        "write": lambda name, value: (folder / name).write_text(str(value)),
        "toggle": lambda name: _toggle(folder / name),
    }
    kernel = kernel_module.kernel
    try:
        for statement in made.begin:
            exec(statement, names)
    except Exception:
        return NOTHING
    texts: list[str] = []
    for step, change in enumerate(["", *made.changes]):
        with contextlib.suppress(
            Exception
        ):  # the object that it would change does not exist any more
            exec(change, names)
        for _ in range(2 if step in steps else 0):
            if not remembers:
                kernel = nki.jit(kernel_module.kernel.func)
            try:
                x = nki.TensorSpec((128, 8), nl.float32)
                texts.append(str(kernel.trace(x, *kernel_module.ARGUMENTS)))
            except Exception as error:
                # Each run has its own folder, which places in messages name.
                told = f"{type(error).__name__}: {error}".replace(str(folder), "")
                texts.append(told.partition(" at 0x")[0])
    info = kernel.cache_info()
    return Outcome(texts, info.hits, info.misses, list(info.reasons))


def _toggle(path: Path) -> None:
    if path.exists():
        path.unlink()
    else:
        path.write_text("1.0", encoding="utf-8")


def in_a_process(function: Callable[[], Any]) -> Any:
    """Return the result of a function in a forked process, which ends afterwards."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            try:
                answer = function()
            except BaseException as error:
                answer = RuntimeError(f"{type(error).__name__}: {error}")
            with os.fdopen(writer, "wb") as stream:
                pickle.dump(answer, stream)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    answer = pickle.loads(data)
    if isinstance(answer, BaseException):
        raise answer
    return answer


def stale_steps(made: Program) -> tuple[list[str], Outcome]:
    """Return the steps at which a caching kernel differs from an uncached one, and its outcome."""

    def run(remembers: bool, steps: range) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            return in_a_process(
                lambda: outcome(made, Path(folder), remembers=remembers, steps=steps)
            )

    every, last = range(len(made.changes) + 1), len(made.changes)
    live, again = run(True, every), run(False, every)
    found = [
        f"step {index // 2}: {_numbers(one)} in the place of {_numbers(two)}"
        for index, (one, two) in enumerate(zip(live.texts, again.texts, strict=True))
        if one != two
    ]
    texts = (made.files["settings.py"], made.files["kernel.py"], *made.begin, *made.changes)
    if not any(word in "".join(texts) for word in _CHANGED_BY_TRACES):
        fresh = run(False, range(last, last + 1))
        if fresh.texts != live.texts[-2:]:
            numbers = _numbers(live.texts[-1]), _numbers(fresh.texts[-1])
            found.append(f"at the end: {numbers[0]} in the place of {numbers[1]}")
    return found, live


_CHANGED_BY_TRACES = ("iter([", "functools.cache(", "lru_cache(", "random()", "rand()", "dice()")


def _numbers(text: str) -> str:
    return " ".join(re.findall(r"nisa\.memset[^\n]*", text)) or text[:200]
