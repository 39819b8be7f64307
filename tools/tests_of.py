"""The tests of a file, nearest first, and the run of `make test-fast`.

    python -m tools.tests_of passes/lower/order.py  # lists its tests
    python -m tools.tests_of                        # lists those of the files that git has changed
    python -m tools.tests_of --run                  # runs them, in less than a minute

The tests of a module are the lit and pytest files that have its name, and the pytest files that
import it. If there are none, they are the tests of the modules that import it; if there are none
either, the folder of tests that has the name of its package. The tests of any other file are the
pytest files that mention its name.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

from tools.checkout import ROOT, git
from tools.imports import imports_in, imports_of, modules_of_sources

CORE = (
    "tests/lit/compile",
    "tests/unit/frontend/test_jit.py",
    "tests/unit/frontend/test_loops.py",
    "tests/unit/kernels/test_cache.py",
    "tests/unit/passes/verify/test_passes.py",
    "tests/unit/passes/interpret/semantics/nisa/test_programs.py",
    "tests/unit/passes/lower/test_lowering.py",
    "tests/unit/passes/profile/test_profile.py",
    "tests/unit/classic/test_jit.py",
    "tests/unit/project/test_imports.py",
)
"""The tests that `--run` runs after those of the changed files, as far as the time allows."""

LIT_SECONDS = 10
PYTEST_SECONDS = 34


class Tests:
    """The tests of a checkout."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        folder = root / "tests" / "unit"
        self._modules = modules_of_sources(root) | {
            ".".join(path.relative_to(folder).with_suffix("").parts): path
            for path in (folder / "support").rglob("*.py")
        }
        self._files = sorted(folder.rglob("test_*.py"))
        self._lit = [
            path
            for path in sorted((root / "tests" / "lit").rglob("*"))
            if "Inputs" not in path.parts
            and "preloaded" not in path.parts
            and (path.is_dir() or path.suffix in (".mlir", ".py", ".test"))
            and path.name != "lit.cfg.py"
        ]

    @cached_property
    def _texts(self) -> dict[Path, str]:
        return {path: path.read_text(encoding="utf-8") for path in self._files}

    @cached_property
    def _imports(self) -> dict[Path, set[str]]:
        return {path: imports_in(path, self._modules) for path in self._files}

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        """The modules that import a module."""
        found: dict[str, list[str]] = {}
        for name, imported in imports_of(self._modules).items():
            for module in imported:
                found.setdefault(module, []).append(name)
        return found

    def of(self, file: str) -> list[str]:
        """The tests of one file of the checkout, given relative to it."""
        path = self._root / file
        if path in self._files or path in self._lit:
            found = [path] if path.exists() else []
        elif (module := self._module(path)) is None:
            found = [test for test, text in self._texts.items() if path.name in text]
        else:
            found = self._of_module(module)
        return [test.relative_to(self._root).as_posix() for test in found]

    def _module(self, path: Path) -> str | None:
        return next((name for name, known in self._modules.items() if known == path), None)

    def _of_module(self, module: str) -> list[Path]:
        """The tests of a module, of the nearest modules that import it, or of its package."""
        level, seen = [module], {module}
        while level:
            found = {test: None for name in level for test in self._direct(name)}
            if found:
                return list(found)
            following = {name for above in level for name in self._importers.get(above, ())}
            level = sorted(following - seen)
            seen |= following
        for package in self._modules[module].relative_to(self._root).parents:
            if found := self._of_package(package):
                return found
        return []

    def _of_package(self, package: Path) -> list[Path]:
        """The folders of tests that have the place or the name of a package."""
        mirrored = self._root / "tests" / "unit" / package.as_posix().removeprefix("nkijit/")
        lit = [path for path in self._lit if path.is_dir() and path.name == package.name]
        return [mirrored, *lit] if package.name and mirrored.is_dir() else lit

    def _direct(self, module: str) -> Iterator[Path]:
        """The tests that have the name of a module, then those that import it."""
        path = self._modules[module]
        # A package is tested under the name of its folder.
        path = path.parent if path.name == "__init__.py" else path
        stem = path.stem.strip("_")
        named = [test for test in self._files if test.stem == f"test_{stem}"]
        # search.py is in several folders: the tests of the same folder are nearest.
        beside = [test for test in named if test.parent.name == path.parent.name]
        yield from beside or named
        yield from (
            test for test in self._lit if test.name.partition(".")[0] == stem.replace("_", "-")
        )
        importing = [test for test in self._files if module in self._imports[test]]
        yield from sorted(importing, key=lambda test: len(self._imports[test]))


def changed_files() -> list[str]:
    """The files that differ from the branch's beginning on main, and those git does not know."""
    base = "HEAD"
    for main in ("main", "origin/main"):
        try:
            base = git("merge-base", "HEAD", main)
        except subprocess.CalledProcessError:
            continue
        break
    changed = git("diff", "--name-only", "--no-renames", base).splitlines()
    return changed + git("ls-files", "--others", "--exclude-standard").splitlines()


def tests_of(files: Iterable[str]) -> list[str]:
    """The tests of several files, nearest first: each file's first, then each file's second."""
    tests = Tests()
    columns = [tests.of(PurePosixPath(file).as_posix()) for file in files]
    longest = max(map(len, columns), default=0)
    ordered = [column[i] for i in range(longest) for column in columns if i < len(column)]
    return list(dict.fromkeys(ordered))


def run(tests: list[str]) -> int:
    """Run tests, then `CORE`, in less than a minute; the exit status."""
    tests = list(dict.fromkeys([*tests, *CORE]))
    lit = [test for test in tests if test.startswith("tests/lit/")]
    unit = [test for test in tests if not test.startswith("tests/lit/")]
    scripts = Path(sys.executable).parent
    commands = (
        [str(scripts / "lit"), "-j2", f"--max-time={LIT_SECONDS}", *lit],
        [
            *(str(scripts / "pytest"), "-q", "-n2", "-m", "not slow"),
            *(f"--seconds={PYTEST_SECONDS}", *unit),
        ],
    )
    return max([subprocess.run(command, cwd=ROOT).returncode for command in commands])


def main() -> int:
    """List or run the tests of files."""
    parser = argparse.ArgumentParser(prog="python -m tools.tests_of", description=__doc__)
    parser.add_argument("files", nargs="*", help="files of the checkout; default: those changed")
    parser.add_argument("--run", action="store_true", help="run the tests, in less than a minute")
    arguments = parser.parse_args()
    tests = tests_of(arguments.files or changed_files())
    if arguments.run:
        return run(tests)
    print("\n".join(tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
