"""Findings of portability in an editor, as an option or the project requests them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nkijit.cli import app
from nkijit.lsp.analysis import analyse
from nkijit.lsp.facts import Problem
from nkijit.lsp.settings import Settings, settings_of

types = pytest.importorskip("lsprotocol.types")
from support.editor import Editor  # noqa: E402

KERNEL = """\
import nkijit
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nkijit.example(x="128x512:int32")
@nki.jit
def copied(x, scale=None):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if scale is None:
        before = nl.copy(tile)
        nisa.tensor_scalar(tile, tile, nl.bitwise_xor, 1)
        tile = nl.bitwise_xor(tile, before)
    nl.store(out, tile)
    return out
"""
IDENTITY, COPY = 12, 13
"""Lines of a test with `is`, and of a function that NKI 0.5 computes in float32."""


def problems(folder: Path, text: str, *settings: object) -> list[Problem]:
    file = folder / "copied.py"
    file.write_text(text)
    return list(list(analyse(str(file), text, folder, *settings))[-1].problems)  # type: ignore


def places(found: list[Problem]) -> list[tuple[str, str | None, int]]:
    return sorted((p.severity, p.rule, p.span.start.line) for p in found)


OF_0_6 = [("warning", "portable-identity", IDENTITY)]
OF_0_5 = sorted([*OF_0_6, ("warning", "portable-defect", COPY)])


def test_by_default_there_are_no_such_findings(tmp_path: Path) -> None:
    assert problems(tmp_path, KERNEL) == []


def test_an_option_requests_them(tmp_path: Path) -> None:
    assert problems(tmp_path, KERNEL, True) == []  # NKI 0.7 traces Python
    assert places(problems(tmp_path, KERNEL, True, "0.6")) == OF_0_6
    found = problems(tmp_path, KERNEL, True, "0.5")
    assert places(found) == OF_0_5
    (defect,) = (p for p in found if p.rule == "portable-defect")
    assert defect.message.startswith(
        "nl.copy: in NKI 0.5 nl.copy computes in float32, which is not exact for integers"
    )
    column = KERNEL.splitlines()[COPY - 1].index("nl.copy") + 1
    assert defect.span.start.column == column


def test_the_project_requests_them_unless_the_editor_does_not(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.nkijit]\nportable = true\nnki = "0.5"\n')
    found = problems(tmp_path, KERNEL)
    assert places(found) == OF_0_5
    # The command reads the same settings.
    file = str(tmp_path / "copied.py")
    result = CliRunner().invoke(app, ["verify", "--json", file])
    (kernel,) = json.loads(result.output)["kernels"]
    assert sorted((d["rule"], f"{d['subject']}: {d['message']}") for d in kernel["findings"]) == (
        sorted((p.rule, p.message.partition("\n")[0]) for p in found)
    )
    result = CliRunner().invoke(app, ["verify", "--no-portable", file])
    assert result.output.startswith("no findings")
    result = CliRunner().invoke(app, ["verify", "--portable", "--nki", "0.6", file])
    assert "warning[portable-identity]" in result.output
    assert "portable-defect" not in result.output


def test_the_project_is_read_for_what_the_editor_does_not_say(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.nkijit]\nnki = "0.6"\n')
    assert problems(tmp_path, KERNEL) == []
    assert places(problems(tmp_path, KERNEL, True)) == OF_0_6


def test_the_editor_overrides_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.nkijit]\nportable = true\nnki = "0.5"\n')
    assert problems(tmp_path, KERNEL, False) == []
    assert places(problems(tmp_path, KERNEL, None, "0.6")) == OF_0_6


def test_denied_warnings_are_errors(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.nkijit]\ndeny = ["portability"]\n')
    found = problems(tmp_path, KERNEL, True, "0.5")
    assert places(found) == [("error", rule, line) for _, rule, line in OF_0_5]
    assert all(p.is_suppressible for p in found)


def test_without_arguments_the_source_is_checked(tmp_path: Path) -> None:
    text = KERNEL.replace('@nkijit.example(x="128x512:int32")\n', "")
    found = problems(tmp_path, text, True, "0.5")
    assert places(found) == [
        ("information", None, IDENTITY - 4),
        ("warning", "portable-identity", IDENTITY - 1),
    ]


def test_classic_kernels_are_not_checked(tmp_path: Path) -> None:
    text = KERNEL.replace("import nkijit as nki", "import nkijit.classic as nki")
    text = text.replace("nkijit.isa", "nkijit.classic.isa")
    text = text.replace("nkijit.language", "nkijit.classic.language")
    text = text.replace("nisa.tensor_scalar(tile, tile, nl.bitwise_xor, 1)", "tile = ~tile")
    found = problems(tmp_path, text, True, "0.6")
    assert {p.rule for p in found} == {"redundant-copy"}


def test_settings_of_portability() -> None:
    options = {"portable": True, "nki": "0.6"}
    assert settings_of(options) == (Settings(portable=True, nki="0.6"), [])
    assert settings_of({"portable": None, "nki": None}) == (Settings(), [])
    settings, messages = settings_of({"portable": "yes", "nki": "9.9"})
    assert settings == Settings()
    assert messages[0] == "option 'portable': expected true, false or null, got 'yes'"
    assert messages[1].startswith("option 'nki': expected 0.1 or ")


def test_warnings_are_ignored_by_code_actions(tmp_path: Path) -> None:
    """Two warnings at one statement share a comment."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.nkijit]\nportable = true\ndeny = ["portable-defect"]\n'
    )
    text = KERNEL.replace("nl.copy(tile)", "nl.copy(tile if scale is None else x)")
    text = text.replace("if scale is None:", "if not scale:")
    with Editor({"nki": "0.5"}) as editor:
        uri = editor.open(tmp_path / "ignored.py", text)
        found = editor.problems(uri)
        severities = {d.code: d.severity for d in found}
        assert severities == {
            "portable-identity": types.DiagnosticSeverity.Warning,
            "portable-defect": types.DiagnosticSeverity.Error,
        }
        assert all(d.code_description.href.endswith(f"/{d.code}.md") for d in found)
        for rule in ("portable-identity", "portable-defect"):
            actions = {a.title: a for a in editor.actions(uri, found[0].range.start.line)}
            (edit,) = actions[f"Ignore {rule} here"].edit.changes[uri]
            lines = text.splitlines(keepends=True)
            line, at = edit.range.start.line, edit.range.start.character
            lines[line] = lines[line][:at] + edit.new_text + lines[line][at:]
            text = "".join(lines)
            editor.change(uri, text)
            found = editor.problems(uri)
        assert found == []
        assert "  # nkijit: ignore[portable-identity, portable-defect]\n" in text


def test_a_comment_does_not_follow_a_backslash(tmp_path: Path) -> None:
    text = KERNEL.replace("if scale is None:", "if scale is None \\\n        and not scale:")
    with Editor({"portable": True, "nki": "0.6"}) as editor:
        uri = editor.open(tmp_path / "continued.py", text)
        (found,) = editor.problems(uri)
        assert found.range.start.line == IDENTITY - 1
        actions = {a.title: a for a in editor.actions(uri, IDENTITY - 1)}
        (edit,) = actions["Ignore portable-identity here"].edit.changes[uri]
        assert edit.range.start.line == IDENTITY
        editor.change(uri, text.replace("not scale:", f"not scale:{edit.new_text}"))
        assert editor.problems(uri) == []
