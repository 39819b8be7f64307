"""Reading a report in a browser: search, address, ranges, folds, two kernels, paper."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import TensorSpec
from nkijit.traced.kernel import TracedKernel

webdriver = pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from support.browser import Report as Page  # noqa: E402
from support.browser import in_a_browser  # noqa: E402

pytestmark = in_a_browser()

SOURCE = Path(__file__).read_text(encoding="utf-8").splitlines()


@nki.jit
def product(a, b):
    (inner, rows), (_, columns) = a.shape, b.shape
    out = nl.ndarray((rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)
    for m in range(0, rows, 128):
        total = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.psum)
        for k in range(0, inner, 128):
            left = nl.load(a[k : k + 128, m : m + 128])
            right = nl.load(b[k : k + 128])
            nisa.nc_matmul(dst=total, stationary=left, moving=right, accumulate=k > 0)
        sums = nl.ndarray((128, columns), dtype=a.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=sums, src=total)  # unique words
        nl.store(out[m : m + 128], sums)
    return out


@nki.jit
def halved(a, b):
    (inner, rows), (_, columns) = a.shape, b.shape
    out = nl.ndarray((rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)
    for m in range(0, rows, 128):
        total = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.psum)
        for k in range(0, inner // 2, 128):
            left = nl.load(a[k : k + 128, m : m + 128])
            right = nl.load(b[k : k + 128])
            nisa.nc_matmul(dst=total, stationary=left, moving=right, accumulate=k > 0)
        sums = nl.ndarray((128, columns), dtype=a.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=sums, src=total)
        nl.store(out[m : m + 128], sums)
    return out


def trace(kernel: Any, rows: int = 1024) -> TracedKernel:
    return kernel.trace(TensorSpec((1024, rows), "bfloat16"), TensorSpec((1024, 512), "bfloat16"))


@pytest.fixture(scope="module")
def traced() -> TracedKernel:
    return trace(product)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, traced: TracedKernel) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    pages = {
        "product": traced.report(advise=True, against=trace(halved)),
        "large": trace(product, 1024 * 8).report(),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture
def report(open_page: Any, files: dict[str, Path]) -> Page:
    return open_page(files["product"])


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE, 1) if line.strip() == text)


MATMUL = "nisa.nc_matmul(dst=total, stationary=left, moving=right, accumulate=k > 0)"


def typed(report: Page, text: str) -> None:
    report.one("#search-input").clear()
    report.one("#search-input").send_keys(text)
    report.settle()


# ------------------------------------------------------------------ search


def test_text_is_found_in_rows_that_are_not_in_the_document(report: Page, traced: TracedKernel):
    report.one("body").send_keys("/")
    assert report.run("return document.activeElement.id") == "search-input"
    typed(report, "NC_" + "MATMUL")  # not as one, for this file is searched
    assert report.one("#search-told").text == "nothing found"
    typed(report, "nc_matmul")
    lines = [n for n, line in enumerate(traced.text().splitlines(), 1) if "nc_matmul" in line]
    sources = sum("nc_matmul" in line for line in SOURCE)
    assert len(lines) == 64
    assert report.texts("#search-scopes button") == [
        "All", f"Source {sources}", "IR 64", "Listing 0",
    ]  # fmt: skip
    report.click("#search-scopes button:nth-child(3)")
    field = report.one("#search-input")
    field.send_keys(Keys.ENTER, Keys.SHIFT + Keys.ENTER)
    report.settle()
    # The last one, in an iteration that was folded.
    assert report.one("#search-told").text == "64 of 64"
    assert report.one("#ir .row.chosen .gutter").text == str(lines[-1])
    assert report.is_in_view("#ir .row.chosen")
    assert report.one("#source .row.related .gutter").text == str(line_of(MATMUL))
    assert report.run("return CSS.highlights.get('found-ir').size") > 0
    words = "return [...CSS.highlights.get('found-ir')].map(String)"
    assert set(report.run(words)) == {"nc_matmul"}
    field.send_keys(Keys.ENTER)
    assert report.one("#search-told").text == "1 of 64"
    field.send_keys(Keys.ESCAPE)
    assert not report.one("#search").is_displayed()
    assert report.all(".row.hit") == []


def test_numbers_are_gone_to(report: Page):
    ActionChains(report.driver).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    typed(report, "#40")
    assert report.texts("#search-results .where")[0] == "go to #40"
    report.one("#search-input").send_keys(Keys.ENTER)
    assert report.one("#listing .row.chosen .gutter").text == "40"
    assert report.one("#inspector strong").text.startswith("#40 ")
    number = line_of(MATMUL)
    for text in (f":{number}", f"{Path(__file__).name}:{number}"):
        typed(report, text)
        report.one("#search-input").send_keys(Keys.ENTER)
        assert report.one("#source .row.chosen .gutter").text == str(number)
    typed(report, "12")
    assert report.texts("#search-results .where")[:3] == [
        f"go to {Path(__file__).name}:12", "go to #12", "go to IR 12",
    ]  # fmt: skip


def test_shortcuts_are_shown(report: Page):
    report.one("body").send_keys("?")
    assert report.one("#keys").is_displayed()
    assert "search source, IR and listing" in report.one("#keys").text
    report.click("#keys-close")
    assert not report.one("#keys").is_displayed()


# ------------------------------------------------------------------ the address


def test_the_address_opens_the_same_selection(open_page: Any, files: dict[str, Path]):
    report = open_page(files["product"])
    line = line_of("nisa.tensor_copy(dst=sums, src=total)  # unique words")
    actions = {
        f"line={Path(__file__).name}:{line}": lambda: report.click_line("source", line),
        "instruction=40": lambda: report.run("page.selectItem(40, -1, true)"),
        "ir=30": lambda: report.run("page.irPane.pick(29)"),
    }
    report.run("page.timeline.setRange(1000, 3000)")
    kept: dict[str, str] = {}
    for part, action in actions.items():
        action()
        report.run("page.timeline.viewport.set(2000, 4000)")
        report.settle()
        fragment = report.run("return location.hash")
        assert set(fragment[1:].split("&")) == {part, "range=1000-3000", "shown=2000-4000"}
        kept[fragment] = report.run("return JSON.stringify(page.state())")
    report.view("memory")
    kept[report.run("return location.hash")] = report.run("return JSON.stringify(page.state())")
    assert any("view=memory" in fragment for fragment in kept)
    for fragment, state in kept.items():
        report = open_page(files["product"], fragment=fragment)
        assert report.run("return JSON.stringify(page.state())") == state
    # Back to the previous selection.
    report.run("page.address.last = -1e9; page.selectItem(50, -1, true)")
    report.run("page.address.last = -1e9; page.selectItem(60, -1, true)")
    report.driver.back()
    report.settle()
    assert report.texts("#inspector strong")[0].startswith("#50 ")


@pytest.mark.parametrize(
    "fragment",
    ["#instruction=99999&range=a-b", "#line=nowhere.py:3&view=nothing", "#ir=-1&%E0%A4%A", "#view",
     "#view=<b>&instruction=constructor&line=__proto__:1&range=9-1&shown=5-5"],
)  # fmt: skip
def test_meaningless_addresses_are_ignored(open_page: Any, files: dict[str, Path], fragment: str):
    report = open_page(files["product"], fragment=fragment)
    assert report.all(".row.chosen") == []
    assert report.one("#view-code").is_displayed()


# ------------------------------------------------------------------ time


def test_a_range_of_time_has_statistics(report: Page, traced: TracedKernel):
    canvas = report.one("#timeline-canvas")
    ActionChains(report.driver).move_to_element_with_offset(
        canvas, 0, -canvas.size["height"] // 2 + 8
    ).click_and_hold().move_by_offset(200, 0).release().perform()
    report.settle()
    begin, end = report.run("return [page.timeline.range.begin, page.timeline.range.end]")
    assert report.one("#statistics").is_displayed()
    events = list(traced.profile().timeline.events)
    inside = [e for e in events if e.begin < end and e.end > begin]
    assert f"instructions {len(inside):,}" in report.one("#statistics").text
    # How busy a queue is: time that is covered by something, counted in small steps.
    shown = dict(
        zip(
            report.texts(".busy-queues td:first-child"),
            report.texts(".busy-queues td:nth-child(2)"),
            strict=True,
        )
    )
    steps = 4000
    for name, share in shown.items():
        queue = [e for e in events if e.instruction.queue.name == name]
        times = (begin + (end - begin) * (n + 0.5) / steps for n in range(steps))
        covered = sum(any(e.begin <= time < e.free for e in queue) for time in times)
        assert float(share[:-1]) == pytest.approx(100 * covered / steps, abs=0.4), name
    # The statistics of the whole range equal those of the profile.
    report.run("page.timeline.setRange(0, page.model.duration)")
    profile = traced.profile()
    computed = report.run(
        "const s = statisticsOf(page.model, 0, page.model.duration); return [s.flops, s.bytes]"
    )
    assert computed[0] == pytest.approx(2 * 1024**2 * 512)
    assert computed[0] == pytest.approx(profile.roofline.flops)
    assert computed[1] == pytest.approx(sum(moved.bytes for moved in profile.moved), rel=1e-6)
    report.run("page.timeline.setRange(1000, 2000)")
    report.click("#range-zoom")
    viewport = "return [page.timeline.viewport.begin, page.timeline.viewport.end]"
    assert report.run(viewport) == [1000, 2000]
    report.click(".top-lines button.link")
    assert report.all("#source .row.chosen")
    report.click("#range-clear")
    assert not report.one("#statistics").is_displayed()


def test_help_fills_the_space_of_the_selection(report: Page):
    """Without a selection, that space has as many lines as with one, so that nothing moves."""
    lines = report.texts("#inspector p")
    assert len(lines) == 3
    assert lines[0].startswith("Click a line, or a bar of the timeline")
    assert "critical path" in lines[1]


def test_the_legend_explains_the_colours(report: Page, traced: TracedKernel):
    mnemonics = {i.mnemonic for p in traced.programs() for i in p.instructions}
    assert set(report.texts("#legend button")) == mnemonics
    picture = "return document.getElementById('timeline-canvas').toDataURL()"
    before = report.run(picture)
    report.click("#legend button")
    report.settle()
    assert report.one("#legend button").get_attribute("aria-pressed") == "true"
    assert report.run(picture) != before
    report.click("#legend button")
    report.settle()
    assert report.run(picture) == before


# ------------------------------------------------------------------ long kernels


def test_iterations_are_folded(open_page: Any, files: dict[str, Path]):
    report = open_page(files["large"])
    folds = report.texts("#ir .fold")
    assert len(folds) == 2
    # The first product overwrites: it is no iteration of the loop that adds to it.
    assert "iterations 2 to 7 of 7" in folds[0]
    assert "iterations 2 to 64 of 64" in folds[1]
    hidden = int(re.search(r"([\d,]+) rows", folds[1])[1].replace(",", ""))
    assert hidden > 3000
    length = report.run("return page.irPane.length")
    assert length < 60
    report.click("#ir .fold")
    assert report.texts("#ir .fold .gutter")[0] == "▾"
    assert report.run("return page.irPane.length") > length
    # A selected line is shown, wherever it is.
    report.click_line("ir", 3000)
    assert report.one("#ir .row.chosen .gutter").text == "3000"
    assert report.run("return page.irPane.length") > 1000
    report.click("#ir .folds")
    assert report.run("return page.irPane.length") == length
    report.click("#ir .folds")
    assert report.run("return page.irPane.length") > 3000
    # Five digits have room.
    widths = report.run(
        "const gutter = document.querySelector('#ir .row .gutter');"
        "page.irPane.rows.style.setProperty('--digits', '6ch');"
        "return [gutter.clientWidth, gutter.scrollWidth];"
    )
    assert widths[0] >= widths[1]


def test_the_same_instruction_of_other_iterations_is_gone_to(report: Page, traced: TracedKernel):
    lines = traced.text().splitlines()
    products = [n for n, line in enumerate(lines, 1) if "nc_matmul" in line]
    report.click_line("ir", products[0])
    # The first product overwrites: it is in the loop over m only.
    assert "unrolled iteration 1 of 8 " in " ".join(report.one("#inspector").text.split())
    for number in products[1:3]:
        report.click("#iteration-behind")
        assert report.one("#ir .row.chosen .gutter").text == str(number)
    assert "unrolled iteration 1 of 8, 2 of 7" in " ".join(report.one("#inspector").text.split())
    report.click("#iteration-before")
    assert report.one("#ir .row.chosen .gutter").text == str(products[1])
    # An engine instruction leads to the same of its kind.
    report.run(
        "page.selectItem(page.model.items.findIndex((i) => i.mnemonic === 'MULTIPLY_MOVING'))"
    )
    report.click("#iteration-behind")
    assert "MULTIPLY_MOVING" in report.one("#inspector strong").text
    assert "MULTIPLY_MOVING" in report.one("#listing .row.chosen").text


def test_keys_pass_over_folds(open_page: Any, files: dict[str, Path]):
    report = open_page(files["large"])
    fold = report.run("return page.irPane.rowAt.findIndex((row) => row < 0)")
    report.run(f"page.irPane.rows.focus(); page.irPane.pick({fold - 1})")
    report.one("#ir-rows").send_keys(Keys.ARROW_DOWN)
    row = int(report.one("#ir .row.chosen .gutter").text) - 1
    assert row > fold
    assert report.run(f"return page.irPane.position({row})") == fold + 1
    report.one("#ir-rows").send_keys(Keys.ARROW_UP)
    assert report.one("#ir .row.chosen .gutter").text == str(fold)


def test_operands_are_in_view_at_1280_pixels(report: Page):
    rows = report.all("#listing .row")
    row = next(row for row in rows if "MULTIPLY_MOVING" in row.text)
    text = row.text
    assert re.search(r"dst=\w+, moving=\w+", text)
    assert "[psum" not in text
    report.click("#addresses")
    row = next(r for r in report.all("#listing .row") if "MULTIPLY_MOVING" in r.text)
    assert "[psum" in row.text
    report.click("#addresses")
    right = report.run(
        "const row = [...document.querySelectorAll('#listing .row')]"
        ".find((each) => each.textContent.includes('MULTIPLY_MOVING'));"
        "const range = document.createRange();"
        "const text = row.querySelector('.mnemonic').nextSibling;"
        "range.setStart(text, 0); range.setEnd(text, text.data.indexOf('moving=') + 7);"
        "return range.getBoundingClientRect().right"
    )
    assert right < 1280


def test_maps_name_their_tiles_and_explain_addresses(report: Page):
    report.view("memory")
    names = report.texts("#view-memory .space-map:first-of-type .names span")
    assert any(re.fullmatch(r"left ×\d+", name) for name in names)
    text = report.one("#view-memory").text
    assert "live at the peak" in text
    assert "addresses up to" in text
    report.click("#view-memory details summary")
    assert "do not overlap" in report.one("#view-memory details .words").text


# ------------------------------------------------------------------ findings, advice, two kernels


def test_findings_underline_and_explain_their_subject(report: Page, traced: TracedKernel):
    report.view("findings")
    finding = report.one("#view-findings .finding")
    (found, *_) = traced.diagnostics
    marked = "".join(
        element.get_property("textContent")
        for element in finding.find_elements(By.CSS_SELECTOR, ".snippet .marked")
    )
    spans = [(span.start.line, *span.columns(span.start.line)) for span in found.marked]
    assert marked == "".join(SOURCE[line - 1][first - 1 : last] for line, first, last in spans)
    assert marked
    finding.find_element(By.CSS_SELECTOR, "summary").click()
    assert found.rule.sentence in finding.find_element(By.CSS_SELECTOR, ".explanation dl").text


def test_advice_has_gains_and_places(report: Page, traced: TracedKernel):
    report.view("advice")
    suggestions = traced.advice().suggestions
    assert suggestions
    gains = [f"−{100 * s.gain:.1f}%" for s in suggestions]
    assert report.texts(".suggestion .gain") == gains
    report.click(".suggestion button.link")
    assert report.one("#source .row.chosen .gutter").text == str(suggestions[0].place.line)


def test_two_kernels_are_shown_side_by_side(report: Page):
    report.view("compare")
    head = report.texts(".compared-figures th")
    assert head == ["", "product", "halved", "change"]
    assert len(report.all("#view-compare .map canvas")) == 2
    ratio = report.run(
        "return page.compared.model.data.profile.time / page.compared.other.data.profile.time"
    )
    assert ratio > 1.2
    assert f"+{100 * (ratio - 1):.1f}%" in report.texts(".compared-figures td .more")
    # They are in one file: the halves of a row show both functions.
    (row,) = (text for text in report.texts("#compared .row") if MATMUL in text)
    assert row.count(MATMUL) == 2
    assert "def product" in report.texts("#compared .half")[2]
    assert "def halved" in report.texts("#compared .half")[3]
    counts = report.texts("#view-compare td")
    at = counts.index("tensor MULTIPLY_MOVING")
    assert counts[at : at + 4] == ["tensor MULTIPLY_MOVING", "64", "32", "+32"]
    # Both axes are zoomed together.
    pictures = (
        "return [...document.querySelectorAll('#view-compare .map canvas')]"
        ".map((canvas) => canvas.toDataURL())"
    )
    before = report.run(pictures)
    report.run("page.compared.timelines[0].viewport.zoom(4)")
    report.settle()
    assert all(a != b for a, b in zip(before, report.run(pictures), strict=True))


# ------------------------------------------------------------------ other screens, paper


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_telephone_shows_everything(open_page: Any, files: dict[str, Path], scheme: str):
    report = open_page(files["product"], 390, 844)
    report.scheme(scheme)
    for tab in report.all(".views [role=tab]"):
        if "hidden" not in (tab.get_attribute("outerHTML").partition(">")[0]):
            report.run(f"document.getElementById('{tab.get_attribute('id')}').click()")
            report.settle()
            assert report.run("return document.documentElement.scrollWidth") <= 390
    report.view("code")
    # One pane at a time, tall enough to read.
    shown = [pane for pane in report.all(".pane") if pane.is_displayed()]
    assert [
        pane.get_attribute("id") for pane in shown if pane.get_attribute("id") != "compared"
    ] == ["source"]
    assert shown[0].size["height"] > 250
    # Down to the edge of the window.
    assert (
        report.run("return document.querySelector('#source').getBoundingClientRect().bottom") == 844
    )
    report.click("#pane-listing")
    assert report.one("#listing").is_displayed()
    assert not report.one("#source").is_displayed()
    # The items related to a selection are in view when their pane is chosen.
    report.run("page.selectItem(40, -1, true)")
    report.click("#pane-ir")
    assert report.is_in_view("#ir .row.related")


def test_paper_has_all_views_and_no_controls(report: Page):
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        report.run("window.dispatchEvent(new Event('beforeprint'))")
        report.settle()
        views = [v.get_attribute("id") for v in report.all(".view") if v.is_displayed()]
        assert views == [
            "view-code", "view-profile", "view-memory", "view-compare", "view-advice",
            "view-findings",
        ]  # fmt: skip
        for selector in ("#search-open", "#keys-open", ".steps", "#zoom-in", ".views"):
            assert not report.one(selector).is_displayed(), selector
        assert report.one("#legend").is_displayed()
        wide = "return [document.documentElement.scrollWidth, window.innerWidth]"
        scroll, inner = report.run(wide)
        assert scroll <= inner
        page = report.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        data = base64.b64decode(page["data"])
        assert 5 < int(re.search(rb"/Count (\d+)", data)[1]) < 60
    finally:
        report.run("window.dispatchEvent(new Event('afterprint'))")
        report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    report.settle()
    assert [v.get_attribute("id") for v in report.all(".view") if v.is_displayed()] == ["view-code"]


def test_a_page_is_ready_within_a_second(open_page: Any, files: dict[str, Path]):
    """It has to hold for 50,000 instructions; this many leave room for slow machines."""
    report = open_page(files["large"])
    assert report.run("return page.model.items.length") > 3_000
    assert files["large"].stat().st_size < 1_000_000
    ready = "return performance.getEntriesByName('ready')[0].startTime"
    assert report.run(ready) < 2500


def test_instructions_have_the_same_colours_in_every_report(report: Page):
    """The frequent instructions, in reports of different kernels."""
    script = """
    const looks = (counts) =>
      Object.fromEntries(looksOfInstructions(new Map(Object.entries(counts))));
    return [looks({DMA_COPY: 1, ACTIVATE: 9}), looks({ACTIVATE: 1, DMA_COPY: 9, TOPK: 5, RNG: 1})];
    """
    one, other = report.run(script)
    assert one["DMA_COPY"] == other["DMA_COPY"]
    assert one["ACTIVATE"] == other["ACTIVATE"]
    assert len(set(other.values())) == 4


def test_line_numbers_stay_when_the_source_scrolls(report: Page):
    report.view("code")
    script = """
    const rows = document.querySelector("#source .rows");
    const left = () => rows.querySelector(".gutter").getBoundingClientRect().left;
    const before = left();
    const filler = document.createElement("div");
    filler.style.cssText = "width: 5000px; height: 1px";
    rows.append(filler);
    rows.scrollLeft = 60;
    return [rows.scrollLeft, left() - before];
    """
    scrolled, moved = report.run(script)
    assert scrolled == 60
    assert abs(moved) <= 1


def test_words_of_tables_are_explained(report: Page):
    report.view("profile")
    terms = " ".join(report.texts(".terms"))
    for word in {
        text.split(" (")[-1].strip(")") for text in report.texts("td") if "(true)" in text
    }:
        assert f"{word}: " in terms
    assert "semaphore: " in terms or "dispatch: " in terms
