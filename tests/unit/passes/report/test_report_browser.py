"""Reports in a browser: opened from disk in a headless Chromium, clicked, read and measured."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.ir.text import parse
from nkijit.kernels.arguments import TensorSpec
from nkijit.passes.report import values as report_values
from nkijit.passes.report.build import report_of
from nkijit.traced.html import html_of
from nkijit.traced.kernel import TracedKernel
from nkijit.traced.recording import TracedRecording

webdriver = pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from support.browser import WIDTH, contrast, in_a_browser  # noqa: E402
from support.browser import Report as Page  # noqa: E402

pytestmark = in_a_browser()


def twice(tile):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)


@nki.jit
def unrolled(x):
    """Text that must stay text: </script><script>alert(1)</script> <b>bold</b> &amp;"""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, x.shape[0], 128):
        tile = nl.load(x[start : start + 128])
        for _ in range(4):
            twice(tile)
            nisa.activation(dst=tile, op=nl.exp, data=tile)
        nl.store(out[start : start + 128], tile)
    return out


@nki.jit
def looped(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.dynamic_range(0, 512, 128):
        nisa.dma_copy(dst=tile, src=x[nl.ds(i, 128)])
        twice(tile)
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
def wrong(x):
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.psum)
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.tensor_reduce(dst=total, op=nl.add, data=nl.load(x), axis=1)
    nisa.dma_copy(dst=out, src=total)
    return out


@nki.jit
def activated(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    made = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(dst=made, op=nl.exp, data=tile)
    nl.store(out, made)
    return out


@nki.jit
def empty(x):
    pass


def trace(kernel: Any, rows: int) -> TracedKernel:
    return kernel.trace(TensorSpec((rows, 64), "float32"))


def untimed(traced: TracedKernel) -> Any:
    """The report of a kernel as if it could not be simulated."""
    kernels = [op for op in traced.module.walk() if isinstance(op, KernelOp)]
    missing = "no timeline: the queues wait for each other for ever"
    return report_of(traced.module, kernels, traced.diagnostics, traced.programs(), None, missing)


def recorded_input() -> Any:
    x = np.arange(512 * 64, dtype=np.float32).reshape(512, 64)
    x[130, 7] = np.nan
    return x


KERNELS = {
    "unrolled": lambda: trace(unrolled, 512),
    "looped": lambda: trace(looped, 512),
    "on_cores": lambda: trace(on_cores[2], 256),
    "wrong": lambda: trace(wrong, 128),
    "bare": lambda: TracedKernel(parse(trace(looped, 512).text())),
    "untimed": lambda: untimed(trace(unrolled, 512)),
    "empty": lambda: trace(empty, 128),
    "recorded": lambda: looped.record(recorded_input()),
    "large": lambda: trace(unrolled, 128 * 850),
}
SOURCE = Path(__file__).read_text(encoding="utf-8").splitlines()


def line_of(text: str, kernel: str = "twice") -> int:
    """Return the number of the first line with a text after the head of a function, from 1."""
    start = next(n for n, line in enumerate(SOURCE) if line.startswith(f"def {kernel}("))
    return next(n for n, line in enumerate(SOURCE, 1) if n > start and line.strip() == text)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"folder": tmp_path_factory.mktemp("reports")}


@pytest.fixture
def open_report(open_page: Any, pages: dict[str, Path]) -> Any:
    def open_it(name: str, width: int = WIDTH) -> Page:
        if name not in pages:
            pages[name] = pages["folder"] / f"{name}.html"
            made = KERNELS[name]()
            if isinstance(made, TracedRecording):
                page = made.report()
            else:
                page = made.report() if isinstance(made, TracedKernel) else html_of(made)
            pages[name].write_text(page, encoding="utf-8")
        return open_page(pages[name], width)

    return open_it


@pytest.mark.parametrize(
    "name", ["unrolled", "looped", "on_cores", "wrong", "bare", "untimed", "empty", "recorded"]
)
@pytest.mark.parametrize("width", [1280, 1920])
def test_every_view_fits_the_window(open_report: Any, name: str, width: int):
    report = open_report(name, width)
    for tab in report.all(".views [role=tab]"):
        if tab.is_displayed():
            tab.click()
            report.settle()
            wide = report.run("return document.documentElement.scrollWidth")
            assert wide <= width
            shown = report.texts(".view:not([hidden]) h2")
            assert shown, tab.text


def test_a_line_of_source_leads_to_all_that_comes_from_it(open_report: Any):
    report = open_report("unrolled")
    # A helper's line, which is called from one place, sixteen times.
    number = line_of("nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)")
    report.click_line("source", number)
    assert report.count("ir") == report.count("listing") == "16 related"
    assert report.one("#source .row.chosen .gutter").text == str(number)
    assert all("nisa.tensor_scalar" in text for text in report.related("ir"))
    assert all("TENSOR_SCALAR" in text for text in report.related("listing"))
    assert report.is_in_view("#ir .row.related")
    assert report.is_in_view("#listing .row.related")
    listed = [row.get_attribute("id") for row in report.all("#listing .row.related")]
    # The next related line, and back from the first one to the last.
    report.click("#listing .steps [title='Next related line']")
    assert report.one("#listing .row.cursor").get_attribute("id") == listed[1]
    report.click("#listing .steps [title='Previous related line']")
    report.click("#listing .steps [title='Previous related line']")
    assert report.is_in_view("#listing .row.cursor")
    assert report.one("#listing .row.cursor") == report.all("#listing .row.related")[-1]
    # The line that calls it has the same.
    report.click_line("source", line_of("twice(tile)", "unrolled"))
    assert report.count("ir") == "16 related"


def test_an_operation_leads_to_the_chain_of_calls_and_its_instructions(open_report: Any):
    report = open_report("unrolled")
    lines = trace(unrolled, 512).text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "nisa.tensor_scalar" in line)
    report.click_line("ir", number)
    assert report.count("source") == "2 related"
    inner, outer = sorted(
        report.all("#source .row.related"), key=lambda row: "caller" in row.get_attribute("class")
    )
    assert "nisa.tensor_scalar(" in inner.get_property("textContent")
    assert "twice(tile)" in outer.get_property("textContent")
    assert report.count("listing") == "1 related"
    # A DMA is two engine instructions, in two queues.
    number = next(n for n, line in enumerate(lines, 1) if "nisa.dma_copy" in line)
    report.click_line("ir", number)
    first, second = report.related("listing")
    assert "DMA_TRIGGER" in first
    assert "DMA_COPY" in second


def test_an_instruction_leads_back_and_a_wait_to_its_signals(open_report: Any):
    report = open_report("unrolled")
    rows = report.all("#listing .row")
    row = next(row for row in rows if "ACTIVATE" in row.text)
    row.find_element(By.CSS_SELECTOR, ".mnemonic").click()
    report.settle()
    (line,) = report.related("ir")
    assert "nisa.activation" in line
    (line,) = report.related("source")
    assert "nisa.activation(" in line
    assert "ACTIVATE" in report.one("#inspector strong").text
    wait = report.one("#listing .row.chosen .wait")
    expected = wait.get_attribute("title").rpartition("go to ")[2]
    assert expected.startswith("#")
    wait.click()
    report.settle()
    assert report.one("#inspector strong").text == expected
    number = re.match(r"#(\d+)", expected)[1]
    assert report.one("#listing .row.chosen .gutter").text == number
    assert "signal(" in report.one("#listing .row.chosen").text
    # In the tab of a queue, a wait leads to the tab of the other queue.
    report.click("#listing [role=tab]:nth-child(2)")
    queue = report.one("#listing [role=tab][aria-selected=true]").text
    report.click("#listing .row .wait")
    assert report.one("#listing [role=tab][aria-selected=true]").text != queue
    assert report.one("#listing .row.chosen")


def test_panes_are_used_with_the_keyboard_alone(open_report: Any):
    report = open_report("unrolled")
    body = report.one("body")
    reached: list[str] = []
    for _ in range(60):
        ActionChains(report.driver).send_keys(Keys.TAB).perform()
        reached.append(report.run("return document.activeElement.id"))
    assert {"source-rows", "ir-rows", "listing-rows", "timeline-canvas", "divider"} <= set(reached)
    report.run("document.getElementById('listing-rows').focus()")
    active = report.one("#listing-rows")
    active.send_keys(Keys.HOME)
    assert report.one("#listing .row.chosen .gutter").text == "0"
    active.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert report.one("#listing .row.chosen .gutter").text == "2"
    chosen = active.get_attribute("aria-activedescendant")
    assert report.one(f"#{chosen}").get_attribute("aria-selected") == "true"
    before = report.one("#inspector strong").text
    active.send_keys("w")
    assert report.one("#inspector strong").text != before
    active.send_keys(Keys.END)
    count = len(trace(unrolled, 512).programs()[0].instructions)
    assert report.one("#listing .row.chosen .gutter").text == str(count - 1)
    body.send_keys(Keys.ESCAPE)
    assert report.all(".row.related, .row.chosen") == []


def picture(report: Page) -> str:
    report.settle()
    return report.run("return document.getElementById('timeline-canvas').toDataURL()")


def test_the_timeline_is_drawn_zoomed_and_clicked(open_report: Any):
    report = open_report("unrolled")
    traced = trace(unrolled, 512)
    queues = [queue.name for queue in traced.programs()[0].queues]
    assert report.run("return page.timeline.tracks.map((track) => track.queue.name)") == queues
    whole = picture(report)
    drawn = int(report.one("#timeline-canvas").get_attribute("data-drawn"))
    assert drawn > 10
    canvas = report.one("#timeline-canvas")
    # After zooming with the wheel, the time under the pointer is unchanged.
    origin = webdriver.common.actions.wheel_input.ScrollOrigin.from_element(canvas, 0, 0)
    for _ in range(8):
        ActionChains(report.driver).scroll_from_origin(origin, 0, -120).perform()
    zoomed = picture(report)
    assert zoomed != whole
    length = report.run("return page.timeline.viewport.length / page.timeline.viewport.whole")
    assert length == pytest.approx(1.25**-8, rel=1e-6)
    assert int(canvas.get_attribute("data-drawn")) < drawn
    # Dragged, it shows another time.
    begin = report.run("return page.timeline.viewport.begin")
    ActionChains(report.driver).drag_and_drop_by_offset(canvas, -100, 0).perform()
    assert report.run("return page.timeline.viewport.begin") > begin
    assert picture(report) != zoomed
    report.click("#zoom-fit")
    assert picture(report) == whole
    report.click("#zoom-in")
    assert picture(report) != whole
    canvas.send_keys("0")
    assert picture(report) == whole
    # Critical path only, and other colours.
    report.click("#show-path")
    assert picture(report) != whole
    report.click("#show-path")
    assert picture(report) == whole


def test_a_click_on_a_bar_selects_its_instruction(open_report: Any):
    report = open_report("unrolled")
    timeline = trace(unrolled, 512).profile().timeline
    # A long one, which the whole timeline shows.
    number, event = max(enumerate(timeline.events), key=lambda e: e[1].free - e[1].begin)
    box = report.run(f"return page.timeline.box({number})")
    canvas = report.one("#timeline-canvas")
    size = canvas.size
    offset = (
        int(box["x"] + box["width"] / 2 - size["width"] / 2),
        int(box["y"] + box["height"] / 2 - size["height"] / 2),
    )
    pointer = ActionChains(report.driver).move_to_element_with_offset(canvas, *offset)
    pointer.perform()
    tooltip = report.one("#tooltip").text
    name = f"#{event.instruction.number} {event.instruction.mnemonic}"
    assert tooltip.startswith(name)
    assert f"begins after: {event.reason.value}" in tooltip
    pointer.click().perform()
    report.settle()
    assert report.one("#inspector strong").text.startswith(name)
    assert report.one("#listing .row.chosen .gutter").text == str(event.instruction.number)
    assert report.run("return page.timeline.selected") == number
    # The next instruction, and another queue, with the keyboard.
    canvas.send_keys(Keys.ARROW_RIGHT)
    behind = report.run("return page.timeline.selected")
    same = [e for e in timeline.events if e.instruction.queue is event.instruction.queue]
    assert timeline.events[behind] is same[same.index(event) + 1]
    canvas.send_keys(Keys.ARROW_UP)
    assert report.run("return page.timeline.selected") != behind


def test_lines_lead_from_the_signals_of_an_instruction(open_report: Any):
    report = open_report("looped")
    timeline = trace(looped, 512).profile().timeline
    events = list(timeline.events)
    numbers = {id(event): number for number, event in enumerate(events)}
    checked = 0
    for number, event in enumerate(events):
        if event.wait is None:
            continue
        before = report.run(f"return page.model.eventsBefore({number})")
        assert numbers[id(event.cause)] in before
        assert number in report.run(f"return page.model.eventsBehind({numbers[id(event.cause)]})")
        checked += 1
    assert checked > 8


def test_the_iterations_of_a_loop_are_gone_through(open_report: Any):
    report = open_report("looped")
    rows = report.all("#listing .row")
    next(r for r in rows if "TENSOR_SCALAR" in r.text).find_element(
        By.CSS_SELECTOR, ".mnemonic"
    ).click()
    report.settle()
    assert "iteration 1 of 4" in " ".join(report.one("#inspector").text.split())
    first = report.run("return page.event")
    report.click("#inspector button[aria-label='Next iteration']")
    assert "iteration 2 of 4" in " ".join(report.one("#inspector").text.split())
    assert report.run("return page.event") != first
    assert report.run("return page.timeline.loops.map((band) => band.iterations.length)") == [4]


def test_profile_memory_and_findings_lead_to_the_code(open_report: Any):
    report = open_report("unrolled")
    report.view("profile")
    place = report.one("#view-profile td button.link")
    line = int(place.text.rpartition(":")[2])
    place.click()
    report.settle()
    assert report.one("#source .row.chosen .gutter").text == str(line)
    assert report.is_in_view("#source .row.chosen")
    report.view("memory")
    assert report.run(
        "const canvas = document.querySelector('#view-memory .map canvas');"
        "const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        "return new Set(new Uint32Array(pixels.data.buffer)).size > 4"
    )
    report.click("#view-memory .tiles summary")
    report.click("#view-memory td button.link")
    assert "nki.alloc" in report.one("#ir .row.chosen").text


def test_a_kernel_with_errors_says_so(open_report: Any):
    report = open_report("wrong")
    assert "no listing and no timeline" in report.one("#missing").text
    assert report.all("#listing") == []
    assert not report.one("#timeline").is_displayed()
    assert not report.one("#tab-profile").is_displayed()
    finding = report.one(".finding.error")
    assert "must be in hbm or sbuf" in finding.text
    report.click(".finding.error button.link")
    number = line_of("nisa.dma_copy(dst=out, src=total)")
    assert report.one("#source .row.chosen .gutter").text == str(number)
    assert "error" in report.one("#source .row.chosen .gutter").get_attribute("class")
    (line,) = report.related("ir")
    assert "nisa.dma_copy dst=%out, src=%total" in line


def test_without_source_there_are_two_panes(open_report: Any):
    report = open_report("bare")
    assert [pane.get_attribute("id") for pane in report.all(".pane")] == ["ir", "listing"]
    report.click("#listing .row .mnemonic")
    assert report.count("ir") == "1 related"


def test_without_a_timeline_there_is_a_listing(open_report: Any):
    report = open_report("untimed")
    assert "no timeline: the queues wait" in report.one("#missing").text
    assert not report.one("#timeline").is_displayed()
    report.click("#listing .row:nth-child(3) .mnemonic")
    assert report.count("ir") == "1 related"
    report.view("memory")
    assert report.all("#view-memory option[value=time]") == []


def test_the_values_of_a_line_are_shown_with_its_iterations(open_report: Any):
    report = open_report("recorded")
    line = line_of("nisa.dma_copy(dst=out[nl.ds(i, 128)], src=tile)", "looped")
    report.click_line("source", line)
    # Selecting the line shows the run whose values are the worst.
    wrote = report.one("#wrote").text
    assert "dst = out: 128x64 float32" in wrote
    assert "1 NaN" in wrote
    assert "run 2 of 4" in wrote
    assert "NaN in 1 of 4 runs, first in #5" in wrote
    assert report.all(".inspector canvas.thumbnail")
    report.click("#run-before")
    assert "1 zero" in report.one("#wrote").text
    assert "NaN" not in report.texts("#wrote .bad")[0:-1]
    assert report.one("#show-values").text == "values (4 instructions)"
    report.click("#show-values")
    assert report.one("#tab-values").get_attribute("aria-selected") == "true"
    assert report.one("#step").text == f"#2 nisa.dma_copy test_report_browser.py:{line} i=0"
    assert [text for text in report.texts(".operand .bad") if text] == []
    # Other instructions are listed only on request.
    assert len(report.all("#steps .row")) == 4
    report.click("#step-on")
    assert report.one("#step").text == f"#5 nisa.dma_copy test_report_browser.py:{line} i=128"
    assert report.texts(".operand h3") == [
        "wrote dst = out: 128x64 float32",
        "read src = tile: 128x64 float32",
    ]
    assert report.texts(".operand .bad") == ["1 NaN", "1 NaN"]
    low, high = 2 * 128 * 64, 2 * (256 * 64 - 1)
    assert f"min {low}, max {high}" in report.texts(".operand .statistics")[0]
    canvases = "return [...document.querySelectorAll('.operand canvas')].map((c) => c.ariaLabel)"
    assert [label.partition(":")[0] for label in report.run(canvases)] == [
        "Heat map", "Histogram", "Heat map", "Histogram",
    ]  # fmt: skip
    # The NaN, in partition 2 and column 7, has a colour of its own.
    colour = (
        "const canvas = document.querySelector('.operand canvas');"
        "const { width, height } = canvas;"
        "const all = canvas.getContext('2d').getImageData(0, 0, width, height).data;"
        "const at = (x, y) => {"
        "  const first = 4 * (Math.floor(y * height) * width + Math.floor(x * width));"
        "  return [...all.slice(first, first + 4)].join();"
        "};"
        "return [at(7.5 / 64, 2.5 / 128), at(7.5 / 64, 100 / 128), at(40 / 64, 2.5 / 128)];"
    )
    nan, below, right = report.run(colour)
    assert nan not in (below, right)
    report.click("#all-steps")
    assert len(report.all("#steps .row")) == 12


def test_writers_of_nan_are_marked_and_the_first_is_a_click_away(open_report: Any):
    report = open_report("recorded")
    figures = report.one("#figures").text
    assert "wrote NaN, Inf\n3 instructions" in figures
    lines = SOURCE[line_of("for i in nl.dynamic_range(0, 512, 128):", "looped") - 1 :]
    marked = [row.split("nisa.")[-1] for row in report.texts("#source .row:has(.mark.bad)")]
    # The three of the loop, one of them in a helper that it calls.
    assert len([row for row in marked if "twice(tile)" in row or "dma_copy" in row]) == 3, lines[:4]
    assert len(marked) == 4
    assert len(report.all("#ir .row:has(.mark.bad)")) == 3
    # The instruction that starts a transfer writes nothing.
    mnemonics = report.texts("#listing .row:has(.mark.bad) .mnemonic")
    assert sorted(mnemonics) == ["DMA_COPY", "DMA_COPY", "TENSOR_SCALAR"]
    title = report.one("#ir .mark.bad").get_attribute("title")
    assert title == "wrote NaN in 1 of 4 runs, first in #3"
    # From anywhere to the first.
    report.click("#turns button")
    assert "run 2 of 4" in report.one("#wrote").text
    assert report.is_in_view("#ir .row.chosen")
    report.view("values")
    assert report.one("#step").text.startswith("#3 nisa.dma_copy")
    assert report.one(".turn h3").text == "the first NaN or infinity"
    assert "nisa.dma_copy read it in x: tile[2, 7] is nan (i=128)" in report.one(".turn pre").text
    assert report.one("#steps .told").text == "3 marked"
    report.click("#steps .steps [title='Next marked instruction']")
    assert report.one("#step").text.startswith("#4 nisa.tensor_scalar")
    # An address leads there.
    address = report.run("return location.hash")
    assert "view=values" in address
    assert address.endswith("values=4")
    report.open(Path(report.run("return location.pathname")), "#view=values&values=5")
    assert report.one("#step").text.startswith("#5 nisa.dma_copy")
    report.click("button.turn")
    assert report.one("#step").text.startswith("#3 nisa.dma_copy")


def test_a_closed_fold_shows_its_marks(open_page: Any, tmp_path: Path):
    record = unrolled.record(recorded_input())
    wrong = {
        each.operation
        for each in record.instructions
        if not all(np.isfinite(array).all() for array in each.results.values())
    }
    page = tmp_path / "page.html"
    page.write_text(record.report(), encoding="utf-8")
    report = open_page(page)
    report.run("page.irPane.setFolded(true)")
    report.settle()
    told = [re.search(r"([\d,]+) marked$", text) for text in report.texts("#ir .row.fold")]
    hidden = sum(int(each[1]) for each in told if each)
    assert hidden > 0
    assert hidden + len(report.all("#ir .row:has(.mark.bad)")) == len(wrong)


def test_the_run_that_the_timeline_shows_is_the_one_whose_values_are_shown(open_report: Any):
    report = open_report("recorded")
    report.run("page.selectItem(page.model.items.findIndex((i) => i.mnemonic === 'TENSOR_SCALAR'))")
    report.settle()
    assert "iteration 1 of 4" in report.one("#inspector").text
    assert "run 1 of 4" in report.one("#wrote").text
    report.click("[aria-label='Next iteration']")
    assert "run 2 of 4" in report.one("#wrote").text


def test_omitted_pictures_are_reported(open_page: Any, tmp_path: Path, monkeypatch: Any):
    monkeypatch.setattr(report_values, "MOST_STEPS", 9)
    monkeypatch.setattr(report_values, "MOST_PICTURED", 3)
    page = tmp_path / "page.html"
    page.write_text(looped.record(recorded_input()).report(), encoding="utf-8")
    report = open_page(page)
    report.view("values")
    told = report.one("#values-told").text
    assert told == "9 of 12 instructions are listed; 6 of 9 instructions have pictures"
    assert not any("no picture" in text for text in report.texts("#values .operand"))
    # Three places: of each the last run, and the first with a NaN; in between figures alone.
    report.run("page.showStep(page.recorded.rows.get(6))")
    assert "no picture" in report.one("#values .operand").text
    assert "min 16384, max 24575" in report.one("#values .operand").text


def test_a_tile_is_in_use_from_its_write_not_from_the_load_of_a_table(
    open_page: Any, tmp_path: Path
):
    page = tmp_path / "page.html"
    page.write_text(trace(activated, 128).report(), encoding="utf-8")
    report = open_page(page)
    report.view("memory")
    begin, table, activate = report.run(
        "const [map] = page.memory.charts;"
        "const of = (name) => page.model.items.findIndex(({ mnemonic }) => mnemonic === name);"
        "const at = (item) => page.data.events.begin[page.model.eventsOfItem[item][0]];"
        "return [map.known[map.tiles.findIndex(({ name }) => name === 'made')][0],"
        "  at(of('LOAD_TABLE')), at(of('ACTIVATE'))];"
    )
    assert begin == activate
    assert table < activate
    assert "no tiles" in report.one("#view-memory").text  # in PSUM


def test_text_stays_text(open_report: Any):
    report = open_report("unrolled")
    number = line_of(
        '"""Text that must stay text: </script><script>alert(1)</script> <b>bold</b> &amp;"""'
    )
    report.run(f"page.sourcePane.reveal({number - 1})")
    report.settle()
    assert SOURCE[number - 1] in report.one(f"#source-{number - 1}").get_property("textContent")
    assert report.all("b") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "view"), [("unrolled", "code"), ("recorded", "values")])
def test_text_is_legible(open_report: Any, scheme: str, name: str, view: str):
    report = open_report(name)
    report.scheme(scheme)
    report.settle()
    report.click("#listing .row:nth-child(5) .mnemonic")
    report.view(view)
    colours = report.run(
        """
        const opaque = (element) => {
          for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!colour.endsWith(", 0)") && colour !== "transparent" && !colour.includes("/")
              && !/rgba/.test(colour)) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        return [...document.querySelectorAll("span, p, button, td, dt, dd, h1, h2, label")]
          .filter((e) => e.offsetParent !== null && e.innerText.trim() && !e.disabled)
          .map((e) => [getComputedStyle(e).color, opaque(e), e.className, e.innerText]);
        """
    )
    assert len(colours) > 80
    for text, background, style, words in colours:
        assert contrast(text, background) >= 4.5, (style, words, text, background)
    page = report.run("return getComputedStyle(document.body).backgroundColor")
    assert contrast(page, "rgb(0, 0, 0)" if scheme == "dark" else "rgb(255, 255, 255)") < 2


def test_it_is_printed_in_full(open_report: Any):
    report = open_report("unrolled")
    report.scheme("dark")
    document = report.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    data = base64.b64decode(document["data"])
    assert data.startswith(b"%PDF")
    assert int(re.search(rb"/Count (\d+)", data)[1]) > 3
    report.settle()
    assert [view.get_attribute("id") for view in report.all(".view") if view.is_displayed()] == [
        "view-code"
    ]


def test_ten_thousand_instructions_answer_at_once(open_report: Any):
    report = open_report("large")
    assert report.run("return page.model.items.length") > 10_000
    actions = (
        "document.querySelector('#ir-200 .gutter').click()",
        f"page.selectLine(page.source, {line_of('twice(tile)', 'unrolled')})",
        "page.selectItem(9000, -1, true)",
        "page.timeline.viewport.zoom(50)",
        "page.timeline.viewport.fit()",
        "page.showView('memory')",
    )
    report.run("page.irPane.reveal(200)")
    report.settle()
    for action in actions:
        taken = report.driver.execute_async_script(
            "const done = arguments[0]; const start = performance.now();"
            f"{action}; requestAnimationFrame(() => setTimeout(() => "
            "done(performance.now() - start), 0));"
        )
        assert taken < 1000, action
    # Items narrower than a pixel are drawn together.
    report.view("code")
    assert 100 < int(report.one("#timeline-canvas").get_attribute("data-drawn")) < 5000


def test_a_screenshot_can_be_taken(open_report: Any, tmp_path: Path):
    report = open_report("unrolled")
    assert report.driver.save_screenshot(str(tmp_path / "report.png"))
    assert (tmp_path / "report.png").stat().st_size > 20_000
