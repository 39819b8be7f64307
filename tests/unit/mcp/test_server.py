"""`nkijit mcp` as an agent uses it, over its standard input and output."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from support.agent import Agent
from support.paths import ROOT

import nkijit as nki
from nkijit.cli.app import app
from nkijit.cli.serving import mcp
from nkijit.discovery.errors import UsageError
from nkijit.passes.diagnostics.plain import plain
from nkijit.sweeps.costs import CriticalLine

KERNELS = """\
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

print("not what the protocol is about")


@nki.example(x="128x512:float32")
@nki.jit
def doubled(x, scale=2.0, width=128):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(0, x.shape[1], width):
        tile = nl.load(x[:, i : i + width])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
        nl.store(out[:, i : i + width], tile)
    return out


@nki.jit
def broken(n, wrong=1):
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    for i in range(n):
        nl.ndarray((128 + wrong, i + 1), nl.float32, buffer=nl.sbuf, name=f"tile{i}")
    return out
"""
DOUBLED = {"file": "kernels.py:doubled"}
BROKEN = {"file": "kernels.py:broken", "arguments": ["n=3"]}


def alone(*lines: str) -> dict[str, Any]:
    """A kernel with one argument, which does something else than kernels do."""
    text = ["import os, signal, time", "import nkijit as nki", "@nki.jit", "def odd(n):"]
    return {"source": "\n".join([*text, *(f"    {line}" for line in lines)]), "arguments": ["n=1"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("kernels")
    (made / "kernels.py").write_text(KERNELS)
    return made


@pytest.fixture(scope="module")
def agent(folder: Path) -> Iterator[Agent]:
    with Agent(folder) as made:
        yield made


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Any:
    space: dict[str, Any] = {}
    exec(compile(KERNELS, str(folder / "kernels.py"), "exec"), space)
    return space["doubled"]


# ------------------------------------------------------------------ tools


def test_tools_describe_their_inputs_and_outputs(agent: Agent) -> None:
    tools = agent.tools()
    names = [
        "list_kernels",
        "trace",
        "verify",
        "explain",
        "run",
        "profile",
        "prove",
        "diff",
        "advise",
        "optimize",
        "cost",
    ]
    assert list(tools) == names
    for tool in tools.values():
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (tool.name == "explain")
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
        assert all(p["description"] for p in tool.input_schema["properties"].values())
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
    instructions = agent.client.instructions or ""
    assert all(f"`{name}`" in instructions for name in names)


def test_schemas_describe_the_results_of_the_library(agent: Agent) -> None:
    def described(tool: str, figure: str) -> dict[str, str | None]:
        schema = agent.tools()[tool].output_schema or {}
        found = schema["$defs"][figure]["properties"] if figure else schema["properties"]
        return {name: each.get("description") for name, each in found.items()}

    assert list(described("cost", "CriticalLine")) == [f.name for f in fields(CriticalLine)]
    assert described("cost", "CriticalLine")["ns"] == "The line's part of the critical path, in ns."
    assert described("profile", "LineUse")["busy"] is None
    # A subclass's fields, and those of the class that it is of.
    assert described("verify", "Finding")["severity"] == "`error` or `warning`."
    assert "help" in described("verify", "Finding")
    assert "timeline" not in described("profile", "")
    place = (agent.tools()["cost"].output_schema or {})["$defs"]["Finding"]["properties"]["place"]
    assert place["anyOf"] == [
        {"type": "string", "description": "`file:line:column`"},
        {"type": "null"},
    ]


def test_page_has_the_tools(agent: Agent) -> None:
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    assert rows == {
        name: " ".join((tool.description or "").split("\n\n")[0].split())
        for name, tool in agent.tools().items()
    }


def test_kernels_of_a_file(agent: Agent) -> None:
    document, text = agent.ask("list_kernels", file="kernels.py")
    first, second = document["kernels"]
    assert first == {
        "name": "doubled",
        "line": 8,
        "target": "trn3",
        "arguments": [
            {"name": "x", "default": None},
            {"name": "scale", "default": "2.0"},
            {"name": "width", "default": "128"},
        ],
        "is_known": True,
    }
    assert (second["name"], second["is_known"]) == ("broken", False)
    assert text.splitlines() == [
        "kernels.py:8: doubled(x, scale=2.0, width=128)",
        "kernels.py:19: broken(n, wrong=1); needs n",
    ]
    assert agent.ask("list_kernels", source="x = 1\n")[1] == "no kernels"


def test_ir_is_that_of_the_command(agent: Agent, kernel: Any) -> None:
    expected = kernel.trace(nki.TensorSpec((128, 512), "float32")).text()
    document, text = agent.ask("trace", **DOUBLED, rolled=False)
    assert document["text"] == expected.rstrip("\n")
    assert text.startswith(expected)
    assert (document["errors"], document["next"]) == (0, None)
    rolled, _ = agent.ask("trace", **DOUBLED)
    assert "nki.repeat" in rolled["text"]
    # The IR is a kernel as well, of a file or as text.
    again, _ = agent.ask("trace", source=document["text"], rolled=False)
    assert again["text"] == document["text"]
    (Path(folder_of(agent)) / "doubled.mlir").write_text(expected)
    for source in {"source": expected}, {"file": "doubled.mlir"}:
        for tool in "cost", "profile":
            mine, _ = agent.ask(tool, **source, schedule="author")
            assert mine["kernel"] == "doubled"
        assert agent.ask("run", **source, seed=3)[0] == agent.ask("run", **DOUBLED, seed=3)[0]


def folder_of(agent: Agent) -> str:
    return str(agent.folder)


def test_texts_come_in_pages(agent: Agent) -> None:
    whole, _ = agent.ask("trace", **DOUBLED, rolled=False)
    lines: list[str] = []
    first: int | None = 1
    while first is not None:
        part, text = agent.ask("trace", **DOUBLED, rolled=False, first=first, limit=4)
        assert part["lines"] == whole["lines"]
        lines += part["text"].splitlines()
        first = part["next"]
        assert (f"first={first}" in text) == (first is not None)
    assert "\n".join(lines) == whole["text"]
    assert "there are" in agent.refused("trace", **DOUBLED, first=1000)
    large, _ = agent.ask("trace", **DOUBLED, arguments=["width=1"], rolled=False, limit=1000)
    assert len(large["text"]) <= 40_000
    assert large["next"] is not None


# ------------------------------------------------------------------ findings


def test_findings(agent: Agent) -> None:
    assert agent.ask("verify", **DOUBLED)[1] == "@doubled for trn3: no findings\n"
    document, text = agent.ask("verify", **BROKEN)
    errors = [each for each in document["findings"] if each["severity"] == "error"]
    assert document["errors"] == len(errors) > 0
    assert {(each["rule"], each["place"]) for each in errors} == {
        ("output-unwritten", "kernels.py:21:11"),
        ("alloc-partitions", "kernels.py:23:9"),
    }
    assert "error[alloc-partitions]" in text
    assert "nl.ndarray((128 + wrong, i + 1)" in text
    assert text.splitlines()[-1].startswith("@broken for trn3: ")
    total = len(document["findings"])
    paged: list[Any] = []
    first: int | None = 1
    while first is not None:
        part, _ = agent.ask("verify", **BROKEN, first=first, limit=1)
        assert part["errors"] == document["errors"]
        paged += part["findings"]
        first = part["next"]
    assert paged == document["findings"]
    assert len(paged) == total > 1


def test_findings_of_portability_are_those_of_the_project(agent: Agent, folder: Path) -> None:
    project = folder / "portable"
    project.mkdir()
    (project / "pyproject.toml").write_text('[tool.nkijit]\nportable = true\nnki = "0.6"\n')
    text = KERNELS.replace("scale=2.0, width=128):", "scale=2.0, width=128):\n    scale is None")
    (project / "k.py").write_text(text)
    document, _ = agent.ask("verify", file="portable/k.py:doubled")
    found = [(each["rule"], each["severity"]) for each in document["findings"]]
    assert found == [("portable-identity", "warning")]
    (project / "pyproject.toml").write_text("[tool.nkijit]\n")
    assert agent.ask("verify", file="portable/k.py:doubled")[0]["findings"] == []


@pytest.mark.parametrize("tool", ["run", "profile", "advise"])
def test_kernels_with_errors_are_errors_of_tools(agent: Agent, tool: str) -> None:
    text = agent.refused(tool, **BROKEN)
    assert text.startswith("error[")
    assert "--> kernels.py:23:9" in text
    assert "error" in text.splitlines()[-1]


def test_cost_of_a_kernel_with_errors_has_them(agent: Agent) -> None:
    document, text = agent.ask("cost", **BROKEN)
    assert document["time"] is None
    assert document["found"] == len(document["findings"]) > 0
    assert "no time" in text


def test_wrong_questions(agent: Agent) -> None:
    def says(match: str, tool: str = "verify", **arguments: Any) -> None:
        assert match in agent.refused(tool, **arguments)

    says("kernels.py has 2 kernels: doubled, broken; name one", file="kernels.py")
    says("has no kernel 'double'; it has doubled, broken; did you mean", file="kernels.py:double")
    says("no such file: nothing.py", file="nothing.py")
    says("exactly one of `file` and `source`")
    says("exactly one of `file` and `source`", **DOUBLED, source=KERNELS)
    says("argument 'n' is missing; kernels.py:broken has n, wrong", file="kernels.py:broken")
    says("did you mean 'false'?", **DOUBLED, arguments=["scale=fals"])
    says("'scale' is given twice", **DOUBLED, arguments=["scale=1", "scale=2"])
    says("kernels.py:doubled has no argument 'y'", **DOUBLED, arguments=["y=1"])
    says("did you mean 'nisa.max8'?", "explain", name="nisa.max9")
    says("invalid syntax", source="1 +")
    says('File "<source>", line 1', source="undefined_name")
    says("limit", "trace", **DOUBLED, limit=10**9)
    says("already", source="builtin.module {}", arguments=["n=1"])
    says("kernel", "list_kernels", file="kernels")


def test_arguments_of_another_form(agent: Agent) -> None:
    def refused(tool: str = "verify", **arguments: Any) -> str:
        text = agent.refused(tool, **arguments)
        assert "pydantic" not in text
        assert "Error executing" not in text
        return text

    both = '["x=128x512:bfloat16", "scale=2.0"], or an object, {"x": "128x512:bfloat16"'
    for wrong in ("scale=2.0", 3, [2.0]):
        text = refused(**DOUBLED, arguments=wrong)
        assert "'arguments' is" in text
        assert both in text
    assert "'cores' must be a valid integer, got 'two' (str)" in refused(**DOUBLED, cores="two")
    text = refused("trace", **DOUBLED, limit=10**9)
    assert "'limit' must be less than or equal to 1000, got 1000000000 (int)" in text
    assert "'schedule' must be 'author' or 'compiler'" in refused(
        "cost", **DOUBLED, schedule="fast"
    )
    assert "'name' is missing (a rule" in refused("explain")
    text = refused(**DOUBLED, argument=["scale=2.0"])
    assert "`verify` has no argument 'argument'; it takes file, source, kernel, arguments" in text
    assert "did you mean 'arguments'?" in text
    assert "arguments scale: 'fals' is" in refused(**DOUBLED, arguments={"scale": "fals"})


def test_arguments_as_an_object(agent: Agent) -> None:
    given: list[dict[str, Any]] = [
        {"arguments": ["x=128x256:bfloat16", "scale=3.0", "width=256"]},
        {"arguments": {"x": "128x256:bfloat16", "scale": 3.0, "width": 256}},
    ]
    answers = [agent.ask("trace", **DOUBLED, **each) for each in given]
    assert answers[0] == answers[1]
    assert "128x256xbf16" in answers[0][1]


def test_kernel_by_name_and_other_targets(agent: Agent) -> None:
    document, _ = agent.ask(
        "cost", source=KERNELS, kernel="doubled", arguments=["x=128x256:bfloat16"], target="trn2"
    )
    assert (document["kernel"], document["target"]) == ("doubled", "trn2")


# ------------------------------------------------------------------ results and arguments


def test_results_are_those_of_a_run(agent: Agent, folder: Path) -> None:
    x = np.linspace(-3, 5, 128 * 512, dtype=np.float32).reshape(128, 512)
    x[0, :2] = np.nan, np.inf
    np.save(folder / "x.npy", x)
    document, text = agent.ask("run", **DOUBLED, arguments=["x=@x.npy", "scale=3.0"])
    (result,) = document["results"]
    assert (result["shape"], result["dtype"]) == ([128, 512], "float32")
    assert (result["nan"], result["infinite"]) == (1, 1)
    right = 3 * x.reshape(-1)[2:].astype(np.float64)
    assert result["least"] == pytest.approx(right.min(), rel=1e-6)
    assert result["largest"] == pytest.approx(right.max(), rel=1e-6)
    assert result["mean"] == pytest.approx(right.mean(), rel=1e-5)
    assert result["values"][:2] == ["nan", "inf"]
    assert float(result["values"][2]) == pytest.approx(3 * x[0, 2])
    assert "1 NaN, 1 infinite" in text
    small, _ = agent.ask("run", **DOUBLED, arguments=["x=@x.npy", "scale=3e-20"])
    assert small["results"][0]["largest"] == pytest.approx(right.max() * 1e-20, rel=1e-5)


def test_predictions_are_those_of_the_library(agent: Agent, kernel: Any) -> None:
    traced = kernel.trace(nki.TensorSpec((128, 512), "float32"))
    profile = traced.profile(schedule="compiler")
    document, text = agent.ask("profile", **DOUBLED, limit=2)
    assert document["time"] == pytest.approx(profile.time)
    assert document["high"] == pytest.approx(profile.range.high)
    assert len(document["lines"]) == 2
    assert document["next"] == 3
    assert document["lines"][0]["share"] == pytest.approx(profile.lines[0].share, rel=1e-5)
    assert text.startswith("schedule compiler: ")
    assert text.splitlines()[1].startswith("profile of @doubled for trn3")

    advice = traced.advice()
    document, text = agent.ask("advise", **DOUBLED)
    assert advice.suggestions
    fields = ("message", "level", "proven")
    assert [[each[field] for field in fields] for each in document["suggestions"]] == [
        [each.message, each.level, each.proven] for each in advice.suggestions
    ]
    assert document["tried"] == advice.tried

    document, _ = agent.ask("cost", **DOUBLED)
    assert document["time"]["ns"] == pytest.approx(profile.time)
    assert document["instructions"] == profile.instructions
    assert document["sbuf"]["bytes"] == plain(nki.cost(traced).sbuf)["bytes"]


def test_differences(agent: Agent) -> None:
    document, text = agent.ask(
        "diff",
        first_file="kernels.py:doubled",
        second_source=KERNELS.replace("width=128", "width=512"),
        kernel="doubled",
    )
    assert document["second_time"] < document["first_time"]
    assert document["second_instructions"] * 4 == document["first_instructions"]
    assert text.startswith("equal for all inputs: bits\n")
    assert "--- kernels.py:doubled\n+++ <source>:doubled" in text


def test_explanations(agent: Agent, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "alloc-partitions", "nisa.max8", "nl.load":
        app(["explain", name], standalone_mode=False)
        assert agent.ask("explain", name=name)[0]["text"] == capsys.readouterr().out.rstrip("\n")


# ------------------------------------------------------------------ kernels that misbehave


def test_kernels_that_hang_or_crash_end_only_their_own_process(folder: Path) -> None:
    with Agent(folder, "--time-limit", "2") as agent:
        text = agent.refused("verify", **alone("while n: pass"))
        assert text.startswith("still running after 2 s; it was at\n")
        assert 'File "<source>", line 5, in odd' in text
        stubborn = alone("while n:", "    try: time.sleep(9)", "    except BaseException: pass")
        assert agent.refused("run", **stubborn) == "still running after 2 s; it was ended"
        text = agent.refused("trace", **alone("os.kill(os.getpid(), signal.SIGKILL)"))
        assert text == "the process of this call was ended by SIGKILL"
        text = agent.refused("cost", **alone("os._exit(3)"))
        assert text == "the process of this call has ended with exit code 3"
        document, text = agent.ask("verify", **alone("raise KeyError('no such tile')"))
        assert "error[python-error]: KeyError: 'no such tile'" in text
        assert document["errors"] == 1
        assert "no such tile" in agent.ask("cost", **alone("raise KeyError('no such tile')"))[1]
        agent.refused("verify", **alone("raise SystemExit"))
        noisy = alone("os.write(1, b'{}'); print('x' * 9)", "raise ValueError('said')")
        assert "ValueError: said" in agent.ask("verify", **noisy)[1]
        assert agent.ask("verify", **DOUBLED)[1] == "@doubled for trn3: no findings\n"


def test_memory_is_bounded(folder: Path) -> None:
    with Agent(folder, "--memory-limit", "200") as agent:
        assert "MemoryError" in agent.refused("verify", **alone("b = bytearray(10 ** 10)"))
        assert agent.ask("verify", **DOUBLED)


def test_answers_know_nothing_of_earlier_ones(agent: Agent, folder: Path) -> None:
    helper = folder / "sizes.py"
    kernel = {
        "source": "import nkijit as nki, nkijit.language as nl\nfrom sizes import SIZE\n"
        "@nki.jit\ndef sized():\n    return nl.ndarray((SIZE, 4), nl.int8, buffer=nl.shared_hbm)\n"
    }
    (folder / "entry.py").write_text(kernel["source"])
    for size in 3, 5:
        helper.write_text(f"SIZE = {size}\n")
        os.utime(helper, (size, size))  # times of files are coarse
        assert f"memref<{size}x4xi8" in agent.ask("trace", file="entry.py")[1]


def test_questions_at_the_same_time(agent: Agent) -> None:
    slow = threading.Thread(target=agent.call, args=("verify",), kwargs=alone("time.sleep(4)"))
    started = time.monotonic()
    slow.start()
    assert agent.ask("verify", **DOUBLED)
    assert slow.is_alive() or time.monotonic() - started > 4
    slow.join()


def test_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "nkijit.mcp.server", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(UsageError, match=r"pip install 'nkijit\[mcp\]'"):
        mcp()


SOFTMAX = """\
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.softmax(tile, axis=1))
    return out
"""


def test_examples_of_tools_work(tmp_path: Path) -> None:
    for name in ("kernel.py", "faster.py"):
        (tmp_path / name).write_text(SOFTMAX)
    with Agent(tmp_path) as agent:
        tools = agent.tools()
        for name, tool in tools.items():
            arguments = json.loads(example_of(tool))
            jsonschema.validate(arguments, tool.input_schema)
            agent.ask(name, **arguments)
        _, text = agent.ask("diff", **json.loads(example_of(tools["diff"])))
    assert "bf16" in text


def example_of(tool: Any) -> str:
    return str(tool.description).partition("\n\nExample: ")[2]


def test_resources(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        assert {"nkijit://rules", "nkijit://instructions"} <= agent.resources()
        assert "both-in-psum" in agent.read("nkijit://rules")
        assert agent.read("nkijit://rules/both-in-psum").startswith("### both-in-psum")
        assert "nisa.activation " in agent.read("nkijit://instructions")
        assert "scalar" in agent.read("nkijit://instructions/nisa.activation")
        with pytest.raises(Exception, match="no-such"):
            agent.read("nkijit://rules/no-such")
