"""Commands take groups of options as one object; the command line has each option of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from nkijit.cli.app import COMMANDS, app, whole
from nkijit.cli.options import Output, with_options


@dataclass(frozen=True, kw_only=True)
class Size:
    """A group that another one adds to."""

    width: Annotated[int, typer.Option("-w", "--width")] = 1


@dataclass(frozen=True, kw_only=True)
class Named(Size):
    """A group with an argument that has to be given."""

    name: Annotated[str, typer.Argument(metavar="NAME")]


def command(given: Named, *, loud: Annotated[bool, typer.Option("--loud")] = False) -> None:
    """The effect."""
    print(given, loud)


def invoke(*words: str) -> tuple[int, str]:
    app = typer.Typer(add_completion=False)
    app.command("command")(with_options(command))
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("x",), (Named(name="x"), False)),
        (("x", "--loud"), (Named(name="x"), True)),
        (("-w", "3", "x"), (Named(name="x", width=3), False)),
    ],
)
def test_a_command_takes_a_group_as_one_object(words, expected):
    code, output = invoke(*words)
    assert code == 0
    assert output.split("\n")[0] == " ".join(map(str, expected))


def test_parameters_without_defaults_are_required():
    code, output = invoke()
    assert code == 2
    assert "Missing argument 'NAME'" in output


def test_help_is_that_of_the_command():
    code, output = invoke("--help")
    assert code == 0
    assert "The effect." in output
    assert all(option in output for option in ("NAME", "--width", "--loud"))


def test_text_goes_to_the_terminal_or_to_a_file(tmp_path, capsys):
    Output().write("text")
    assert capsys.readouterr().out == "text"
    Output(output=tmp_path / "file").write_document({"µ": 1})
    assert (tmp_path / "file").read_text(encoding="utf-8") == '{\n  "µ": 1\n}\n'
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_folder_of_an_output_file_is_an_error(name, tmp_path):
    params = {option.opts[-1]: option for option in whole(name).params}
    outputs = [option for option in ("--output", "--html", "--resume") if option in params]
    assert outputs or name in {"bisect", "diff", "explain", "lsp", "mcp", "watch"}
    needed = {"--space": "t=1,2"}
    words = [w for option, value in needed.items() if option in params for w in (option, value)]
    words += ["kernel.py"] if name != "lit-config" else []
    for option in outputs:
        file = str(tmp_path / "none" / "file")
        result = CliRunner().invoke(app, [name, *words, option, file])
        assert result.exit_code == 2
        assert "no such folder" in result.output


def test_a_check_of_nothing_fails(tmp_path):
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    assert CliRunner().invoke(app, ["verify", str(tmp_path)]).exit_code == 2
