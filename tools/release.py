"""Check the requirements of a release.

    python -m tools.release                     # check all requirements
    python -m tools.release --draft             # only those that hold at any time, as CI does
    python -m tools.release --draft --dist dist # also keep the distributions that were built
    python -m tools.release --set 0.2.0         # set the version in all files
    python -m tools.release --notes             # print the newest section of the changelog

It prints a line for each requirement and exits with 1 if one is not met. CONTRIBUTING.md describes
the steps of a release.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

from tools.checkout import ROOT, git, toml_of

VERSION = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
HEADING = re.compile(rf"^## \[({VERSION})\] - (\S+)$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LINK = re.compile(r"\]\(([^)\s]+)\)")

PLACES = {
    "nkijit/version.py": rf'^__version__ = "({VERSION})"$',
    "aliases/pyproject.toml": rf'^version = "({VERSION})"$',
    "CITATION.cff": rf"^version: ({VERSION})$",
}
"""The files with the version, and its pattern in each. pyproject.toml reads the first one."""
PIN = rf'^dependencies = \["nkijit==({VERSION})"\]$'
"""The dependency of the alias distribution, in its pyproject.toml."""


# ---------------------------------------------------------------- versions


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version in each place, "" where it is missing."""
    places = {**PLACES, "aliases/pyproject.toml (nkijit)": PIN}
    found = {
        place: re.search(pattern, _text(root / place.partition(" ")[0]), re.MULTILINE)
        for place, pattern in places.items()
    }
    newest = HEADING.search(_text(root / "CHANGELOG.md"))
    return {
        **{place: "" if match is None else match[1] for place, match in found.items()},
        "CHANGELOG.md": "" if newest is None else newest[1],
    }


def set_version(version: str, root: Path = ROOT) -> None:
    """Set the version in all files except the changelog, whose new section is written by hand.

    Raises ValueError for an invalid version, before any file is changed.
    """
    if re.fullmatch(VERSION, version) is None:
        raise ValueError(f"{version!r} is not of the form 1.2.3, 1.2.3a1, 1.2.3b1 or 1.2.3rc1")
    for place, pattern in PLACES.items():
        path = root / place
        text = _text(path)
        for each in (pattern, *([PIN] if place.startswith("aliases") else [])):
            text, count = re.subn(
                each, lambda m: m[0].replace(m[1], version), text, flags=re.MULTILINE
            )
            assert count == 1, f"{place} says its version once"
        path.write_text(text, encoding="utf-8", newline="\n")


def notes(root: Path = ROOT) -> str:
    """Return the newest section of the changelog, without its heading."""
    text = _text(root / "CHANGELOG.md")
    first, *following = HEADING.finditer(text)
    return text[first.end() : following[0].start() if following else len(text)].strip()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# ---------------------------------------------------------------- distributions


@dataclass(frozen=True)
class Built:
    """A folder with the source archive and the wheel of each distribution."""

    folder: Path

    def metadata(self) -> dict[str, Message]:
        """Return the metadata of each wheel."""
        found: dict[str, Message] = {}
        for wheel in sorted(self.folder.glob("*.whl")):
            with ZipFile(wheel) as archive:
                (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
                found[wheel.name] = Parser().parsestr(archive.read(name).decode("utf-8"))
        return found

    def files(self) -> dict[str, list[str]]:
        """Return the names of the files in each wheel."""
        found: dict[str, list[str]] = {}
        for wheel in sorted(self.folder.glob("*.whl")):
            with ZipFile(wheel) as archive:
                found[wheel.name] = archive.namelist()
        return found

    def links(self) -> list[str]:
        """Return the links in source archives; there must be none."""
        found: list[str] = []
        for sdist in sorted(self.folder.glob("*.tar.gz")):
            with tarfile.open(sdist) as archive:
                found += [m.name for m in archive.getmembers() if m.issym() or m.islnk()]
        return found


def build(into: Path, root: Path = ROOT) -> Built:
    """Build both distributions from a clone of the last commit, wheels from source archives.

    Raises CalledProcessError.
    """
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        # A checkout as on systems without links.
        git("-c", "core.symlinks=false", "clone", "--quiet", str(root), str(clone), root=root)
        for project in (clone, clone / "aliases"):
            command = [sys.executable, "-m", "build", "--outdir", str(into), str(project)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return Built(into)


def shipped(root: Path = ROOT) -> set[str]:
    """Return the files that nkijit's wheel must have, by git and the table of packages."""
    tables = toml_of(root / "pyproject.toml")["tool"]["setuptools"]
    found = {f"{module}.py" for module in tables["py-modules"]}
    for package, folder in tables["package-dir"].items():
        for name in git("ls-files", "-z", "--", folder, root=root).rstrip("\0").split("\0"):
            if Path(name).suffix:  # links to folders have none
                found.add(f"{package.replace('.', '/')}/{name.removeprefix(f'{folder}/')}")
    return found


def shipped_aliases(root: Path = ROOT) -> set[str]:
    """Return the files that the wheel of the import names must have, by git."""
    names = git("ls-files", "-z", "--", "aliases/nki", "aliases/neuronxcc", root=root)
    return {name.removeprefix("aliases/") for name in names.rstrip("\0").split("\0")}


# ---------------------------------------------------------------- the list


Problems = Iterator[str]


def _versions_agree(_: Built) -> Problems:
    found = versions()
    if len(set(found.values())) != 1 or not all(found.values()):
        yield ", ".join(f"{place}: {version or 'none'}" for place, version in found.items())


def _changelog_is_dated(_: Built) -> Problems:
    newest = HEADING.search(_text(ROOT / "CHANGELOG.md"))
    if newest is None or _DATE.fullmatch(newest[2]) is None:
        yield "the newest section of CHANGELOG.md has no date: ## [0.1.0] - 2026-01-31"


def _citation_is_dated(_: Built) -> Problems:
    newest = HEADING.search(_text(ROOT / "CHANGELOG.md"))
    if newest is not None and f"date-released: {newest[2]}" not in _text(ROOT / "CITATION.cff"):
        yield f"CITATION.cff does not say date-released: {newest[2]}"


def _home_is_decided(_: Built) -> Problems:
    for path in (ROOT / "pyproject.toml", ROOT / "aliases" / "pyproject.toml"):
        for name, url in toml_of(path)["project"]["urls"].items():
            if "OWNER" in url:
                yield f"{name} = {url} has a placeholder"

    if "OWNER" in _text(ROOT / "README.md"):
        yield "README.md has a placeholder, and installs from a clone"


def _tree_is_clean(_: Built) -> Problems:
    if changed := git("status", "--porcelain"):
        yield f"not committed: {' '.join(changed.split())}"


def _tag_is_free_or_here(_: Built) -> Problems:
    tag = f"v{versions()['nkijit/version.py']}"
    if git("tag", "--list", tag) and git("rev-list", "-n1", tag) != git("rev-parse", "HEAD"):
        yield f"{tag} is another commit"


def _four_files(built: Built) -> Problems:
    version = versions()["nkijit/version.py"]
    names = {
        f"{name}-{version}{end}"
        for name in ("nkijit", "nkijit_nki")
        for end in (".tar.gz", "-py3-none-any.whl")
    }
    if {path.name for path in built.folder.iterdir()} != names:
        yield f"got {sorted(path.name for path in built.folder.iterdir())}"
    yield from (f"a link in a source archive: {name}" for name in built.links())


def _twine(built: Built) -> Problems:
    files = sorted(map(str, built.folder.iterdir()))
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode:
        yield done.stdout.strip() or done.stderr.strip()


def _contents(built: Built) -> Problems:
    for wheel, names in built.files().items():
        inside = {name for name in names if ".dist-info/" not in name}
        expected = shipped() if wheel.startswith("nkijit-") else shipped_aliases()
        if inside != expected:
            yield f"{wheel}: {sorted(inside ^ expected)} are too much or missing"
        # Tests and development files that a package folder would ship with everything else.
        for name in sorted(inside):
            if {"tests", "benchmarks", "tools", "docs"} & set(name.split("/")):
                yield f"{wheel} has {name}, which users do not need"
        if not any(name.endswith("/py.typed") for name in inside):
            yield f"{wheel} has no py.typed"
        if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
            yield f"{wheel} has no LICENSE"


def _pages(built: Built) -> Problems:
    for wheel, metadata in built.metadata().items():
        text = str(metadata.get_payload())
        if len(text) < 500:
            yield f"{wheel} has no readme"
        for target in _LINK.findall(text):
            if not target.startswith(("https://", "#")):
                yield f"{wheel}: the readme links to {target}"
        for field in ("Summary", "Requires-Python", "License-Expression", "Project-URL"):
            if field not in metadata:
                yield f"{wheel} does not say its {field}"


POINTS: dict[str, Callable[[Built], Problems]] = {
    "one version everywhere": _versions_agree,
    "a source archive and a wheel of each, without links": _four_files,
    "twine check --strict": _twine,
    "wheels have the expected files only": _contents,
    "pages with absolute links, licence, Python, URLs": _pages,
}
"""Requirements that hold at any time."""
RELEASE_POINTS: dict[str, Callable[[Built], Problems]] = {
    "the changelog's newest section has a date": _changelog_is_dated,
    "CITATION.cff has that date": _citation_is_dated,
    "the project's URLs have no placeholder": _home_is_decided,
    "everything is committed": _tree_is_clean,
    "the tag is free, or this commit": _tag_is_free_or_here,
}
"""Requirements of releases only."""


def check(*, draft: bool, dist: Path | None) -> int:
    """Print each requirement with its problems. Returns the number of requirements not met."""
    points = POINTS if draft else {**POINTS, **RELEASE_POINTS}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) if dist is None else dist
        if dist is not None and dist.exists() and any(dist.iterdir()):
            print(f"{dist} is not empty", file=sys.stderr)
            return 1
        built = build(into)
        for name, point in points.items():
            problems = list(point(built))
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'ok    '}  {name}")
            print("".join(f"        {problem}\n" for problem in problems), end="")
    return failed


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--draft", action="store_true", help="skip the requirements of releases")
    parser.add_argument("--dist", type=Path, help="empty folder for the distributions to build")
    parser.add_argument("--set", metavar="VERSION", help="set the version in all files")
    parser.add_argument("--notes", action="store_true", help="print the newest changelog section")
    arguments = parser.parse_args()
    if arguments.notes:
        print(notes())
        return 0
    if arguments.set is not None:
        try:
            set_version(arguments.set)
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        print(f"CHANGELOG.md now needs the section: ## [{arguments.set}] - unreleased")
        return 0
    try:
        return int(check(draft=arguments.draft, dist=arguments.dist) > 0)
    except subprocess.CalledProcessError as error:
        output = error.stderr.decode() if isinstance(error.stderr, bytes) else str(error.stderr)
        print(f"error: {' '.join(map(str, error.cmd))} failed\n{output}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
