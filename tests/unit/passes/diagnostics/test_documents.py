"""`nkijit verify --json` and `--sarif`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from nkijit.cli import app
from nkijit.dialects.rule_texts import RULE_TEXTS

WRONG = """\
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


def helper(dst, data):
    nisa.reciprocal(dst=dst, data=data)


@nki.jit
def kernel(x):
    tile = nl.load(x)
    half = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.sbuf)
    helper(half, tile)
    nisa.memset(dst=tile, value=0.0)  # nkijit: ignore[nothing]
    return x
"""
RAISES = f"import none_such\n{WRONG}"
VIEW = WRONG.replace("helper(half, tile)", "tile[:, 0:1000]")
RIGHT = WRONG.replace("helper(half, tile)", "helper(tile, tile)").replace("  # nkijit", "  # no")
SYNTAX = WRONG.replace("helper(half, tile)", "helper(half, tile")
IR = """\
builtin.module {
  nki.kernel @k() target=trn3 {
    nisa.reciprocal dst=%t, data=%t
  }
}
"""


def judged(source: str, *options: str, suffix: str = ".py") -> tuple[Any, int]:
    """The document and the exit code, in an empty folder."""
    Path(f"kernel{suffix}").write_text(source, encoding="utf-8")
    arguments = [] if suffix == ".mlir" else ["-a", "x=128x64:float32"]
    result = CliRunner().invoke(app, ["verify", f"kernel{suffix}", *arguments, *options])
    return json.loads(result.stdout), result.exit_code


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def place(line: int, column: int) -> Any:
    return {"file": "kernel.py", "line": line, "column": column}


def test_json() -> None:
    document, code = judged(WRONG, "--json")
    assert code == 1
    assert list(document) == ["schema", "tool", "kernels", "failure", "errors", "warnings"]
    assert (document["schema"], document["failure"]) == (1, None)
    assert (document["errors"], document["warnings"]) == (1, 1)
    (kernel,) = document["kernels"]
    assert (kernel["kernel"], kernel["target"]) == ("kernel", "trn3")
    error, warning = kernel["findings"]
    rule = RULE_TEXTS["partitions-match"]
    assert error == {
        "rule": rule.id,
        "category": rule.category,
        "severity": "error",
        "kind": "illegal",
        "group": None,
        "subject": "nisa.reciprocal",
        "message": "different numbers of partitions: 'data' has 128, 'dst' has 64",
        "help": "allocate 'dst' with 128 partitions, or read tile[0:64] only",
        "positions": [place(7, 5), place(14, 5)],
        "marked": [
            {**place(7, 35), "end_line": 7, "end_column": 39},
            {**place(7, 25), "end_line": 7, "end_column": 28},
        ],
        "fix": None,
        "related": [],
        "operands": [
            {
                "name": "data",
                "value": "%tile",
                "description": "sbuf 128x64 float32",
                "allocated": place(12, 12),
            },
            {
                "name": "dst",
                "value": "%half",
                "description": "sbuf 64x64 float32",
                "allocated": place(13, 12),
            },
        ],
        "notes": [],
        "ir": None,
    }
    assert list(warning) == list(error)
    assert (warning["kind"], warning["group"]) == (None, "advice")
    assert (warning["rule"], warning["positions"]) == ("unknown-rule", [place(15, 41)])


@pytest.mark.parametrize(
    ("source", "suffix", "message", "line"),
    [
        (RAISES, ".py", "ModuleNotFoundError: No module named 'none_such'", 1),
        (SYNTAX, ".py", "SyntaxError: '(' was never closed", 14),
        (IR, ".mlir", "%t is not defined above", 3),
        ("", ".py", "kernel.py has no kernel", None),
    ],
    ids=["exception", "syntax", "ir", "usage"],
)
def test_failures(source: str, suffix: str, message: str, line: int | None) -> None:
    document, code = judged(source, "--json", suffix=suffix)
    assert code == 2
    assert document["kernels"] == []
    assert message in document["failure"]["message"]
    lines = [position["line"] for position in document["failure"]["positions"]]
    assert lines == ([] if line is None else [line])
    sarif, code = judged(source, "--sarif", suffix=suffix)
    assert code == 2
    check_log(sarif)
    (invocation,) = sarif["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert message in notification["message"]["text"]


def test_a_trace_that_ends_early_has_findings() -> None:
    document, code = judged(VIEW, "--json")
    assert code == 1
    assert document["failure"] is None
    (kernel,) = document["kernels"]
    assert [d["rule"] for d in kernel["findings"]] == ["view"]


def test_no_findings() -> None:
    document, code = judged(RIGHT, "--json", "-p", "verify-instructions")
    assert code == 0
    assert [k["findings"] for k in document["kernels"]] == [[]]
    sarif, code = judged(RIGHT, "--sarif", "-p", "verify-instructions")
    assert code == 0
    check_log(sarif)
    assert sarif["runs"][0]["results"] == []


def test_into_a_file() -> None:
    Path("kernel.py").write_text(WRONG, encoding="utf-8")
    for option in (["--json"], ["--sarif"], []):
        command = ["verify", "kernel.py", "-a", "x=128x64:float32", *option]
        printed = CliRunner().invoke(app, command)
        written = CliRunner().invoke(app, [*command, "-o", "found.txt"])
        assert written.exit_code == printed.exit_code == 1
        assert written.stdout == ""
        assert Path("found.txt").read_text(encoding="utf-8") == printed.stdout


def test_one_document_at_a_time() -> None:
    result = CliRunner().invoke(app, ["verify", "kernel.py", "--json", "--sarif"])
    assert result.exit_code == 2
    assert result.stdout == ""


# ---------------------------------------------------------------- SARIF


def check_log(log: Any) -> None:
    """Check a log against the requirements of the standard (SARIF 2.1.0, section 3)."""
    assert log["version"] == "2.1.0"  # 3.13.2
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"] == "nkijit"  # 3.19.8
        identifiers = [rule["id"] for rule in driver["rules"]]  # 3.49.3
        assert len(set(identifiers)) == len(identifiers)
        for rule in driver["rules"]:
            assert rule["shortDescription"]["text"]  # 3.12.3
            assert rule["help"]["text"]
            assert rule["defaultConfiguration"]["level"] in ("error", "warning")  # 3.50.3
        for invocation in run["invocations"]:
            assert isinstance(invocation["executionSuccessful"], bool)  # 3.20.14
            for notification in invocation.get("toolExecutionNotifications", ()):
                assert notification["message"]["text"]  # 3.58.5
                check_locations(notification["locations"], run)
        for result in run["results"]:
            assert identifiers[result["ruleIndex"]] == result["ruleId"]  # 3.27.6
            assert result["level"] in ("error", "warning")
            assert result["message"]["text"]  # 3.27.11
            check_locations(result["locations"], run)
            related = result.get("relatedLocations", [])
            check_locations(related, run)
            assert [location["id"] for location in related] == list(range(len(related)))
            assert all(location["message"]["text"] for location in related)


def check_locations(locations: list[Any], run: Any) -> None:
    for location in locations:
        if "physicalLocation" not in location:
            assert location["logicalLocations"][0]["name"]  # 3.33.4
            continue
        artifact = location["physicalLocation"]["artifactLocation"]  # 3.29.3
        uri = urlsplit(artifact["uri"])
        if not uri.scheme:
            base = run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"]  # 3.14.14
            assert base.startswith("file:///")
            assert base.endswith("/")
        region = location["physicalLocation"]["region"]  # 3.30.5
        assert region["startLine"] >= 1
        assert region["endColumn"] > region["startColumn"] >= 1


def test_sarif() -> None:
    document, code = judged(WRONG, "--sarif")
    assert code == 1
    check_log(document)
    (run,) = document["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == set(RULE_TEXTS)
    levels = {id: rule["defaultConfiguration"]["level"] for id, rule in rules.items()}
    assert levels == {rule.id: rule.severity for rule in RULE_TEXTS.values()}
    tags = {id: rule["properties"]["tags"] for id, rule in rules.items()}
    assert tags["sbuf-capacity"] == ["memory", "does not fit"]
    assert tags["core-race"] == ["hazard", "undefined"]
    assert tags["unknown-rule"] == ["suppression", "advice"]
    error, warning = run["results"]
    assert (error["ruleId"], error["level"]) == ("partitions-match", "error")
    assert (warning["ruleId"], warning["level"]) == ("unknown-rule", "warning")
    region = error["locations"][0]["physicalLocation"]["region"]
    start = Path("kernel.py").read_text(encoding="utf-8").splitlines()[6].index("data=") + 6
    end = start + len("data")
    assert region == {"startLine": 7, "startColumn": start, "endLine": 7, "endColumn": end}
    related = [
        (where["message"]["text"], where["physicalLocation"]["region"]["startLine"])
        for where in error["relatedLocations"]
    ]
    assert related == [
        ("called from here", 14),
        ("data is allocated here", 12),
        ("dst is allocated here", 13),
    ]


def test_sarif_without_places() -> None:
    ir = (
        "builtin.module {\n"
        "  nki.kernel @k(%x: memref<128x64xf32, #nki.private_hbm>) target=trn3 {\n"
        "    %t = nki.alloc : memref<128x64xf32, #nki.sbuf>\n"
        "    nisa.memset dst=%t, value=0\n"
        "    nisa.activation dst=%t, op=add, data=%t loc(unknown)\n    nki.return %x\n  }\n}\n"
    )
    document, code = judged(ir, "--sarif", suffix=".mlir")
    assert code == 1
    check_log(document)
    (result,) = document["runs"][0]["results"]
    assert result["locations"] == [{"logicalLocations": [{"name": "k", "kind": "function"}]}]


def test_fixes_replace_their_text() -> None:
    source = WRONG.replace("dtype=nl.float32", "dtype='fp32'")
    document, _ = judged(source, "--json")
    (finding,) = document["kernels"][0]["findings"]
    fix = finding["fix"]
    line = source.splitlines()[fix["line"] - 1]
    assert fix["line"] == fix["end_line"]
    assert line[fix["column"] - 1 : fix["end_column"] - 1] == "'fp32'"
    assert fix["text"] == "nl.float32"
    document, _ = judged(source, "--sarif")
    check_log(document)
    (result,) = document["runs"][0]["results"]
    ((change,),) = (each["artifactChanges"] for each in result["fixes"])
    ((replacement),) = change["replacements"]
    region = replacement["deletedRegion"]
    assert (region["startLine"], region["startColumn"]) == (fix["line"], fix["column"])
    assert (region["endLine"], region["endColumn"]) == (fix["end_line"], fix["end_column"])
    assert replacement["insertedContent"] == {"text": "nl.float32"}
    assert (
        change["artifactLocation"] == result["locations"][0]["physicalLocation"]["artifactLocation"]
    )
