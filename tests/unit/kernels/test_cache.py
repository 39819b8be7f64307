"""The cache of traces never answers for a kernel that has changed, and says why it traces."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import logging
import math
import operator
import os
import random
import sys
import textwrap
import threading
import time
import types
from collections import OrderedDict, defaultdict
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from support.changing_kernels import program, stale_steps
from support.fresh_process import in_fresh_process

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.cache import CacheInfo

X = np.ones((1, 4), np.float32)


def filled(number):
    """A tensor with one number everywhere."""
    out = nl.ndarray((1, 4), nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((1, 4), nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=float(number))
    nisa.dma_copy(dst=out, src=tile)
    return out


def of(function, *parameters):
    """Return a kernel that fills its result with the value of a function."""

    def kernel(x, *args):
        return filled(function(*args))

    return nki.jit(kernel)


def value(kernel, *args):
    return float(kernel(X, *args)[0, 0])


def reasons(kernel):
    return list(kernel.cache_info().reasons)


def is_traced_again(kernel, *args):
    """Whether equal calls trace, and the reason says something."""
    spec = nki.TensorSpec((1, 4), nl.float32)
    return kernel.trace(spec, *args) is not kernel.trace(spec, *args)


# ------------------------------------------------------------------ objects with any attribute


class Settings(dict):
    """A dictionary whose items are attributes; it raises KeyError for the others."""

    def __getattr__(self, name):
        return self[name]


class Everything:
    def __init__(self, number):
        self.__dict__["number"] = number

    def __getattr__(self, name):
        return self.__dict__["number"]


@pytest.mark.parametrize("make", [Settings, Everything, SimpleNamespace])
def test_objects_with_any_attribute_are_read_by_their_type(make):
    settings = make(number=2.0)
    kernel = of(lambda: settings.number)
    assert value(kernel) == 2
    settings.__dict__["number"] = 3.0
    if make is Settings:
        settings["number"] = 3.0
    assert value(kernel) == 3
    assert value(of(lambda given: given.number), settings) == 3
    assert not is_traced_again(kernel)


def test_no_code_of_an_author_runs_for_a_key():
    class Loud:
        number = 2.0

        def __getattribute__(self, name):
            if not inside:
                raise AssertionError(name)
            return object.__getattribute__(self, name)

        def __eq__(self, other):
            raise AssertionError

        def __hash__(self):
            raise AssertionError

    inside = []
    loud = Loud()

    @nki.jit
    def kernel(x, given):
        inside.append(1)
        number = given.number
        inside.clear()
        return filled(number)

    assert value(kernel, loud) == 2
    Loud.number = 3.0
    assert value(kernel, loud) == 3


def test_mocks_are_traced_again():
    fake = mock.Mock(number=2.0)
    kernel = of(lambda: fake.number)
    assert value(kernel) == 2
    fake.number = 3.0
    assert value(kernel) == 3


# ------------------------------------------------------------------ modules


@pytest.fixture
def config(tmp_path, monkeypatch):
    (tmp_path / "config_of_kernels.py").write_text("TILE = 2.0\n\ndef tile():\n    return TILE\n")
    monkeypatch.syspath_prepend(tmp_path)
    import config_of_kernels

    yield config_of_kernels
    del sys.modules["config_of_kernels"]


def through_an_import():
    import config_of_kernels as there

    return there.TILE


def through_a_function():
    from config_of_kernels import tile

    return tile()


WAYS = {
    "a helper": lambda config: (lambda module: module.TILE)(config),
    "getattr": lambda config: getattr(config, "TI" + "LE"),
    "attrgetter": lambda config: operator.attrgetter("TILE")(config),
    "vars": lambda config: vars(config)["TILE"],
    "__dict__": lambda config: config.__dict__["TILE"],
    "a list": lambda config: [config][0].TILE,
    "sys.modules": lambda config: sys.modules["config_of_kernels"].TILE,
    "an import": lambda config: through_an_import(),
    "an import from": lambda config: through_a_function(),
    "eval": lambda config: eval("config.TILE", {"config": config}),
    "a closure": lambda config: (lambda: config.TILE)(),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_values_of_modules_by_any_way(config, way):
    kernel = of(lambda: way(config))
    assert value(kernel) == 2
    config.TILE = 3.0
    assert value(kernel) == 3


def test_a_module_that_is_not_imported():
    config = types.ModuleType("config")
    config.inner = types.ModuleType("inner")
    config.inner.TILE = 2.0
    kernel, helped = of(lambda: config.inner.TILE), of(lambda: WAYS["a helper"](config.inner))
    assert (value(kernel), value(helped)) == (2, 2)
    config.inner.TILE = 3.0
    assert (value(kernel), value(helped)) == (3, 3)
    assert not is_traced_again(kernel)


FACTOR = 2.0


def test_globals_by_name(monkeypatch):
    kernel = of(lambda: globals()["FACTOR"])
    assert value(kernel) == 2
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert value(kernel) == 3


def test_values_that_an_author_puts_into_a_library(monkeypatch):
    kernel = of(lambda: math.tau)
    value(kernel)
    monkeypatch.setattr(math, "tau", 6.0)
    assert value(kernel) == 6


def test_a_name_that_a_module_does_not_have_yet(config):
    kernel = of(lambda: getattr(config, "WIDTH", 7.0))
    plain = of(lambda: config.WIDTH if hasattr(config, "WIDTH") else 7.0)
    assert (value(kernel), value(plain)) == (7, 7)
    config.WIDTH = 3.0
    assert (value(kernel), value(plain)) == (3, 3)


def test_installed_packages_hold_kernels(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "kernels_of_somebody"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("TILE = 2.0\n\ndef tile():\n    return TILE\n")
    monkeypatch.syspath_prepend(package.parent)
    sizes = importlib.import_module("kernels_of_somebody.sizes")
    kernel = of(lambda: sizes.tile())
    assert value(kernel) == 2
    sizes.TILE = 3.0
    assert value(kernel) == 3
    assert not is_traced_again(kernel)
    del sys.modules["kernels_of_somebody.sizes"], sys.modules["kernels_of_somebody"]


def test_a_folder_whose_name_begins_as_the_packages():
    from nkijit.host.installed import is_library_file

    package = str(Path(nki.__file__).parent)
    assert is_library_file(f"{package}/kernel.py")
    assert not is_library_file(f"{package}_kernels/kernel.py")


# ------------------------------------------------------------------ the world


def reading(statement):
    """Return a kernel that fills its result with the value of an expression."""
    names = {"nki": nki, "filled": filled}
    text = f"""
        import json, os, pathlib, random, time
        import numpy as np
        from os import environ, getenv
        from random import random as dice
        def kernel(x, folder):
            return filled({statement})
    """
    exec(textwrap.dedent(text), names)
    return nki.jit(names["kernel"])


@pytest.mark.filterwarnings("ignore:unclosed file")
@pytest.mark.parametrize(
    "expression",
    [
        "open(folder + '/number').read()",
        "pathlib.Path(folder, 'number').read_text()",
        "np.loadtxt(folder + '/number')",
        "np.fromfile(folder + '/number', sep=' ')[0]",
        "np.load(folder + '/number.npy')",
        "json.load(open(folder + '/number'))",
        "os.path.getsize(folder + '/number')",
        "os.stat(folder + '/number').st_size",
        "os.path.exists(folder + '/other')",
        "pathlib.Path(folder, 'other').exists()",
        "len(os.listdir(folder))",
        "len(list(pathlib.Path(folder).iterdir()))",
    ],
)
def test_files(tmp_path, expression):
    kernel = reading(expression)
    (tmp_path / "number").write_text("2")
    np.save(tmp_path / "number.npy", 2.0)
    before = value(kernel, str(tmp_path))
    (tmp_path / "number").write_text("3.5")
    (tmp_path / "other").touch()
    np.save(tmp_path / "number.npy", 3.5)
    for name in ("number", "number.npy"):
        os.utime(tmp_path / name, ns=(1, 1))
    after = value(kernel, str(tmp_path))
    assert after == value(reading(expression), str(tmp_path)) != before
    assert "may give something else at every call" in reasons(kernel)[0]


@pytest.mark.parametrize(
    "expression", ["os.environ['NUMBER']", "environ.get('NUMBER')", "getenv('NUMBER')"]
)
def test_the_environment_is_part_of_the_key(monkeypatch, expression):
    kernel = reading(expression)
    monkeypatch.setenv("NUMBER", "2")
    assert value(kernel, "") == 2
    assert not is_traced_again(kernel, "")
    monkeypatch.setenv("NUMBER", "3")
    assert value(kernel, "") == 3
    assert "environment, NUMBER has changed" in reasons(kernel)


@pytest.mark.parametrize(
    "expression",
    [
        "random.random()",
        "dice()",
        "np.random.rand()",
        "np.random.default_rng().random()",
        "time.time_ns() % 10**6",
        "time.perf_counter() % 1",
    ],
)
def test_chance_and_time(expression):
    kernel = reading(expression)
    assert len({value(kernel, "") for _ in range(5)}) > 1
    assert kernel.cache_info().hits == 0


def test_modules_of_libraries_that_are_passed_on():
    def helper(module):
        return module.random()

    def plain(module):
        return module.sqrt(4.0)

    kernel = of(lambda: helper(random))
    assert value(kernel) != value(kernel)
    assert "any attribute of module 'random' may be read" in reasons(kernel)[0]
    kernel = of(lambda: plain(np))
    assert value(kernel) == 2
    assert is_traced_again(kernel)
    kernel = of(lambda: plain(math))
    assert value(kernel) == 2
    assert not is_traced_again(kernel)


@pytest.mark.parametrize(
    "expression",
    [
        "bisect.bisect([1, 2, 3], 2)",
        "getattr(math, 'sq' + 'rt')(4.0)",
        "len(getattr(nl, 'tile_' + 'size').__class__.__name__) * 0 + 2",
        "functools.reduce(operator.add, [1, 1])",
        "len(re.findall('a', 'banana')) - 1",
        "int(sys.maxsize > 0) + 1",
        "collections.Counter('aab')['a']",
        "int(np.log2(4))",
        "len(struct.pack('<h', 1))",
        "heapq.nsmallest(2, [3, 2, 1])[1]",
        "int(hashlib.md5(b'').digest_size / 8)",
    ],
)
def test_deterministic_results_are_reused(expression):
    modules = "bisect collections functools hashlib heapq math operator re struct sys"
    names = {name: importlib.import_module(name) for name in modules.split()}
    names |= {"np": np, "nl": nl, "filled": filled}
    exec(f"def kernel(x):\n    return filled({expression})", names)
    kernel = nki.jit(names["kernel"])
    assert value(kernel) == 2
    assert not is_traced_again(kernel), reasons(kernel)


def test_a_file_that_is_written_twice_within_a_tick(tmp_path):
    path = tmp_path / "numbers.npy"
    np.save(path, np.full((1, 4), 2, np.float32))

    @nki.jit
    def kernel(x):
        return nl.shared_constant(str(path))

    assert value(kernel) == 2
    found = path.stat()
    content = path.read_bytes().replace(np.float32(2).tobytes(), np.float32(3).tobytes())
    times = (found.st_mtime_ns, found.st_ctime_ns)
    with mock.patch("nkijit.host.file_state._stat", return_value=times):
        kernel.cache_clear()
        assert value(kernel) == 2
        path.write_bytes(content)
        assert value(kernel) == 3


# ------------------------------------------------------------------ values that look equal


class Weights(np.ndarray):
    note = 0


def noted(number):
    found = np.zeros(3).view(Weights)
    found.note = number
    return found


class Signs(int):
    sign = 1

    def __new__(cls, number, sign):
        made = int.__new__(cls, number)
        made.sign = sign
        return made


@dataclasses.dataclass
class Shape:
    size: float


SQUARE = np.arange(4).reshape(2, 2)


@pytest.mark.parametrize(
    ("one", "two", "read"),
    [
        (complex(1, 0.0), complex(1, -0.0), lambda z: math.copysign(1, z.imag)),
        (complex(0.0, 1), complex(-0.0, 1), lambda z: math.copysign(1, z.real)),
        (np.timedelta64(1, "s"), np.timedelta64(1, "m"), lambda t: t / np.timedelta64(1, "s")),
        (np.datetime64(1, "D"), np.datetime64(1, "Y"), lambda t: t.astype("M8[D]").astype(int)),
        (noted(2), noted(3), lambda array: array.note),
        (Signs(1, 1), Signs(1, -1), lambda number: number.sign),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), lambda d: next(iter(d.values()))),
        ([1, 2], (1, 2), lambda items: isinstance(items, list)),
        ({1: 0, 2: 0}, {2: 0, 1: 0}, lambda items: next(iter(items))),
        ({8, 0}, {0, 8}, lambda items: next(iter(items))),
        (SQUARE, SQUARE.T.copy().T, lambda a: a.ravel("K")[1]),
        (np.zeros(2, "<i4"), np.zeros(2, ">i4"), lambda a: a.dtype.isnative),
        (np.dtype("i4"), np.dtype("i4", metadata={"n": 3}), lambda d: len(d.metadata or {})),
        (True, 1, lambda number: type(number) is bool),
        (defaultdict(lambda: 2), defaultdict(lambda: 3), lambda d: d["a"]),
        (functools.partial(Shape, 2), functools.partial(Shape, 3), lambda f: f().size),
        (Fraction(1, 2), Fraction(1, 3), float),
        (range(3), range(0, 3, 2), len),
        (SimpleNamespace(size=2), SimpleNamespace(size=3), lambda s: s.size),
        (bytearray(b"2"), bytearray(b"3"), lambda b: int(b)),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_values_that_look_equal(one, two, read):
    holder = SimpleNamespace(given=one)
    kernel = of(lambda: read(holder.given))
    first = value(kernel)
    holder.given = two
    assert value(kernel) == value(of(lambda: read(holder.given)))
    assert (first, one) != (value(kernel), two) or str(first) == str(float(read(one)))
    holder.given = one
    assert value(kernel) == first


def test_wraps_over_a_function_of_a_library():
    numbers = [2.0]

    @functools.wraps(math.gcd)
    def wrapper():
        return numbers[0]

    kernel = of(lambda: wrapper())
    assert value(kernel) == 2
    numbers[0] = 3.0
    assert value(kernel) == 3


def test_a_class_that_says_it_is_of_a_library():
    kind = type("Array", (), {"size": 2.0, "__module__": "numpy", "__qualname__": "ndarray"})
    kernel = of(lambda: kind.size)
    assert value(kernel) == 2
    kind.size = 3.0
    assert value(kernel) == 3


@pytest.mark.parametrize("remember", [functools.cache, functools.lru_cache(maxsize=2)])
def test_functions_that_remember(remember):
    @remember
    def size():
        return numbers[0]

    numbers = [2.0]
    kernel = of(lambda: size())
    assert [value(kernel), value(kernel)] == [2, 2]
    numbers[0] = 3.0
    assert value(kernel) == 2  # as Python has it
    size.cache_clear()
    assert value(kernel) == 3
    assert not is_traced_again(kernel)


def test_identity_between_arguments_is_seen():
    def kernel(x, one, two):
        return filled(2.0 if one is two else 3.0)

    class Plain:
        pass

    for make in (list, dict, Plain, lambda: Shape(1.0)):
        same, other = make(), make()
        traced = nki.jit(kernel)
        assert [value(traced, same, same), value(traced, same, other)] == [2, 3]


def test_containers_that_contain_themselves_in_different_ways():
    def kernel(x, nodes):
        return filled(2.0 if nodes[0][0] is nodes else 3.0)

    inner: list = []
    outer = [inner]
    inner.append(outer)
    own: list = []
    own.append(own)
    traced = nki.jit(kernel)
    assert [value(traced, outer), value(traced, [own])] == [2, 3]


def test_an_empty_cell_is_not_left_out():
    def make(first, second):
        def read():
            try:
                return one
            except NameError:
                return two + 10

        if first:
            one = 2.0
        if second:
            two = 2.0
        return read

    kernel = of(lambda given: given())
    assert [value(kernel, make(True, False)), value(kernel, make(False, True))] == [2, 12]


def test_classes_that_say_themselves_which_are_equal():
    class Meta(type):
        def __eq__(cls, other):
            raise AssertionError

        __hash__ = None

    class Size(metaclass=Meta):
        size = 2.0

    kernel = of(lambda given: given.size)
    assert (value(kernel, Size), value(kernel, Size())) == (2, 2)
    Size.size = 3.0
    assert (value(kernel, Size), value(kernel, Size())) == (3, 3)
    assert not is_traced_again(kernel, Size)
    assert not is_traced_again(kernel, Size())


def test_ways_around_names():
    def helper():
        return FACTOR

    settings = SimpleNamespace(inner=SimpleNamespace(size=2.0))
    by_frame = of(lambda: helper.__globals__["FACTOR"])
    by_path = of(lambda: operator.attrgetter("inner.size")(settings))
    getter = operator.attrgetter("size")
    by_getter = of(lambda: getter(settings.inner))
    assert (value(by_frame), value(by_path), value(by_getter)) == (2, 2, 2)
    assert is_traced_again(by_frame)
    assert "__globals__" in reasons(by_frame)[0]
    settings.inner.size = 3.0
    settings.inner.other = 4.0
    assert (value(by_path), value(by_getter)) == (3, 3)
    getter = operator.attrgetter("other")
    assert value(by_getter) == 4


def test_loggers_say_something_or_nothing():
    logger = logging.getLogger("nkijit.test.child")
    parent = logging.getLogger("nkijit.test")
    kernel = of(lambda: logger.isEnabledFor(logging.INFO))
    asking = of(lambda: logging.getLogger("nkijit.test.child").isEnabledFor(logging.INFO))
    for level, says in ((logging.WARNING, 0), (logging.DEBUG, 1), (logging.ERROR, 0)):
        parent.setLevel(level)
        assert (value(kernel), value(asking)) == (says, says)
    assert not is_traced_again(kernel)


def test_names_of_functions_and_classes():
    def helper():
        """2"""

    class Size:
        """2"""

    kernel = of(
        lambda: int(helper.__doc__) + int(Size.__doc__) + len(helper.__name__ + Size.__name__)
    )
    assert value(kernel) == 14
    helper.__doc__, helper.__name__, Size.__doc__, Size.__name__ = "3", "h", "5", "S"
    assert value(kernel) == 10


# ------------------------------------------------------------------ changes by tracing


def test_tracing_that_changes_its_inputs():
    counts = [0]

    def count():
        counts[0] += 1
        return counts[0]

    kernel = of(lambda: count())
    assert [value(kernel) for _ in range(3)] == [1, 2, 3]
    assert "tracing it changes" in reasons(kernel)[0]
    flags = [True]

    def toggle():
        flags[0] = not flags[0]
        return flags[0]

    kernel = of(lambda: toggle())
    assert [value(kernel) for _ in range(4)] == [0, 1, 0, 1]


def test_iterators_go_on():
    numbers = iter([2.0, 3.0])
    kernel = of(lambda: next(numbers))
    assert [value(kernel), value(kernel)] == [2, 3]
    assert "list_iterator" in reasons(kernel)[0]


# ------------------------------------------------------------------ messages


def test_the_counts_and_reasons():
    sizes = [2.0]
    kernel = of(lambda scale: sizes[0] * scale)
    assert kernel.cache_info() == CacheInfo(0, 0, 128, 0, {})
    value(kernel, 1.0)
    value(kernel, 1.0)
    value(kernel, 2.0)
    sizes[0] = 3.0
    value(kernel, 2.0)
    info = kernel.cache_info()
    assert (info.hits, info.misses, info.currsize) == (1, 3, 3)
    assert [*info.reasons] == [
        "first call",
        "argument 'args' has changed",
        "kernel 'kernel', function, sizes has changed",
    ]
    kernel.cache_clear()
    assert kernel.cache_info() == CacheInfo(0, 0, 128, 0, {})


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setenv("NKIJIT_TRACE_CACHE", "2")
    kernel = of(lambda scale: scale)
    for scale in (1.0, 2.0, 1.0, 3.0, 1.0, 2.0):
        assert value(kernel, scale) == scale
    # 2.0 was used the longest ago when 3.0 came.
    info = kernel.cache_info()
    assert (info.hits, info.misses, info.currsize, info.maxsize) == (2, 4, 2, 2)
    monkeypatch.setenv("NKIJIT_TRACE_CACHE", "0")
    assert value(kernel, 4.0) == 4
    assert kernel.cache_info().currsize == 0
    monkeypatch.setenv("NKIJIT_TRACE_CACHE", "many")
    with pytest.raises(ValueError, match="NKIJIT_TRACE_CACHE is a number of traces"):
        kernel(X, 5.0)


def test_kernels_with_too_much_to_compare_are_traced_again():
    many = [[index] for index in range(60_000)]
    kernel = of(lambda: many[0][0])
    assert value(kernel) == 0
    many[0][0] = 3
    assert value(kernel) == 3
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    kernel = of(lambda: len(deep))
    assert value(kernel) == 1
    assert "nested too deep" in reasons(kernel)[0]


def test_code_that_is_gone_is_forgotten():
    from nkijit.kernels.cache_key.reads import _known, reads_of

    before = len(_known)
    for _ in range(before + 2000):
        reads_of(compile("1", "gone.py", "exec"))
    assert len(_known) < before + 1000


def test_threads_share_one_trace():
    kernel = of(lambda scale: scale)
    found: list = []
    spec = nki.TensorSpec((1, 4), nl.float32)
    threads = [
        threading.Thread(target=lambda: found.append(kernel.trace(spec, 2.0))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1


# ------------------------------------------------------------------ parameters


def _calls_defaults():
    def kernel(x, n=1.0, *, m=1.0):
        return filled(n * m)

    return kernel


def _changed_defaults():
    function = _calls_defaults()
    return nki.jit(function), lambda: setattr(function, "__defaults__", (2.0,))


def _changed_named_defaults():
    function = _calls_defaults()
    return nki.jit(function), lambda: setattr(function, "__kwdefaults__", {"m": 2.0})


def _named_defaults_changed_in_place():
    function = _calls_defaults()
    return nki.jit(function), lambda: function.__kwdefaults__.update(m=2.0)


def _changed_code():
    def other(x, q=0.5, n=3.0, *, m=1.0):
        return filled(q)

    function = _calls_defaults()

    def change():
        function.__code__, function.__defaults__ = other.__code__, (2.0, 3.0)

    return nki.jit(function), change


def _changed_default_of_a_callable_object():
    class Filling:
        def __call__(self, x, n=1.0):
            return filled(n)

    return nki.jit(Filling()), lambda: setattr(Filling.__call__, "__defaults__", (2.0,))


def _another_call_of_an_object():
    class Filling:
        def __call__(self, x, n=1.0):
            return filled(n)

    def call(self, x, n=2.0):
        return filled(n)

    return nki.jit(Filling()), lambda: setattr(Filling, "__call__", call)


def _changed_keywords_of_a_partial_function():
    function = functools.partial(_calls_defaults(), n=1.0)
    return nki.jit(function), lambda: function.keywords.update(n=2.0)


def _changed_defaults_of_an_inner_kernel():
    function = _calls_defaults()
    inner = nki.jit(function)
    return nki.jit(lambda x: inner(x)), lambda: function.__kwdefaults__.update(m=2.0)


def _changed_keywords_of_an_inner_kernel():
    function = functools.partial(_calls_defaults(), n=1.0)
    inner = nki.jit(function)
    return nki.jit(lambda x: inner(x)), lambda: function.keywords.update(n=2.0)


def _changed_defaults_of_a_helper():
    def helper(n=1.0):
        return n

    return of(lambda: helper()), lambda: setattr(helper, "__defaults__", (2.0,))


def _changed_attribute_of_a_kernel():
    @nki.jit
    def kernel(x):
        return filled(kernel.scale)

    kernel.scale = 1.0
    return kernel, lambda: setattr(kernel, "scale", 2.0)


CHANGES = (
    _changed_defaults,
    _changed_named_defaults,
    _named_defaults_changed_in_place,
    _changed_code,
    _changed_default_of_a_callable_object,
    _another_call_of_an_object,
    _changed_keywords_of_a_partial_function,
    _changed_defaults_of_an_inner_kernel,
    _changed_keywords_of_an_inner_kernel,
    _changed_defaults_of_a_helper,
    _changed_attribute_of_a_kernel,
)


@pytest.mark.parametrize("made", CHANGES)
def test_a_call_has_the_defaults_that_there_are(made):
    kernel, change = made()
    assert value(kernel) == 1
    change()
    assert value(kernel) == 2
    assert float(kernel.record(X).results[0][0, 0]) == 2
    assert not is_traced_again(kernel)


def test_a_default_may_come_and_go():
    def function(x, n):
        return filled(n)

    kernel = nki.jit(function)
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        kernel(X)
    function.__defaults__ = (2.0,)
    assert value(kernel) == 2
    assert str(kernel.signature) == "(x, n=2.0)"
    function.__defaults__ = None
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        kernel(X)


# ------------------------------------------------------------------ random kernels


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that know nothing are forked")
@in_fresh_process
def test_random_kernels_are_never_stale():
    seed = time.time_ns() % 10**6
    hits = 0
    for number in range(20):
        found, live = stale_steps(program(random.Random(seed + number)))
        assert not found, (seed + number, found)
        hits += live.hits
    assert hits > 5, "traces are reused: 37 times on average, rarely below 16"
