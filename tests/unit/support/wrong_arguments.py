"""Calls of public functions with one wrong argument, subscript or operand, and their outcome.

A wrong call ends in a finding at the user's line, or in an error that Python raises there. A
`Mutation` replaces one expression of a valid call, adds a parameter that the call leaves out, or
removes or adds an argument.
"""

from __future__ import annotations

import ast
import copy
import dis
import inspect
import itertools
import linecache
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

from support.valid_calls import Setting, ValidCall, classic_calls, current_calls

from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.tracing.locations import is_internal

NUMBERS = """
True 0 -1 1 3 128 2**31 2**70 -2**70 10**5000 0.5 -0.0 1e300 float('nan') -float('inf') 1j
np.array(2) np.array([1,2]) np.zeros((0,)) np.ones((128,512),np.float32) np.float32(2.5)
np.int64(3) np.bool_(True) np.float64('nan') np.array(None)
"""
WORDS = """
None ... '' 'float32' 'add' 'sbuf' b'x' () [] {} set() (0,) (2**70,) (2**40,2**40) (0,1,2,3) [None]
[[1,1]] [[512,128],[1,2**70]] [[[1,1]]] (1,)*70 {'a':1} object() int np nl
slice(None) slice(0,4,0) slice(None,None,2**70) slice('a') slice(1,2.5) range(4) range(0)
range(2**70) iter([1]) print (lambda:0) (lambda*a,**k:None) (lambda*a:1/0) float('1e5') (True,False)
(None,None) ('a','b') (x,) [x,x] (x,y) Exception ([],[]) list(range(32)) '\\ud800' '\\x00' 'x'*500
"""
LIBRARY_VALUES = """
np.float32 np.dtype('float32') np.dtype('O') np.dtype([('a',int)]) np.add np.exp np.random
nl.float32 nl.bfloat16 nl.add nl.exp nl.sbuf nl.psum nl.hbm nl.shared_hbm nl.par_dim(128)
nl.ds(0,4) nl.ds(-1,2**70) nl.ds(None,None) nisa.engine.vector nisa.reduce_cmd.reset
nisa.dge_mode.none nisa.oob_mode.skip nisa.engine nl.tile_size nl.program_id
x x[0:1] x[:,0:1] x[1:3,0:8] psum hbm shared column positions positions[:,0:1] position seed
x.reshape((128,2,256)) hbm[0:128] hbm[0] bf16 x.shape x.dtype
"""
CURRENT_VALUES = """
register scalar nisa.memset(x,0.0) x.ap([[512,128],[1,8]]) hbm[register] hbm[position,0:8] mask
nl.tiles(hbm,tile_shape=(128,512)) nl.ds(register,4) quantized x.view(nl.bfloat16)
hbm.vector_select(0,positions[:,0:1])
"""
CLASSIC_VALUES = """
p f p+f p<64 (p<64)&(f<4) (p+f)%2 x+y x<y nl.mgrid[0:4,0:4] nl.mgrid[0:4,0:4].p p*2**70
nl.arange(4) x[p,f] hbm[p,f] hbm[positions[:,0:1],f] core sbuf.alloc(lambda*a:(0,0)) nl.nc(2)
nl.arange(128)[:,None]+2**70 sbuf.mod_alloc(base_addr=0) sbuf.mod_alloc(base_addr=2**70)
nl.load(hbm[0:128],mask=p<0)
"""

_SECONDS = 10.0
"""The maximum CPU time of a case."""


def values_of(setting: Setting) -> list[str]:
    """Return the source texts of the values that are tried in a setting."""
    known = NUMBERS + WORDS + LIBRARY_VALUES * setting.in_kernel
    if setting.in_kernel:
        known += CLASSIC_VALUES if setting.is_classic else CURRENT_VALUES
    return known.split()


# ------------------------------------------------------------------ mutations


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield the expressions that can be replaced: owner, field, index in a list field."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Call, ast.Tuple, ast.List)):
            field = "args" if isinstance(node, ast.Call) else "elts"
            if isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            yield from ((node, field, i) for i in range(len(getattr(node, field))))
        if isinstance(node, ast.keyword):
            yield node, "value", None
        if isinstance(node, ast.Subscript):
            yield node, "slice", None
        if isinstance(node, ast.Slice):
            yield from ((node, part, None) for part in ("lower", "upper", "step"))
        if isinstance(node, ast.BinOp):
            yield from ((node, part, None) for part in ("left", "right"))
        if isinstance(node, (ast.Assign, ast.AugAssign)) and not isinstance(node.value, ast.Call):
            yield node, "value", None


def _replaced(tree: ast.Module, place: int, value: str) -> str:
    tree = copy.deepcopy(tree)
    owner, field, index = next(itertools.islice(_places(tree), place, None))
    node = ast.parse(value, mode="eval").body
    if index is None:
        setattr(owner, field, node)
    else:
        getattr(owner, field)[index] = node
    return ast.unparse(tree)


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _left_out(call: ast.Call, names: dict[str, Any]) -> list[str]:
    """Return the names of parameters that a call leaves out."""
    try:
        function = eval(ast.unparse(call.func), names)
        parameters = list(inspect.signature(function).parameters.values())
    except Exception:
        return []
    given = {keyword.arg for keyword in call.keywords}
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    positional = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    given |= set(positional[: len(call.args)])
    return [p.name for p in parameters if p.name not in given and p.kind not in variable]


def mutants(valid: ValidCall, names: dict[str, Any], values: Sequence[str]) -> Iterator[str]:
    """Yield the source of a call with each value in the place of each argument, and others.

    Args:
        valid: the call.
        names: the names that it uses, to look up signatures.
        values: the source texts of the values.
    """
    tree = ast.parse(valid.source)
    for place in range(len(list(_places(tree)))):
        for value in values:
            yield _replaced(tree, place, value)
    for number, call in enumerate(_calls(tree)):
        for name in _left_out(call, names):
            for value in values:
                mutant = copy.deepcopy(tree)
                given = ast.keyword(name, ast.parse(value, mode="eval").body)
                _calls(mutant)[number].keywords.append(given)
                yield ast.unparse(mutant)
        for change in (_without_first, _without_last, _with_another, _with_unknown):
            mutant = copy.deepcopy(tree)
            change(_calls(mutant)[number])
            yield ast.unparse(mutant)


def _without_first(call: ast.Call) -> None:
    del call.args[:1]


def _without_last(call: ast.Call) -> None:
    del (call.keywords or call.args)[-1:]


def _with_another(call: ast.Call) -> None:
    call.args.append(ast.Constant(1))


def _with_unknown(call: ast.Call) -> None:
    call.keywords.append(ast.keyword("no_such_argument", ast.Constant(1)))


# ------------------------------------------------------------------ the outcome of a call


class TooSlowError(BaseException):
    """A case has used more than its CPU time."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def over(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def problem_of(source: str, setting: Setting, seconds: float = _SECONDS) -> str | None:
    """Evaluate a call. Returns the problem with its outcome, None if there is none."""
    name = f"<call {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        code = compile(source, name, "exec")
    except SyntaxError:
        return None
    names: dict[str, Any] = {}

    def function() -> None:
        names.update(setting.names())
        exec(code, names)

    try:
        with _limited(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traced = setting.trace(function)
            if traced is not None:
                _read(traced)
    except TooSlowError as error:
        return f"more than {seconds:g} s\n\n{_last_calls(error)}"
    except NkiValidationError as error:
        if all(found.where for found in error.diagnostics):
            return None
        return f"a finding without a line\n\n{error}"
    except BaseException as error:
        return _problem_of_error(error, setting)
    finally:
        del linecache.cache[name]
    return None


_numbers = itertools.count()


def _read(traced: Any) -> None:
    """Verify and print a kernel, as commands do."""
    if all(found.severity != "error" for found in traced.diagnostics):
        traced.listing()
    str(traced)


def _problem_of_error(error: BaseException, setting: Setting) -> str | None:
    entry = error.__traceback__
    entries: list[Any] = []
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    files = [each.tb_frame.f_code.co_filename for each in entries]
    users = max((i for i, file in enumerate(files) if not is_library_file(file)), default=-1)
    later = entries[users + 1 :]
    text = f"{type(error).__name__}{_place(later)}: {str(error).partition(chr(10))[0][:200]}"
    if not any(is_internal(each.tb_frame.f_code) for each in later):
        return None if isinstance(error, Exception) else f"{text}\n\n{_last_calls(error)}"
    if _is_intended(error, later[-1], setting):
        return None
    return f"{text}\n\n{_last_calls(error)}"


def _is_intended(error: BaseException, entry: Any, setting: Setting) -> bool:
    """Whether nkijit itself raises an exception, of a class that its documentation names."""
    code = entry.tb_frame.f_code
    if not is_internal(code) or dis.opname[code.co_code[entry.tb_lasti]] != "RAISE_VARARGS":
        return False
    if not setting.in_kernel:
        return isinstance(error, (TypeError, ValueError, NotImplementedError, AttributeError))
    return isinstance(error, (TypeError, NotImplementedError))


def _place(entries: Sequence[Any]) -> str:
    """Return the innermost function of nkijit in a traceback, as a part of a title."""
    own = [each.tb_frame for each in entries if is_internal(each.tb_frame.f_code)]
    if not own:
        return ""
    return f" in {own[-1].f_globals.get('__name__')}.{own[-1].f_code.co_qualname}"


def _last_calls(error: BaseException) -> str:
    return "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)[-6:]))


# ------------------------------------------------------------------ many calls


def all_calls() -> list[ValidCall]:
    """Return a valid call of each public function."""
    return [*current_calls(), *classic_calls()]


def names_of(setting: Setting) -> dict[str, Any]:
    """Return the names of a setting, for looking up signatures."""
    found: list[dict[str, Any]] = []
    setting.trace(lambda: found.append(setting.names()))
    return found[0]


def outcomes(
    seed: str, count: int, chosen: Callable[[ValidCall], bool] = lambda call: True
) -> Iterator[tuple[str, str, str | None]]:
    """Try random wrong calls.

    Yields title, source and None before a call, and title, source and problem after one with a
    problem, so that the reader knows the call that ends the process.
    """
    random = Random(seed)
    calls = [call for call in all_calls() if chosen(call)]
    names: dict[int, dict[str, Any]] = {}
    for _ in range(count):
        valid = random.choice(calls)
        setting = valid.setting
        known = names.get(id(setting)) or names.setdefault(id(setting), names_of(setting))
        wrong = list(mutants(valid, known, [random.choice(values_of(setting))]))
        if not wrong:  # nothing of the call can be replaced
            continue
        source = random.choice(wrong)
        yield valid.title, source, None
        problem = problem_of(source, setting)
        if problem is not None:
            yield valid.title, source, problem


def _main(arguments: Sequence[str]) -> None:
    """Try mutants, and print the problems by their place: `SHARE [WORD IN TITLES …]`."""
    share, words = float(arguments[0]), arguments[1:]
    random = Random(1)
    seen: dict[str, list[str]] = {}
    total = 0
    for valid in all_calls():
        if words and not any(word in valid.title for word in words):
            continue
        known = names_of(valid.setting)
        for source in dict.fromkeys(mutants(valid, known, values_of(valid.setting))):
            if random.random() > share:
                continue
            total += 1
            problem = problem_of(source, valid.setting)
            if problem is not None:
                kind = problem.partition("\n")[0].partition(": ")[0]
                cases = seen.setdefault(kind, [])
                cases.append(source)
                if len(cases) < 4:
                    print(f"### {source!r}\n{problem}", flush=True)
    for kind, cases in sorted(seen.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases):6} {kind}")
    print(total, "calls")


if __name__ == "__main__":
    _main(sys.argv[1:])
