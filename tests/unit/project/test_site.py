"""The pages of the documentation site: all are there, and their links and examples hold.

`make site` has Sphinx make HTML of them, which fails at anything else that is wrong.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Error
from support.paths import ROOT

from nkijit import collectives, isa
from nkijit.cli.app import COMMANDS
from nkijit.dialects.hardware.targets import TARGETS
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import ErrorKind

OPS = [op.name for op in (*INSTRUCTIONS, *COLLECTIVES)]


@pytest.fixture(scope="module")
def site() -> Callable[[str], Any]:
    """The modules of `docs._site`, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        importlib.import_module("docs._site.assemble")
    return lambda name: importlib.import_module(f"docs._site.{name}")


@pytest.fixture(scope="module")
def files(site: Callable[[str], Any]) -> dict[str, bytes]:
    """All files, by name."""
    return dict(site("assemble").pages())


@pytest.fixture(scope="module")
def pages(files: dict[str, bytes]) -> dict[str, str]:
    """The text of all pages, by name."""
    return {name: data.decode() for name, data in files.items() if name.endswith(".md")}


def test_everything_has_its_page(pages: dict[str, str]) -> None:
    wanted = [f"reference/instructions/{name}.md" for name in OPS]
    wanted += [f"reference/rules/{name}.md" for name in RULE_TEXTS]
    wanted += [f"reference/commands/{name}.md" for name in COMMANDS]
    assert [name for name in wanted if name not in pages] == []


def test_a_page_of_an_instruction_has_all_of_it(pages: dict[str, str]) -> None:
    text = pages["reference/instructions/nisa.activate2.md"]
    for piece in (
        "`reduce_res`\n: (P, 1) tile that receives the accumulators",
        "- **Generations:** NeuronCore-v4 and newer",
        "nisa.activate2 dst=%out, op=gelu, data=%x",
        "`ACTIVATE2`, cycles: max(",
        "error[generation]: nisa.activate2: ",
    ):
        assert piece in text


def test_rules_have_kernels_that_break_them(pages: dict[str, str]) -> None:
    without = [
        name
        for name in RULE_TEXTS
        if "## A kernel that violates it" not in pages[f"reference/rules/{name}.md"]
    ]
    assert len(without) < 0.1 * len(RULE_TEXTS), without


def test_violations_are_of_the_instruction_whose_page_has_them(pages: dict[str, str]) -> None:
    shown = 0
    for name in OPS:
        text = pages[f"reference/instructions/{name}.md"]
        for kernel, says in re.findall(
            r"```mlir\n(nki.kernel.*?)```\n\n```text\n(.*?)\n```", text, re.S
        ):
            assert f" {name} " in kernel or f"{name}\n" in kernel
            assert re.match(rf"(error|warning)\[[\w-]+\]: {re.escape(name)}: ", says)
            shown += 1
    assert shown > 380


@pytest.mark.parametrize("name", OPS)
def test_the_example_of_an_instruction(site: Callable[[str], Any], name: str) -> None:
    dialect, _, function = name.partition(".")
    called = getattr({"nisa": isa, "ncc": collectives}[dialect], function)
    example = site("reference.examples").example_kernel(called)
    # Nothing has written the tiles.
    assert [d for d in example.traced.diagnostics if d.kind is ErrorKind.illegal] == []
    assert example.ir(name)


_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


def test_links(pages: dict[str, str], files: dict[str, bytes]) -> None:
    wrong: list[str] = []
    for name, text in pages.items():
        if name.startswith("source/"):
            continue
        for target, anchor in _LINK.findall(_without_code(text)):
            path = Path(ROOT / name).parent / target if target else Path(ROOT / name)
            page = path.resolve().relative_to(ROOT).as_posix()
            if page not in files or (anchor and anchor not in _anchors(pages[page])):
                wrong.append(f"{name}: {target}#{anchor}")
    assert wrong == []


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^(`{3,}|~~~).*?^\1", "", text, flags=re.M | re.S))


def _anchors(text: str) -> set[str]:
    """The names of a page's headings, as code hosts make them."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.M | re.S), re.M
    )
    return {re.sub(r"[^\w -]", "", each.lower()).strip().replace(" ", "-") for each in headings}


def test_tables_of_contents(pages: dict[str, str]) -> None:
    """Every page is in one, and every entry is a page."""
    named: set[str] = {"index.md"}
    for name, text in pages.items():
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
            for entry in body.split():
                if not entry.startswith(":") and entry not in ("1", "2"):
                    path = (ROOT / name).parent / f"{entry}.md"
                    named.add(path.resolve().relative_to(ROOT).as_posix())
    orphans = {name for name in pages if not name.startswith("source/")} ^ named
    assert orphans == set()


def test_no_page_asks_the_network(files: dict[str, bytes]) -> None:
    for style in (ROOT / "docs" / "_static").glob("*.css"):
        assert "http" not in style.read_text()
    assert "_static/site.css" in files


@pytest.mark.parametrize(
    "path", sorted((ROOT / "nkijit" / "assets").rglob("*.js")), ids=lambda p: p.name
)
def test_scripts_can_be_coloured(path: Path) -> None:
    """Sphinx warns of scripts that it cannot highlight, such as those with `=> /pattern/`."""
    tokens = list(JavascriptLexer().get_tokens(path.read_text(encoding="utf-8")))
    assert [text for kind, text in tokens if kind is Error] == []


def test_pictures_are_of_the_report_as_it_is(site: Callable[[str], Any]) -> None:
    """Else: make pictures, and look at them."""
    pictures = site("pictures")
    assert pictures.digest(pictures.page()) == pictures.DIGEST.read_text(encoding="utf-8")


def test_pictures_are_shown_in_both_themes(pages: dict[str, str]) -> None:
    text = pages["start.md"]
    for path in (ROOT / "docs" / "pictures").glob("*.png"):
        assert f"pictures/{path.name}\n" in text
        assert path.stem.endswith(("-light", "-dark"))


def test_drawings_have_the_numbers_of_the_table() -> None:
    text = (ROOT / "docs" / "pictures" / "core.svg").read_text(encoding="utf-8")
    sizes = {t.platform: t.sbuf_partition_bytes // 1024 for t in TARGETS.values()}
    said = f"{sizes['trn1']} KiB on trn1, {sizes['trn2']} on trn2, {sizes['trn3']} on trn3"
    assert f"128 partitions of {said}" in text
    banks = {(t.psum_banks, t.psum_partition_bytes) for t in TARGETS.values()}
    assert banks == {(8, 16 * 1024)}
    assert "128 partitions × 16 KiB" in text


def test_excerpts_are_the_first_paragraphs_of_sections(site: Callable[[str], Any]) -> None:
    nodes = pytest.importorskip("docutils.nodes")
    first, second = (nodes.paragraph(text=text) for text in ("One page.", "A " + "long " * 90))
    part = nodes.section("", second, nodes.paragraph(text="not this"), ids=["part"])
    content = nodes.Element("", nodes.paragraph(text="Copy."))
    content.tagname = "desc_content"
    described = nodes.Element("", nodes.Element("", ids=["nki.copy"]), content)
    page = nodes.document(None, None, "", nodes.section("", first, part, described, ids=["page"]))
    found = site("excerpts").excerpts(page)
    assert found[""] == found["page"] == "One page."
    assert found["nki.copy"] == "Copy."
    assert found["part"].startswith("A long long")
    assert len(found["part"]) < 222
