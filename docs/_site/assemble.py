"""The source folder for Sphinx: pages of docs/, generated pages, and the sources they link to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from docs._site import ROOT
from docs._site.reference import generated_pages

DOCS = ROOT / "docs"

FROM_THE_TOP = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
"""Pages in the top folder of the repository, with their names on the site."""

ELSEWHERE = {
    **{str(ROOT / name): page for name, page in FROM_THE_TOP.items()},
    str(ROOT / "README.md"): "index.md",
    str(DOCS / "rules.md"): "reference/rules/index.md",
}
"""Files whose contents are another page of the site."""

_NAMED_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def assemble(folder: Path) -> None:
    """Write all pages to a folder. Unchanged files are not written, other files are removed."""
    wanted = dict(pages())
    for name, data in wanted.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def pages() -> Iterator[tuple[str, bytes]]:
    """Yield the name and contents of all files of the site's source."""
    shown: dict[str, Path] = {}
    for path in sorted(DOCS.rglob("*")):
        name = path.relative_to(DOCS).as_posix()
        if path.is_dir() or name.startswith("_site/") or "__pycache__" in name:
            continue
        if path.suffix == ".md":
            if str(path) not in ELSEWHERE:
                yield name, _relinked(path, name, shown).encode()
        elif name != "conf.py":
            yield name, path.read_bytes()
    for file, name in FROM_THE_TOP.items():
        yield name, _relinked(ROOT / file, name, shown).encode()
    for name, text in generated_pages():
        yield name, text.encode()
    for name, path in sorted(shown.items()):
        yield name, _source_page(path).encode()


def _relinked(path: Path, name: str, shown: dict[str, Path]) -> str:
    """Return a page with links to the site's pages. Sources that it links to are added to `shown`.

    Args:
        path: of the page in the repository.
        name: of the page on the site.
        shown: files of the repository that are shown as pages, by the page's name.
    """
    text = path.read_text(encoding="utf-8")

    def outside_of_code(piece: str) -> str:
        def relinked(match: re.Match[str]) -> str:
            words, target = match[1], match[2]
            if re.match(r"\w+:|#", target):
                return match[0]
            file, mark, anchor = target.partition("#")
            page = _page_of((path.parent / file).resolve(), shown)
            if page is None:  # a folder, which a site cannot show
                return words
            return f"[{words}]({os.path.relpath(page, Path(name).parent)}{mark}{anchor})"

        return _NAMED_LINK.sub(relinked, piece)

    pieces: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        pieces += [outside_of_code(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, outside_of_code(text[end:])])


def _page_of(target: Path, shown: dict[str, Path]) -> str | None:
    """Return the site's page for a file, None for a folder. Raises FileNotFoundError."""
    if str(target) in ELSEWHERE:
        return ELSEWHERE[str(target)]
    if target.is_dir():
        return None
    if target.is_relative_to(DOCS):
        # Links to generated pages name files that do not exist in docs/.
        return target.relative_to(DOCS).as_posix()
    if not target.exists():
        raise FileNotFoundError(f"a page links to {target}")
    page = f"source/{target.relative_to(ROOT).as_posix()}.md"
    shown[page] = target
    return page


def _source_page(path: Path) -> str:
    """Return a page with a file of the repository. The search does not index it."""
    text = path.read_text(encoding="utf-8")
    language = {".py": "python", ".toml": "toml", ".css": "css", ".js": "javascript"}
    name = path.relative_to(ROOT).as_posix()
    return (
        f"---\norphan: true\nnosearch: true\n---\n# {name}\n\n"
        f"````````{{code-block}} {language.get(path.suffix, 'text')}\n:linenos:\n\n"
        f"{text}````````\n"
    )
