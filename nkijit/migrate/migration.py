"""Migration of a module of the classic API: rewriting, export where needed, and comparison."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from nkijit import classic
from nkijit.classic.grids.grid import LaunchGrid
from nkijit.classic.launch.kernel import ClassicKernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.python_files import run_file
from nkijit.discovery.selection import Chosen, KernelRequest, checked, chosen_of
from nkijit.export.errors import ExportError
from nkijit.kernels.arguments import TensorSpec
from nkijit.kernels.kernel import Kernel
from nkijit.migrate import proving
from nkijit.migrate.api import api_name, dtype_text, value_of
from nkijit.migrate.between import ReleaseRewriter
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.exporting import exported
from nkijit.migrate.functions import FunctionRewriter
from nkijit.migrate.grids import PARAMETER
from nkijit.migrate.modules import ModuleRewriter, imported_names, is_classic, launch_of
from nkijit.migrate.observing import Observations, observing
from nkijit.migrate.report import KernelReport, Report
from nkijit.migrate.rewriting import Module, Rewrite
from nkijit.migrate.sources import Edit, Source
from nkijit.releases.table import release
from nkijit.traced.kernel import TracedKernel

_EDGES = 6
"""The maximum number of additional sets of sizes at which a rewritten kernel is compared."""
_LONG = 20_000
"""The maximum number of operations for which a kernel is compared at additional sizes."""


@dataclass
class _Variant:
    """A kernel of the module with its grid, target and arguments."""

    name: str
    kernel: ClassicKernel[...]
    sets: Sequence[Mapping[str, Any]]
    is_found: bool = False
    """Whether the grid comes from a launch in the source, which may pass arguments unlike `sets`.
    """
    traced: list[TracedKernel] = field(default_factory=list[TracedKernel])
    error: str = ""

    @property
    def grid(self) -> LaunchGrid | None:
        kernel: Any = self.kernel
        return kernel.launch_grid


@dataclass
class _Function:
    """A kernel function, with the kernels created from it."""

    name: str
    node: ast.FunctionDef
    variants: list[_Variant]
    ran: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    """(first line, name) of the functions that ran in traces of the kernel."""
    problem: NoRewriteError | None = None
    """The reason why the function cannot be rewritten in place; None if it can."""


@dataclass(frozen=True, repr=False)
class Migration:
    """The result of a migration."""

    source: Source
    text: str
    """The text of the migrated module; the old text if nothing was changed."""
    report: Report
    is_today: bool = False
    """Whether the module already used the current API."""

    def __repr__(self) -> str:
        return repr(self.report)

    @property
    def is_empty(self) -> bool:
        """Whether the module does not use NKI."""
        return not (self.is_today or self.report.kernels or self.report.rewrites)


def migrate_file(
    path: str | Path,
    arguments: Mapping[str, Any] | None = None,
    *,
    kernel: str | None = None,
    target: str | None = None,
    nki: str | None = None,
) -> Migration:
    """Migrate the kernels of a file from the classic to the current API.

    In a file of the current API, names and arguments are migrated to the release `nki`. No file is
    written.

    Args:
        path: the file.
        arguments: the arguments to trace kernels with, by name. Default: the arguments of
            `@nkijit.example` or `[tool.nkijit]`.
        kernel: the kernel that `arguments` are for; the others use their defaults.
        target: the hardware, as in the command line's `-t`.
        nki: the release that the result is checked for, e.g. `0.5`; the newest by default.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file is not Python.
        UsageError: the file has no kernel of that name.

    Example:

        migration = migrate_file("old.py", {"x": nkijit.TensorSpec((256, 512), "float32")})
        Path("new.py").write_text(migration.text)
        print(migration.report)
    """
    source = Source.of(Path(path))
    between = ReleaseRewriter(source, release(nki))
    if between.is_today and not is_classic(source.tree):
        between.rewrite()
        report = Report(source.path, [], between.rewrites, between.left)
        return Migration(source, source.changed(between.edits), report, is_today=True)
    module = run_file(Path(path))
    request = KernelRequest(dict(arguments or {}), target)
    found = [
        c
        for c in chosen_of(module, str(path), None, KernelRequest(target=target))
        if isinstance(c.kernel, ClassicKernel)
    ]
    names = {c.name for c in found}
    if kernel is not None:
        chosen = chosen_of(module, str(path), kernel, request)
    else:
        chosen = chosen_of(module, str(path), None, request) if request.arguments else found
    by_name = {c.name: c for c in chosen}
    found = [by_name.get(c.name, c) for c in found if c.name in names]
    return _Migrator(source, vars(module), found, nki).migrated()


class _Migrator:
    def __init__(
        self, source: Source, names: Mapping[str, Any], chosen: Sequence[Chosen], nki: str | None
    ):
        self._source = source
        self._names = names
        self._nki = nki
        self._observed = Observations()
        self._functions = self._found(chosen)
        self._report = Report(source.path)

    def _found(self, chosen: Sequence[Chosen]) -> list[_Function]:
        """Return the kernel functions in the order of the file."""
        nodes = {
            key_of(n): n for n in ast.walk(self._source.tree) if isinstance(n, ast.FunctionDef)
        }
        by_node: dict[ast.FunctionDef, _Function] = {}
        for each in chosen:
            code = each.kernel.func.__code__
            node = nodes.get((code.co_firstlineno, code.co_name))
            if node is None or not isinstance(each.kernel, ClassicKernel):
                continue
            function = by_node.setdefault(node, _Function(node.name, node, []))
            sets: Sequence[Mapping[str, Any]] = each.arguments or ([{}] if each.is_known else [])
            function.variants.append(_Variant(each.name, each.kernel, sets))
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Subscript):
                self._launched(node, by_node.values())
        return sorted(by_node.values(), key=lambda f: f.node.lineno)

    def _launched(self, node: ast.Subscript, functions: Iterable[_Function]) -> None:
        """If `node` launches a function with a new grid, e.g. `kernel[4, 2]`, add a variant."""
        kernel = value_of(node.value, self._names)
        launch = launch_of(node, self._names, self._source.path)
        if launch is None or not isinstance(kernel, ClassicKernel):
            return
        for function in functions:
            mine = [v for v in function.variants if v.kernel.func is kernel.func]
            known = {str(v.grid) for v in mine}
            if mine and str(launch.launch_grid) not in known:
                name = self._source.segment(node)
                function.variants.append(_Variant(name, launch, mine[0].sets, is_found=True))

    # ---------------------------------------------------------------- the steps

    def migrated(self) -> Migration:
        for function in self._functions:
            self._observe(function)
        self._decide()
        text = self._written()
        while self._disproved(text):
            text = self._written()
        self._look_around(text)
        return Migration(self._source, text, self._report)

    def _observe(self, function: _Function) -> None:
        """Trace a kernel with all sets of arguments, and observe its API calls."""
        for variant in function.variants:
            for values in variant.sets:
                try:
                    complete = checked(variant.kernel, dict(values))
                except UsageError as error:
                    variant.error = str(error)
                    continue
                with observing(self._source.path) as seen, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        variant.kernel.cache_clear()  # a cached trace would not run the kernel
                        variant.traced.append(variant.kernel.trace(**complete))
                    except Exception as error:
                        variant.error = f"it does not trace: {proving.first_line(error)}"
                        continue
                self._merge(seen)
                function.ran |= {(line, name) for _, line, name in seen.functions}
        # Functions that were recompiled, for `and` in masks, begin below their decorators.
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.FunctionDef) and (node.lineno, node.name) in function.ran:
                function.ran.discard((node.lineno, node.name))
                function.ran.add(key_of(node))
        if any(v.traced for v in function.variants):
            function.variants = [v for v in function.variants if v.traced or not v.is_found]
        if any(v.grid is not None and v.traced for v in function.variants):
            # The kernel may not trace without its grid.
            function.variants = [v for v in function.variants if v.traced or v.grid is not None]

    def _merge(self, seen: Observations) -> None:
        for place, events in seen.events.items():
            self._observed.events[place] += events
        self._observed.slices |= seen.slices
        for place, variables in seen.variables.items():
            self._observed.variables[place] |= variables

    def _decide(self) -> None:
        """Rewrite the functions that ran.

        A kernel that uses a function without a rewrite gets a `problem`, and is exported.
        """
        self._rewritten: dict[ast.FunctionDef, FunctionRewriter] = {}
        self._grids: dict[str, tuple[int, ...]] = {}
        self._module = Module(self._source, self._names, self._observed)
        self._module.nl = self._alias("language", "nl")
        self._module.nisa = self._alias("isa", "nisa")
        failed: dict[tuple[int, str], NoRewriteError] = {}
        wanted = {key for function in self._functions for key in function.ran}
        kernels = {function.node: function for function in self._functions}
        for node in self._outermost():
            key = key_of(node)
            if key not in wanted:
                continue
            grid = None
            try:
                if node in kernels:
                    grid = self._grid(kernels[node])
                rewriter = FunctionRewriter(self._module, node, grid=grid)
                if grid is not None:
                    rewriter.spread = self._spread(kernels[node])
                rewriter.is_kernel = node in kernels
                rewriter.rewrite()
            except NoRewriteError as error:
                failed[key] = error
                continue
            except Exception as error:  # an unforeseen construct: export the kernel and report it
                message = f"the rewrite itself failed: {proving.first_line(error)}"
                failed[key] = NoRewriteError(message, node)
                continue
            self._rewritten[node] = rewriter
            if grid is not None:
                self._grids[node.name] = grid
        for function in self._functions:
            function.problem = next((failed[k] for k in sorted(function.ran) if k in failed), None)

    def _outermost(self) -> Iterator[ast.FunctionDef]:
        """Yield functions of the module, methods of its classes, and kernels in other functions.

        Functions nested in a function that ran are rewritten together with the outer function.
        """
        wanted = {key for function in self._functions for key in function.ran}
        pending: list[ast.AST] = [self._source.tree]
        while pending:
            node = pending.pop(0)
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef):
                    yield child
                    if key_of(child) not in wanted:
                        pending.append(child)
                elif not isinstance(child, ast.expr):
                    pending.append(child)

    def _alias(self, module: str, otherwise: str) -> str:
        wanted = getattr(classic, module)
        bound = imported_names(self._source.tree)
        found = [n for n, value in self._names.items() if value is wanted and n in bound]
        return otherwise if otherwise in found or not found else found[0]

    def _grid(self, function: _Function) -> tuple[int, ...] | None:
        """Return the grid whose instances become iterations.

        Returns None without a grid, or if it only selects cores.
        """
        grids = [v.grid for v in function.variants if v.grid is not None and v.traced]
        if not grids:
            return self._grid_of_one(function)
        if all(g.sizes == (g.cores,) for g in grids):
            return None
        if len({len(g.sizes) for g in grids}) > 1:
            raise NoRewriteError("grids of several dimensions", function.node)
        return grids[0].sizes

    def _grid_of_one(self, function: _Function) -> tuple[int, ...] | None:
        """Return the grid of a kernel without known launches: by default, one instance.

        Returns None for a kernel that does not use a grid.
        """
        counts = [
            len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
            for node in ast.walk(self._source.tree)
            if isinstance(node, ast.Subscript)
            and getattr(value_of(node.value, self._names), "func", None)
            is function.variants[0].kernel.func
        ]
        axes = [
            axis.value + 1
            for node in ast.walk(function.node)
            if isinstance(node, ast.Call)
            and api_name(value_of(node.func, self._names))
            in (("nl", "program_id"), ("nl", "num_programs"))
            for axis in [*node.args, *(k.value for k in node.keywords)]
            if isinstance(axis, ast.Constant) and isinstance(axis.value, int)
        ]
        if not axes or (max(axes) == 1 and not counts):
            return None
        return (1,) * max(*axes, *counts, 1)

    def _spread(self, function: _Function) -> int | None:
        """Return the dimension of the grid that some launch distributes over cores."""
        found: set[int] = set()
        for variant in function.variants:
            grid = variant.grid
            if grid is not None and grid.cores > 1:
                found |= {axis for axis in range(len(grid.sizes)) if _is_spread(grid, axis)}
        if len(found) > 1:
            raise NoRewriteError(
                "grids that are spread over cores in other dimensions", function.node
            )
        return found.pop() if found else None

    # ---------------------------------------------------------------- writing

    def _written(self) -> str:
        """Return the new text for the current decisions."""
        edits: list[Edit] = []
        spans: list[tuple[int, int]] = []
        self._report = Report(self._source.path)
        alive = [f for f in self._functions if f.problem is None and self._traced(f)]
        needed = {key for f in alive for key in f.ran}
        for function in self._functions:
            self._kernel(function, edits, spans)
        gone = self._useless(needed)
        for node in self._outermost():
            key = key_of(node)
            rewriter = self._rewritten.get(node)
            if node in {f.node for f in self._functions}:
                continue
            if rewriter is not None and key in needed:
                edits += rewriter.edits
                spans.append(self._body(node))
                self._report.rewrites += rewriter.rewrites
                self._report.left += rewriter.left
            elif node in gone:
                first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
                start = self._source.offset(first, 0)
                edits.append(Edit(start, self._source.lines_of(node)[1], ""))
                spans.append((start, self._source.lines_of(node)[1]))
                line = f"{node.name} was used by exported kernels only, and is gone"
                self._report.notes.append((node.lineno, line))
        functions = [*spans, *(self._body(n) for n in self._outermost())]
        around = ModuleRewriter(self._module, spans, functions)
        grids = {n: g for n, g in self._grids.items() if n in {f.name for f in alive}}
        around.rewrite(grids)
        inside = [
            s
            for f in self._functions
            if not (f.problem is None and self._traced(f)) and self._exports.get(f.name)
            for s in [self._whole(f.node)]
        ]
        edits += [
            e
            for e in around.edits
            if not any(first <= e.start and e.end <= last for first, last in inside)
        ]
        self._report.rewrites += around.rewrites
        self._report.left += around.left
        self._report.rewrites.sort(key=lambda r: r.line)
        return self._source.changed(edits)

    def _traced(self, function: _Function) -> bool:
        return any(v.traced for v in function.variants)

    def _body(self, node: ast.FunctionDef) -> tuple[int, int]:
        return self._source.lines_of(node.body[0])[0], self._source.lines_of(node)[1]

    def _whole(self, node: ast.FunctionDef) -> tuple[int, int]:
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        return self._source.offset(first, 0), self._source.lines_of(node)[1]

    _exports: dict[str, bool]

    def _kernel(self, function: _Function, edits: list[Edit], spans: list[tuple[int, int]]) -> None:
        """Add the edits and the report of one kernel."""
        node = function.node
        exports: dict[str, bool] = getattr(self, "_exports", {})
        self._exports = exports
        exports[function.name] = False
        entry = KernelReport(function.name, node.lineno)
        self._report.kernels.append(entry)
        errors = [v.error for v in function.variants if v.error]
        used = [f for f in self._functions if f is not function and key_of(node) in f.ran]
        if not self._traced(function) and used and not function.variants[0].sets:
            self._part(function, used, entry, edits, spans)
            return
        if not self._traced(function):
            entry.how = "left"
            entry.why = (
                errors[0]
                if errors
                else (
                    "nobody says what its arguments are: give them with -a, or with @nkijit.example"
                )
            )
            return
        if function.problem is None:
            rewriter = self._rewritten[node]
            edits += rewriter.edits
            spans.append(self._body(node))
            self._report.rewrites += rewriter.rewrites
            self._report.left += rewriter.left
            entry.how = "rewritten"
            return
        entry.why = function.problem.message
        entry.why_line = function.problem.line
        traced = [t for v in function.variants for t in v.traced]
        variant = next(v for v in function.variants if v.traced)
        try:
            text, names = exported(
                traced[0],
                function.name,
                self._source,
                node,
                function.problem,
                proving.arguments_text(variant.sets[0]),
                self._module,
            )
        except ExportError as error:
            entry.how = "left"
            entry.why = f"{entry.why}; and {error}"
            return
        self._module.needed |= names
        entry.how = "exported"
        exports[function.name] = True
        start, end = self._whole(node)
        edits.append(Edit(start, end, text))
        spans.append((start, end))

    def _part(
        self,
        function: _Function,
        used: Sequence[_Function],
        entry: KernelReport,
        edits: list[Edit],
        spans: list[tuple[int, int]],
    ) -> None:
        """Turn a kernel that other kernels (`used`) call into an undecorated function."""
        node = function.node
        names = ", ".join(f.name for f in used)
        alive = [f for f in used if f.problem is None]
        rewriter = self._rewritten.get(node)
        if rewriter is None or not alive:
            entry.how, entry.why = "left", f"it is part of {names}, and has no arguments of its own"
            return
        entry.how, entry.why = "rewritten", f"as a function of {names}"
        entry.is_part = True
        edits += rewriter.edits
        spans.append(self._body(node))
        self._report.rewrites += rewriter.rewrites
        self._report.left += rewriter.left
        for decorator in node.decorator_list:
            start = self._source.offset(decorator.lineno, 0)
            end = self._source.offset((decorator.end_lineno or decorator.lineno) + 1, 0)
            edits.append(Edit(start, end, ""))
            spans.append((start, end))

    def _useless(self, needed: set[tuple[int, str]]) -> set[ast.FunctionDef]:
        """Return the functions that are called only by kernels that were exported."""
        gone: set[ast.FunctionDef] = set()
        exported_nodes = {f.node for f in self._functions if self._exports.get(f.name)}
        ran = {key for f in self._functions if f.node in exported_nodes for key in f.ran}
        remaining = {key for f in self._functions if f.node not in exported_nodes for key in f.ran}
        kernels = {f.node for f in self._functions}
        for node in self._source.tree.body:
            if not isinstance(node, ast.FunctionDef) or node in kernels:
                continue
            key = key_of(node)
            if key in ran and key not in remaining and key not in needed:
                gone.add(node)
        # Functions that other code names remain.
        changed = True
        while changed:
            changed = False
            for node in list(gone):
                skipped = gone | exported_nodes
                if any(
                    isinstance(n, ast.Name) and n.id == node.name
                    for top in self._source.tree.body
                    if top not in skipped
                    for n in ast.walk(top)
                ):
                    gone.discard(node)
                    changed = True
        return gone

    # ---------------------------------------------------------------- the proof

    def _disproved(self, text: str) -> bool:
        """Compare all kernels. Returns whether a rewritten kernel must be exported instead."""
        path = Path(self._source.path)
        place = path.with_name(f"{path.stem}_migrated.py")
        entries = {k.name: k for k in self._report.kernels}
        try:
            names, failed = proving.run_migrated(place, text)
        except SyntaxError as error:
            return self._give_up(f"what was written does not parse: {error.msg}")
        self._report.left += [
            (self._line_of(line), f"`{line}` ends with {reason}") for line, reason in failed
        ]
        again = False
        for function in self._functions:
            entry = entries[function.name]
            if entry.how == "left" or entry.is_part:
                continue
            new = names.get(function.name)
            if not isinstance(new, Kernel):
                new = _inside(names, function)
            for variant in function.variants:
                for values, old in zip(variant.sets, variant.traced, strict=False):
                    try:
                        if not isinstance(new, Kernel):
                            raise proving.DifferenceError("the new module has no such kernel")
                        kernel, arguments = self._new(entry, new, variant, values)
                        for_all = proving.prove(old, kernel, arguments)
                    except proving.DifferenceError as error:
                        if entry.how == "rewritten":
                            function.problem = NoRewriteError(
                                f"rewritten, it did not agree: {error.reason}", function.node
                            )
                            again = True
                        else:
                            entry.unproven.append((proving.arguments_text(values), error.reason))
                        continue
                    entry.agreements.append((proving.arguments_text(values), for_all))
                if variant.error:
                    entry.unproven.append((variant.name, variant.error))
            if entry.how == "rewritten" and not again:
                self._edges(entry, function, new)
                self._portable(entry, function, new)
        return again

    def _give_up(self, message: str) -> bool:
        """Export all rewritten kernels, because the new module does not work."""
        changed = False
        for function in self._functions:
            if self._traced(function) and function.problem is None:
                function.problem = NoRewriteError(message, function.node)
                changed = True
        if not changed:
            self._report.left.append((1, message))
        return changed

    def _line_of(self, text: str) -> int:
        """Return the line number of a text in the old module; 1 for a text that is not in it."""
        lines = self._source.text.split("\n")
        return lines.index(text) + 1 if text in lines else 1

    def _new(
        self, entry: KernelReport, new: Kernel[Any], variant: _Variant, values: Mapping[str, Any]
    ) -> tuple[Kernel[Any], dict[str, Any]]:
        """Return the new kernel with its launch grid, and its arguments."""
        arguments = checked(variant.kernel, dict(values))
        if entry.how == "exported":
            traced = variant.traced[0]
            types = [(name, (shape, dtype)) for name, shape, dtype in traced.argument_types]
            parameters = list(new.signature.parameters)
            arguments = {
                p: TensorSpec(shape, dtype)
                for p, (_, (shape, dtype)) in zip(parameters, types, strict=True)
            }
        elif (grid := self._grids.get(entry.name)) is not None:
            arguments[PARAMETER] = (1,) * len(grid) if variant.grid is None else variant.grid.sizes
        cores = 1 if variant.grid is None else variant.grid.cores
        return (new.on_cores(cores) if cores > 1 else new), arguments

    def _edges(self, entry: KernelReport, function: _Function, new: Any) -> None:
        """Compare old and new kernel at additional sizes that the classic kernel accepts."""
        variant = function.variants[0]
        if not variant.traced or len(list(variant.traced[0].module.walk())) > _LONG:
            return
        tried = 0
        for values in proving.edges(checked(variant.kernel, dict(variant.sets[0]))):
            if tried >= _EDGES:
                break
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    old = variant.kernel.trace(**values)
                    if proving.errors_of(old):
                        continue
                except Exception:
                    continue
            tried += 1
            try:
                kernel, arguments = self._new(entry, new, variant, values)
                for_all = proving.prove(old, kernel, arguments)
            except proving.DifferenceError as error:
                entry.unproven.append((proving.arguments_text(values), error.reason))
                continue
            entry.agreements.append((proving.arguments_text(values), for_all))

    def _portable(self, entry: KernelReport, function: _Function, new: Any) -> None:
        """Report findings of the portability check for the vendor's compiler."""
        variant = function.variants[0]
        _, arguments = self._new(entry, new, variant, variant.sets[0])
        for finding in new.portability(nki=self._nki, **arguments):
            line = finding.where[0].line if finding.where else 0
            entry.findings.append(
                f"{finding.rule.id}: {finding.message} (line {line} of the result)"
            )

    # ---------------------------------------------------------------- remaining work

    def _look_around(self, text: str) -> None:
        """Report functions that still use the classic API."""
        gone = {name for _, name in self._report.notes}
        done = set(self._rewritten) | {f.node for f in self._functions}
        for node in self._outermost():
            if node in done or any(note.startswith(f"{node.name} ") for note in gone):
                continue
            uses = self._uses(node)
            if uses:
                self._report.left.append(
                    (
                        node.lineno,
                        f"{node.name} has not run, and uses {', '.join(sorted(uses)[:3])}",
                    )
                )

    def _uses(self, node: ast.FunctionDef) -> set[str]:
        found: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                value = value_of(part.func, self._names)
                name = api_name(value)
                is_type = name is not None and dtype_text(value, "nl") is not None
                if name is not None and name[0] in ("nl", "nisa") and not is_type:
                    found.add(".".join(name))
        return found


def key_of(node: ast.FunctionDef) -> tuple[int, str]:
    """Return a function's first line (including decorators) and name, as in code objects."""
    return (node.decorator_list[0].lineno if node.decorator_list else node.lineno, node.name)


def _is_spread(grid: LaunchGrid, axis: int) -> bool:
    """Whether the instances along a dimension of a grid are on several cores."""
    places = dict(zip(product(*map(range, grid.sizes)), grid.placed, strict=True))
    return any(core != places[(*at[:axis], 0, *at[axis + 1 :])] for at, core in places.items())


def _inside(names: Mapping[str, Any], function: _Function) -> Any:
    """If a function is a method of a class in `names`, return its kernel; otherwise None."""
    for value in names.values():
        if isinstance(value, type) and isinstance(vars(value).get(function.name), Kernel):
            return vars(value)[function.name]
    return None


__all__ = ["Migration", "Rewrite", "migrate_file"]
