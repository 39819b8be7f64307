"""`nkijit lsp` as an editor uses it, over its standard input and output."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

types = pytest.importorskip("lsprotocol.types")
from support.editor import PATIENCE, Editor, edited  # noqa: E402

KERNEL = """\
import nkijit
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nkijit.example(x="128x512:bfloat16")
@nki.jit
def doubled(x):
    print("Content-Length: 3")
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nl.store(out, tile)
    return out
"""
WRONG = KERNEL.replace("data=tile,", "data=tile[0:64],")
LOAD, SCALE, STORE = 11, 12, 13
"""Lines, counted from 0."""


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    with Editor() as made:
        yield made


def path_of(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path))


def test_findings_come_and_go_as_the_text_changes(editor: Editor, tmp_path: Path):
    file = tmp_path / "unsaved.py"
    file.write_text("1 +")  # the saved file is not the analysed text
    uri = editor.open(file, KERNEL)
    assert editor.problems(uri) == []

    editor.change(uri, WRONG)
    (found,) = editor.problems(uri)
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.source == "nkijit"
    line = WRONG.splitlines()[SCALE]
    assert found.range.start == types.Position(SCALE, line.index("tile[0:64]"))
    assert found.range.end == types.Position(SCALE, line.index(", op0"))
    assert found.message.startswith("nisa.tensor_scalar: ")
    assert "\nhelp: " in found.message
    explained = path_of(found.code_description.href).read_text()
    assert explained.startswith(f"### {found.code}")
    places = [each.location.range.start.line for each in found.related_information]
    assert LOAD in places  # where the tile was allocated
    assert {each.location.uri for each in found.related_information} == {uri}

    editor.change(uri, KERNEL)
    assert editor.problems(uri) == []
    editor.change(uri, WRONG)
    assert editor.problems(uri)
    editor.close(uri)
    editor.wait(lambda: editor.published[-1].uri == uri and not editor.published[-1].diagnostics)


def test_times_of_lines_and_kernels(editor: Editor, tmp_path: Path):
    uri = editor.open(tmp_path / "times.py", KERNEL)
    hints = editor.hints(uri)
    assert set(hints) == {LOAD, SCALE, STORE}
    assert hints[SCALE].endswith(" · vector")
    shares = [float(text.split(" · ")[1].rstrip("%")) for text in hints.values()]
    assert sum(shares) == pytest.approx(100.0, abs=0.2)

    total, _ = editor.lenses(uri)
    assert total.range.start.line == 6
    assert " us, bound latency, for trn3 (default)" in total.command.title

    said = editor.hover(uri, SCALE, 12)
    assert "```python\nnisa.tensor_scalar(dst, data, op0" in said
    assert hints[SCALE].split(" · ")[0] in said
    assert "- `operand0`: " in said
    assert editor.hover(uri, SCALE, KERNEL.splitlines()[SCALE].index("multiply")).startswith("**")
    assert editor.hover(uri, LOAD, 6) is None


def test_the_ir_of_a_line(editor: Editor, tmp_path: Path):
    uri = editor.open(tmp_path / "ir.py", KERNEL)
    editor.problems(uri)
    place = editor.implementation(uri, SCALE)
    lines = path_of(place.uri).read_text().splitlines()
    assert "nisa.tensor_scalar" in lines[place.range.start.line]
    _, lens = editor.lenses(uri)
    editor.shown.clear()
    editor.command(lens.command)
    assert editor.shown[0].uri == place.uri
    assert "nki.kernel @doubled" in lines[editor.shown[0].selection.start.line]
    (action,) = editor.actions(uri, STORE)
    editor.command(action)
    assert "nisa.dma_copy dst=%out" in lines[editor.shown[1].selection.start.line]

    # The file is the same, and has the IR of the present text.
    editor.change(uri, KERNEL.replace("2.0", "5.5"))
    assert editor.implementation(uri, SCALE).uri == place.uri
    assert "5.5" in path_of(place.uri).read_text()
    assert editor.implementation(uri, 0) is None


def test_missing_arguments_are_requested(editor: Editor, tmp_path: Path):
    text = KERNEL.replace('@nkijit.example(x="128x512:bfloat16")\n', "").replace(
        "import nkijit\n", '"""Doubled."""\n'
    )
    uri = editor.open(tmp_path / "unknown.py", text)
    (found,) = editor.problems(uri)
    assert found.severity == types.DiagnosticSeverity.Information
    assert found.range.start == types.Position(7, 4)
    assert editor.hints(uri) == {}
    assert [lens.command.title for lens in editor.lenses(uri)] == ["its arguments are not known"]
    (action,) = editor.actions(uri, 7)
    changed = edited(text, action.edit.changes[uri])
    assert '@nki.example(x="128x512:float32")\n@nki.jit\n' in changed
    editor.change(uri, changed)
    assert editor.problems(uri) == []
    assert set(editor.hints(uri))


def test_fixes_are_code_actions(editor: Editor, tmp_path: Path):
    text = KERNEL.replace("nl.load(", "nl.load(dtype='bf16', src=", 1)
    assert text != KERNEL
    uri = editor.open(tmp_path / "words.py", text)
    (found,) = editor.problems(uri)
    actions = editor.actions(uri, found.range.start.line)
    (action,) = [a for a in actions if a.title == "Replace 'bf16' by nl.bfloat16"]
    (edit,) = action.edit.changes[uri]
    line = text.splitlines()[edit.range.start.line]
    assert line[edit.range.start.character : edit.range.end.character] == "'bf16'"
    changed = text.replace("'bf16'", edit.new_text)
    editor.change(uri, changed)
    assert editor.problems(uri) == []


def test_completion(editor: Editor, tmp_path: Path):
    """In a text that does not parse."""
    text = KERNEL.replace("nl.store(out, tile)", "nisa.tensor_copy(dst=tile, src=")
    uri = editor.open(tmp_path / "typing.py", text)
    column = len(text.splitlines()[STORE])
    items = {item.label: item for item in editor.completions(uri, STORE, column).items}
    assert items["tile"].kind == types.CompletionItemKind.Variable
    assert items["tile"].detail == "nl.load(x)"
    assert editor.initialized.capabilities.completion_provider.trigger_characters


def test_renaming(editor: Editor, tmp_path: Path):
    uri = editor.open(tmp_path / "names.py", KERNEL)
    edits = editor.rename(uri, LOAD, 5, "block").changes[uri]
    assert len(edits) == KERNEL.count("tile")
    assert {edit.new_text for edit in edits} == {"block"}
    lines = KERNEL.splitlines()
    for edit in edits:
        start, end = edit.range.start, edit.range.end
        assert lines[start.line][start.character : end.character] == "tile"
    with pytest.raises(Exception, match="the file uses 'out' already"):
        editor.rename(uri, LOAD, 5, "out")


def test_a_project_says_target_and_arguments(editor: Editor, tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.nkijit]\ntarget = "trn2"\n'
        '[tool.nkijit.kernels."k.py"]\narguments = { x = "64x64:float32" }\n'
    )
    file = tmp_path / "k.py"
    file.write_text(KERNEL)
    uri = editor.open(file, KERNEL.replace('@nkijit.example(x="128x512:bfloat16")\n', ""))
    assert editor.problems(uri) == []
    assert "for trn2 (pyproject.toml)" in editor.lenses(uri)[0].command.title

    # Files on disk change: the configuration, and an import of the file.
    (tmp_path / "pyproject.toml").write_text("[tool.nkijit]\ntagret = 1\n")
    editor.published.clear()
    event = types.FileEvent((tmp_path / "pyproject.toml").as_uri(), types.FileChangeType.Changed)
    assert "workspace/didChangeWatchedFiles" in editor.registered
    editor._tell(
        editor.client.workspace_did_change_watched_files, types.DidChangeWatchedFilesParams([event])
    )
    assert "there is no key 'tagret'" in editor.problems(uri)[0].message


def test_modules_beside_it_are_imported_anew(editor: Editor, tmp_path: Path):
    helper = tmp_path / "helper_of_lsp.py"
    helper.write_text("import nkijit.language as nl\ndef load(x):\n    return nl.load(x)\n")
    text = KERNEL.replace("nl.load(x)", "helper_of_lsp.load(x)")
    uri = editor.open(tmp_path / "imports.py", f"import helper_of_lsp\n{text}")
    assert editor.problems(uri) == []
    helper.write_text("import nkijit.language as nl\ndef load(x):\n    return nl.load(x, 1)\n")
    editor.published.clear()
    editor.save(helper.as_uri())
    (found,) = editor.problems(uri)
    assert found.range.start.line == LOAD + 1
    helper.write_text("def load(x:\n")
    editor.published.clear()
    editor.save(helper.as_uri())
    (found,) = editor.problems(uri)
    assert "SyntaxError" in found.message
    assert found.range.start.line == 0
    assert found.related_information[0].location.uri == helper.as_uri()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("import nki\n@nki.jit\ndef f(x:\n    pass\n", 2, "'(' was never closed"),
        (f"import no_such_module\n{KERNEL}", 0, "No module named 'no_such_module'"),
        (KERNEL.replace("nl.multiply", "nl.mltiply"), SCALE, "did you mean 'multiply'?"),
        (KERNEL.replace('"128x512:bfloat16"', '"128x512"'), 6, "a tensor needs a data type"),
        (f"import sys\n{KERNEL}sys.exit(3)\n", 16, "SystemExit: 3"),
    ],
)
def test_an_error_that_stops_a_file_is_one_problem(
    editor: Editor, tmp_path: Path, text: str, line: int, message: str
):
    uri = editor.open(tmp_path / "stops.py", text)
    (found,) = editor.problems(uri)
    assert message in found.message
    assert found.range.start.line == line
    assert found.severity == types.DiagnosticSeverity.Error


def test_columns_are_utf_16(editor: Editor, tmp_path: Path):
    text = WRONG.replace("    nisa.tensor_scalar(dst", '    "😀𝛼é"; nisa.tensor_scalar(dst')
    uri = editor.open(tmp_path / "wide é.py", text)
    (found,) = editor.problems(uri)
    before = text.splitlines()[SCALE].split("tile[0:64]")[0]
    assert found.range.start.character == len(before.encode("utf-16-le")) // 2
    called = text.splitlines()[SCALE].split("sor_scalar")[0]
    at = len(called.encode("utf-16-le")) // 2
    assert "tensor_scalar(" in editor.hover(uri, SCALE, at)
    assert editor.hover(uri, SCALE, len('    "😀𝛼é"')) is None


def test_lines_are_those_of_the_protocol(editor: Editor, tmp_path: Path):
    text = WRONG.replace("    print", '    "\u2028\x0c"; print').replace("\n", "\r\n")
    uri = editor.open(tmp_path / "crlf.py", text)
    (found,) = editor.problems(uri)
    assert found.range.start.line == SCALE
    assert found.range.end.line == SCALE


def test_uris_as_editors_write_them(editor: Editor, tmp_path: Path):
    """VS Code escapes more than is needed; a diff shows other schemes, which are not run."""
    file = tmp_path / "a+b.py"
    uri = editor.open(file, WRONG, uri=file.as_uri().replace("+", "%2B"))
    assert [p.range.start.line for p in editor.problems(uri)] == [SCALE]
    other = editor.open(file, WRONG, uri=f"git:{file}")
    windows = editor.open(file, "x = 1", uri="file:///c%3A/kernels/k.py")
    assert editor.problems(windows) == []
    assert all(each.uri != other for each in editor.published)


@pytest.mark.posix
def test_a_crash_is_survived(editor: Editor, tmp_path: Path):
    uri = editor.open(tmp_path / "crash.py", f"{KERNEL}\nimport os\nos.abort()\n")
    (found,) = editor.problems(uri)
    assert "SIGABRT" in found.message
    editor.change(uri, WRONG)
    assert [p.range.start.line for p in editor.problems(uri)] == [SCALE]


@pytest.mark.posix
def test_streams_and_processes_of_a_file(editor: Editor, tmp_path: Path):
    text = (
        "import multiprocessing, os, sys, threading, time\n"
        "print('x' * 10**6)\n"
        "print('x' * 10**6, file=sys.stderr)\n"
        "os.system('echo Content-Length: 3; cat')\n"
        "assert not sys.stdin.read()\n"
        "threading.Thread(target=lambda: time.sleep(1000)).start()\n"
        "child = multiprocessing.get_context('fork').Process(target=print)\n"
        "child.start()\n"
        "child.join()\n"
        f"{KERNEL}"
    )
    uri = editor.open(tmp_path / "streams.py", text)
    assert editor.problems(uri) == []
    assert len(editor.hints(uri)) == 3


def test_files_without_kernels_are_not_run(editor: Editor, tmp_path: Path):
    mark = tmp_path / "mark"
    text = f"import numba\nopen({str(mark)!r}, 'w')\n@numba.jit\ndef f(x): pass\n"
    uri = editor.open(tmp_path / "plain.py", text)
    assert editor.problems(uri) == []
    assert not mark.exists()


def test_warnings_can_be_left_out(editor: Editor, tmp_path: Path):
    text = KERNEL.replace("nl.store(out, tile)", "nl.store(out[0:64], tile[0:64])")
    uri = editor.open(tmp_path / "warned.py", text)
    found = editor.problems(uri)
    assert {d.severity for d in found} == {types.DiagnosticSeverity.Warning}
    lines = text.splitlines(keepends=True)
    for line in {d.range.start.line for d in found}:
        ignored = [a for a in editor.actions(uri, line) if a.title.startswith("Ignore ")]
        (edit,) = ignored[0].edit.changes[uri]
        at = edit.range.start
        lines[at.line] = lines[at.line][: at.character] + edit.new_text + "\n"
    editor.change(uri, "".join(lines))
    assert editor.problems(uri) == []


def test_a_file_that_hangs_is_ended_and_the_next_text_is_looked_at(tmp_path: Path):
    with Editor({"timeLimit": 2, "nonsense": 1, "run": "sometimes"}) as editor:
        editor.wait(lambda: len(editor.messages) == 2)
        assert "there is no option 'nonsense'" in editor.messages[0]
        hanging = KERNEL.replace("    tile = nl.load(x)", "    while True: tile = nl.load(x)")
        uri = editor.open(tmp_path / "hangs.py", hanging)
        (found,) = editor.problems(uri)
        assert "still running after 2 s" in found.message
        assert found.range.start.line == LOAD

        # A new text does not wait for one that hangs.
        editor.change(uri, hanging)
        editor.change(uri, WRONG)
        assert [p.range.start.line for p in editor.problems(uri)] == [SCALE]


def test_nothing_is_run_when_the_editor_says_so(tmp_path: Path):
    mark = tmp_path / "mark"
    text = f"{KERNEL}\nopen({str(mark)!r}, 'w')\n"
    plain = types.ClientCapabilities()
    with Editor({"run": "never"}, plain) as editor:
        uri = editor.open(tmp_path / "never.py", text)
        assert editor.problems(uri) == []
        assert editor.hints(uri) == {}
        assert "nisa.tensor_scalar(" in editor.hover(uri, SCALE, 12)
        editor.change(uri, text + "(")
        assert "was never closed" in editor.problems(uri)[0].message
    assert not mark.exists()


def test_only_saved_files_are_run_when_the_editor_says_so(tmp_path: Path):
    with Editor({"run": "save", "inlayHints": False}, types.ClientCapabilities()) as editor:
        uri = editor.open(tmp_path / "saves.py", KERNEL)
        assert editor.problems(uri) == []
        assert editor.hints(uri) == {}
        editor.change(uri, WRONG)
        assert editor.lenses(uri) == ()
        editor.save(uri)
        (found,) = editor.problems(uri)
        # This editor shows no other places, and opens no files.
        assert "allocated" in found.message or f"saves.py:{LOAD + 1}:" in found.message
        assert found.related_information is None
        editor.change(uri, KERNEL)
        editor.save(uri)
        assert editor.problems(uri) == []
        _, lens = editor.lenses(uri)
        assert editor.command(lens.command)["uri"].endswith("/doubled.mlir")
        assert "the IR is in file://" in editor.messages[-1]


def test_over_tcp_and_an_editor_that_is_killed(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nkijit", "lsp", "--tcp", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert server.stderr.readline() == f"waiting for an editor at 127.0.0.1:{port}\n"
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                assert time.monotonic() < until
                time.sleep(0.05)
        try:
            assert server.wait(PATIENCE) == 0
        finally:
            server.kill()


def test_missing_packages_are_reported():
    code = (
        "import sys; sys.modules['pygls'] = None; sys.argv = ['nkijit', 'lsp']\n"
        "from nkijit.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: nkijit lsp needs pygls: pip install 'nkijit[lsp]'\n"
    assert os.fspath(Path(__file__).parent) not in done.stderr
