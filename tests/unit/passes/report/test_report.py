"""Reports: relations between items, escaping, and size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from support.examples import parameters
from support.report_pages import unpacked
from typer.testing import CliRunner

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.cli import app
from nkijit.dialects.hardware.timing import TimingError
from nkijit.ir.text import parse
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.lower.listing import listing
from nkijit.traced.html import SCRIPTS
from nkijit.traced.kernel import TracedKernel

SPEC = TensorSpec((256, 64), "float32")


def twice(tile):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)


@nki.jit
def unrolled(x):
    """Whole tiles only, so that operands have one name in the IR and in the listing."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, x.shape[0], 128):
        tile = nl.load(x[start : start + 128])
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        for _ in range(2):
            twice(tile)
        nisa.activation_reduce(dst=tile, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=total)
        nl.store(out[start : start + 128], tile)
    return out


@nki.jit
def looped(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.dynamic_range(0, 256, 128):
        nisa.dma_copy(dst=tile, src=x[nl.ds(i, 128)])
        for _ in nl.dynamic_range(3):
            twice(tile)
            nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out[nl.ds(i, 128)], src=tile)
    return out


@nki.jit
def on_cores(x):
    half = x.shape[0] // nl.num_programs(0)
    start = nl.program_id(0) * half
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x[start : start + half])
    twice(tile)
    nl.store(out[start : start + half], tile)
    return out


@nki.jit
def in_another_order(x):
    """The first store waits for the last one: lowering reorders a copy."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    second = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    for tile, name in ((first, "one"), (second, "two")):
        nisa.memset(dst=tile, value=1.0, name=name)
    nisa.dma_copy(dst=out[0:128], src=first)
    nisa.dma_copy(dst=out[128:256], src=second)
    return out


@nki.jit
def wrong(x):
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.psum)
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.tensor_reduce(dst=total, op=nl.add, data=nl.load(x[0:128]), axis=1)
    nisa.dma_copy(dst=out, src=total)
    return out


TRACED = {
    "unrolled": lambda: unrolled.trace(SPEC),
    "looped": lambda: looped.trace(SPEC),
    "on_cores": lambda: on_cores[2].trace(SPEC),
    "in_another_order": lambda: in_another_order.with_schedule([("one", "two")]).trace(SPEC),
}
ALL = {**TRACED, "wrong": lambda: wrong.trace(SPEC)}


class Page(HTMLParser):
    """The tags of a page, and the text of its scripts and styles."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str, str]] = []
        self.title = ""
        self._inside = ""
        self._type = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        self._type = dict(attrs).get("type") or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.raw.append((self._inside, self._type, data))
        elif self._inside == "title":
            self.title += data

    @property
    def data(self) -> dict[str, Any]:
        (text,) = (text for tag, kind, text in self.raw if kind == "text/plain")
        return json.loads(unpacked(text))


def data_of(traced: TracedKernel) -> dict[str, Any]:
    return Page(traced.report()).data


def locations_of_lines(traced: TracedKernel) -> dict[int, list[tuple[str, int, int]]]:
    """For each line of the IR the places that the printer puts at its end, innermost first."""
    found: dict[int, list[tuple[str, int, int]]] = {}
    for number, line in enumerate(traced.text(locations=True).splitlines()):
        _, mark, location = line.rpartition(" loc(")
        if mark:
            places = re.findall(r'"([^"]*)":(\d+):(\d+)', location)
            found[number] = [(file, int(row), int(column)) for file, row, column in places]
    return found


@pytest.mark.parametrize("name", ALL)
def test_the_ir_is_the_text_of_the_kernel(name: str):
    traced = ALL[name]()
    assert data_of(traced)["ir"] == traced.text()


@pytest.mark.parametrize("name", ALL)
def test_every_operation_is_on_its_lines_and_leads_to_its_source(name: str):
    check_places(ALL[name]())


@pytest.mark.parametrize("example", parameters())
def test_the_operations_of_examples_lead_to_their_source(example: Any):
    check_places(example.kernel.trace(**example.inputs(example.small)))


def check_places(traced: TracedKernel) -> None:
    data = data_of(traced)
    expected = locations_of_lines(traced)
    # The module is no operation of the kernel; it ends on the last line.
    expected.pop(max(expected))
    files = [source["name"] for source in data["sources"]]
    ops = data["ops"]
    # The printer puts the location at the end of an operation.
    assert sorted(ops["last"]) == sorted(expected)
    for first, last, chain in zip(ops["first"], ops["last"], ops["chain"], strict=True):
        places = [] if chain < 0 else data["chains"][chain]
        shown = [(Path(files[source]).name, line, column) for source, line, column in places]
        assert shown == [(Path(file).name, *place) for file, *place in expected[last]]
        assert first <= last
    lines = data["ir"].splitlines()
    for first, last in zip(ops["first"], ops["last"], strict=True):
        # The first line of an operation with a body opens the body that the last one closes.
        assert (first < last) == lines[first].endswith("{")
        if first < last:
            assert lines[last] == re.match(" *", lines[first])[0] + "}"


def test_a_line_of_a_helper_and_its_callers_belong_to_an_operation():
    data = data_of(unrolled.trace(SPEC))
    text = data["sources"][0]["text"].splitlines()
    chains = [chain for chain in data["chains"] if len(chain) == 2]
    for (_, inner, _), (_, outer, _) in chains:
        assert "nisa.tensor_scalar(" in text[inner - 1]
        assert text[outer - 1].strip() == "twice(tile)"
    ops = sum(data["chains"].index(chain) == at for chain in chains for at in data["ops"]["chain"])
    assert ops == 4


@pytest.mark.parametrize("name", TRACED)
def test_the_rows_are_those_of_the_listing(name: str):
    traced = TRACED[name]()
    data = data_of(traced)
    for core, program in zip(data["cores"], traced.programs(schedule="compiler"), strict=True):
        sections = re.split(r"\n\n(\w+): \d+ instructions?\n", listing(program))[1:]
        expected = dict(zip(sections[::2], sections[1::2], strict=True))
        assert [queue["name"] for queue in core["queues"]] == list(expected)
        for queue in core["queues"]:
            shown = [row_text(data, core, item) for item in queue["rows"]]
            rows = [" ".join(line.split()) for line in expected[queue["name"]].splitlines()]
            assert shown == rows


def row_text(data: dict[str, Any], core: dict[str, Any], item: int) -> str:
    """A row of the listing, with single blanks."""
    items, strings = core["items"], data["strings"]
    if item < 0:
        signal = items["signal"][-1 - item]
        return f"}} signal({signal})" if signal else "}"
    waits = [strings[text] for _, text, _, _ in items["waits"][item]]
    parts = [f"wait({', '.join(waits)})"] if waits else []
    mnemonic = strings[items["mnemonic"][item]]
    if item >= core["instructions"]:
        return " ".join([*parts, mnemonic, "{"])
    parts = [str(item), *parts, mnemonic, ", ".join(strings[word] for word in items["words"][item])]
    if items["signal"][item]:
        parts.append(f"signal({items['signal'][item]})")
    chain = data["ops"]["chain"][items["op"][item]]
    if chain >= 0:
        source, line, _ = data["chains"][chain][0]
        parts.append(f"{Path(data['sources'][source]['name']).name}:{line}")
    return " ".join(" ".join(parts).split())


@pytest.mark.parametrize("name", TRACED)
def test_instructions_lead_to_the_operation_that_has_their_operands(name: str):
    data = data_of(TRACED[name]())
    lines = data["ir"].splitlines()
    checked = 0
    for core in data["cores"]:
        items = core["items"]
        for item in range(core["instructions"]):
            line = lines[data["ops"]["first"][items["op"][item]]]
            for word in items["words"][item]:
                found = re.match(r"(\w+)=(\w+)\[(?:sbuf|psum) ", data["strings"][word])
                if found:
                    checked += 1
                    assert f"{found[1]}=%{found[2]}" in line, (line, found[0])
    assert checked


def test_a_kernel_that_is_lowered_in_another_order_is_a_copy():
    traced = TRACED["in_another_order"]()
    (program,) = traced.programs()
    assert not set(program.kernel.walk()) & set(traced.module.walk())
    data = data_of(traced)
    lines = data["ir"].splitlines()
    ops = [lines[data["ops"]["first"][op]] for op in data["cores"][0]["items"]["op"]]
    memsets = [re.search('name="(\\w+)"', line)[1] for line in ops if "nisa.memset" in line]
    assert memsets == ["two", "one"]


@pytest.mark.parametrize("name", TRACED)
def test_a_wait_leads_to_its_signals(name: str):
    data = data_of(TRACED[name]())
    checked = 0
    for core in data["cores"]:
        items, names = core["items"], [queue["name"] for queue in core["queues"]]
        for item, waits in enumerate(items["waits"]):
            for other, text, carried, _ in waits:
                queue, count = data["strings"][text].removeprefix("previous ").split(">=")
                assert names[items["queue"][other]] == queue
                assert items["signal"][other] == int(count)
                assert data["strings"][text].startswith("previous ") == bool(carried)
                # Both are directly in the same loop, or in none.
                assert items["loop"][other] == items["loop"][item]
                checked += 1
    assert checked


@pytest.mark.parametrize("name", TRACED)
def test_the_events_are_those_of_the_simulation(name: str):
    traced = TRACED[name]()
    data = data_of(traced)
    profile = traced.profile()
    timeline, events = profile.timeline, data["events"]
    assert len(events["item"]) == len(timeline.events)
    for number, event in enumerate(timeline.events):
        assert events["item"][number] == event.instruction.number
        assert events["core"][number] == event.core
        assert events["begin"][number] == pytest.approx(event.begin, abs=0.06)
        assert events["free"][number] == pytest.approx(event.free, abs=0.06)
        assert data["strings"][events["reason"][number]] == event.reason.value
        cause = events["cause"][number]
        assert (cause < 0) == (event.cause is None)
        assert cause < 0 or timeline.events[cause] is event.cause
    assert [timeline.events[n] for n in events["path"]] == [
        step.event for step in timeline.critical_path()
    ]
    assert data["profile"]["time"] == pytest.approx(profile.time)
    assert sum(line["share"] for line in data["profile"]["lines"]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", TRACED)
def test_the_memory_has_the_addresses_of_the_listing(name: str):
    traced = TRACED[name]()
    data = data_of(traced)
    text = traced.listing()
    lines = data["ir"].splitlines()
    for memory in data["memory"]:
        for space in memory["spaces"]:
            for _, _, _, _, byte, _, start, end, op, _ in space["tiles"]:
                line = lines[data["ops"]["first"][op]]
                value = re.match(r" *%(\w+) = nki.alloc ", line)[1]
                assert f"{value}[{space['name'].lower()} {byte}, " in text
                assert 0 <= start <= end < len(memory["positions"])
                used = data["ops"]["first"][memory["positions"][start]]
                assert f"%{value}" in lines[used]


def test_a_kernel_with_errors_has_findings_instead_of_a_listing():
    traced = wrong.trace(SPEC)
    data = data_of(traced)
    assert data["cores"] == []
    assert data["events"] is None
    assert data["profile"] is None
    assert "the kernel has 1 error" in data["missing"]
    (finding,) = [f for f in data["findings"] if f["severity"] == "error"]
    source, line, column = finding["where"][0]
    text = data["sources"][source]["text"].splitlines()[line - 1]
    assert text[column - 1 :].startswith("nisa.dma_copy(dst=out, src=total)")
    assert finding["message"] == traced.diagnostics[0].message
    assert {tile[0] for space in data["memory"][0]["spaces"] for tile in space["tiles"]} >= {
        "total"
    }


def test_without_a_source_a_finding_leads_to_the_ir():
    data = data_of(TracedKernel(parse(wrong.trace(SPEC).text())))
    assert data["sources"] == []
    assert data["chains"] == []
    (finding,) = [f for f in data["findings"] if f["severity"] == "error"]
    line = data["ir"].splitlines()[finding["line"]]
    assert line.strip() == finding["ir"] == "nisa.dma_copy dst=%out, src=%total"


def test_too_much_memory_is_shown():
    @nki.jit
    def too_much(x):
        a = nl.load(x)
        b = nl.load(x)
        nisa.tensor_copy(dst=a, src=b)

    data = data_of(too_much.trace(TensorSpec((128, 32768), "float32")))
    (sbuf, _) = data["memory"][0]["spaces"]
    assert sbuf["peak"] == 2 * 32768 * 4 > sbuf["capacity"]
    assert data["missing"]


def test_a_file_that_is_gone_is_said_to_be(tmp_path: Path):
    text = unrolled.trace(SPEC).text(locations=True)
    text = re.sub(r'"[^"]*\.py"', '"/nowhere/kernel.py"', text)
    data = data_of(TracedKernel(parse(text)))
    (source,) = data["sources"]
    assert source == {"name": "/nowhere/kernel.py", "text": None}


@nki.jit
def counted(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    count = nisa.register_alloc()
    nisa.register_load(count, nl.load(n))
    for _ in nl.dynamic_range(count):
        twice(tile)
    nl.store(out, tile)
    return out


def test_loops_run_as_often_as_is_said():
    traced = counted.trace(TensorSpec((128, 64), "float32"), TensorSpec((1, 1), "int32"))
    once, more = (Page(traced.report(iterations=n)).data for n in (1, 5))
    assert len(more["events"]["item"]) == len(once["events"]["item"]) + 4
    assert "is taken to run for 5 iterations" in more["profile"]["loops"][0]


def test_constants_of_timing_are_those_given(tmp_path: Path):
    wrong_file = tmp_path / "constants.toml"
    wrong_file.write_text("nothing = 1\n", encoding="utf-8")
    with pytest.raises(TimingError):
        unrolled.trace(SPEC).report(constants=wrong_file)


# ------------------------------------------------------------------ the page

NASTY = "</script><script>alert(1)</script> <!-- <b>&amp;\u2028 {{data}} \U0001f600 '\""


def nasty_kernel(tmp_path: Path) -> Path:
    path = tmp_path / "a <b>&'.py"
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    start = lines.index("@nki.jit")
    end = next(i for i in range(start, len(lines)) if lines[i].strip() == "return out")
    path.write_text(
        "import nkijit as nki\nimport nkijit.isa as nisa\nimport nkijit.language as nl\n"
        f"# {NASTY}\n\n\ndef twice(tile):\n    nisa.memset(dst=tile, value=1.0)\n\n\n"
        + "\n".join([*lines[start : end + 1], ""]),
        encoding="utf-8",
    )
    return path


def test_everything_is_escaped(tmp_path: Path):
    path = nasty_kernel(tmp_path)
    out = tmp_path / "out.html"
    command = ["report", str(path), "-a", "x=256x64:float32", "-o", str(out)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    page = Page(out.read_text(encoding="utf-8"))
    (source,) = page.data["sources"]
    assert source["text"] == path.read_text(encoding="utf-8")
    assert Path(source["name"]).name == path.name
    scripts = [(tag, kind) for tag, kind, _ in page.raw]
    assert scripts == [("style", ""), ("script", "text/plain"), ("script", "")]
    assert page.title == "unrolled on trn3"


def test_the_name_of_a_kernel_is_escaped():
    text = unrolled.trace(SPEC).text().replace("@unrolled", '@"<i>a&b</i>"')
    page = Page(TracedKernel(parse(text)).report())
    assert page.title == "<i>a&b</i> on trn3"
    assert page.data["kernel"] == "<i>a&b</i>"
    assert "i" not in [tag for tag, _ in page.tags]


def test_the_page_needs_nothing_else():
    page = Page(unrolled.trace(SPEC).report())
    linked = [
        attrs[name]
        for _, attrs in page.tags
        for name in ("src", "href", "action", "data", "srcset", "poster")
        if name in attrs
    ]
    assert linked == ["data:,"]
    policy = next(
        attrs["content"]
        for tag, attrs in page.tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for _, kind, text in page.raw
        if kind != "text/plain"
    ]
    assert len(hashes) == 2
    assert all(value in policy for value in hashes)
    assert "unsafe" not in policy
    # With styles as attributes the policy would refuse them.
    assert not [tag for tag, attrs in page.tags if "style" in attrs]


def test_every_script_is_part_of_the_page():
    folder = resources.files("nkijit") / "assets" / "report"
    names = {file.name for file in folder.iterdir()}
    assert names == {"report.html", "report.css", *SCRIPTS}


def size_of(steps: int) -> int:
    return len(unrolled.trace(TensorSpec((128 * steps, 64), "float32")).report())


def test_the_size_is_linear():
    sizes = [size_of(steps) for steps in (20, 40, 80)]
    first, second = sizes[1] - sizes[0], sizes[2] - sizes[1]
    # Later numbers have more digits.
    assert 2 * first <= second < 2.4 * first
    instructions = unrolled.trace(TensorSpec((128 * 80, 64), "float32")).programs()[0].instructions
    assert second / (len(instructions) / 2) < 500


def test_mistakes_on_the_command_line(tmp_path: Path):
    module = tmp_path / "two.mlir"
    text = unrolled.trace(SPEC).text()
    again = text.replace("@unrolled", "@again")
    inner = "\n".join([*text.splitlines()[:-1], *again.splitlines()[1:]])
    module.write_text(inner, encoding="utf-8")
    result = CliRunner().invoke(app, ["report", str(module)])
    assert result.exit_code == 2
    assert "several kernels, name one: unrolled, again" in result.stderr
    result = CliRunner().invoke(app, ["report", f"{module}:again", "-o", "-"])
    assert result.exit_code == 0
    assert Page(result.stdout).title == "again on trn3"
    result = CliRunner().invoke(app, ["report", str(tmp_path / "none.py")])
    assert result.exit_code == 2
    assert "no such file" in result.stderr
