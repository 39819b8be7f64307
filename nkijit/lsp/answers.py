"""What an analysis says, in the terms of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types
from pygls.workspace import TextDocument

from nkijit.lsp.facts import Analysis, KernelView, LineTime, Problem
from nkijit.lsp.places import Places, location_of, uri_of
from nkijit.passes.profile.units import percent, time_text

SHOW_IR = "nkijit.ir"
"""The command that opens the IR of a line."""

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}


def diagnostic_of(
    problem: Problem, document: TextDocument, *, related: bool, link: str | None
) -> types.Diagnostic:
    """A problem as editors show it.

    Args:
        problem: the problem.
        document: the file that it is in.
        related: whether the editor shows other places; else the message names them.
        link: where the rule is explained.
    """
    message = problem.message
    others: list[types.DiagnosticRelatedInformation] | None = None
    if related:
        others = [
            types.DiagnosticRelatedInformation(location_of(place, document), label)
            for place, label in problem.related
        ]
    else:
        message = "\n".join([message, *(f"{label}: {place}" for place, label in problem.related)])
    return types.Diagnostic(
        range=Places.of(document).range(problem.span),
        message=message,
        severity=_SEVERITIES[problem.severity],
        code=problem.rule,
        code_description=None if link is None else types.CodeDescription(link),
        source="nkijit",
        related_information=others,
    )


def inlay_hints_of(
    analysis: Analysis, document: TextDocument, lines: tuple[int, int]
) -> list[types.InlayHint]:
    """What each line is predicted to take, at its end.

    Args:
        analysis: what is known of the document.
        document: the file.
        lines: the first and the last line that are asked for.
    """
    places = Places.of(document)
    found: dict[int, LineTime] = {}
    for view in analysis.kernels:
        for each in view.lines:
            before = found.get(each.line)
            # Of a function that several kernels call, where it costs most.
            if before is None or before.time < each.time:
                found[each.line] = each
    return [
        types.InlayHint(
            places.end_of(line),
            _hint(each),
            padding_left=True,
            tooltip=f"{', '.join(each.mnemonics)}; predicted, on the critical path",
        )
        for line, each in sorted(found.items())
        if lines[0] <= line <= lines[1]
    ]


def _hint(each: LineTime) -> str:
    if each.time < 0.5:
        return f"{time_text(each.busy)} hidden · {each.queues[0]}"
    return f"{time_text(each.time)} · {percent(each.share)} · {each.queues[0]}"


def code_lenses_of(analysis: Analysis, document: TextDocument) -> list[types.CodeLens]:
    """What each kernel is predicted to take, and its IR, above its definition."""
    found: list[types.CodeLens] = []
    for view in analysis.kernels:
        start = Places.of(document).position(view.line, 1)
        at = types.Range(start, start)
        # No command: it is there to be read.
        found.append(types.CodeLens(at, command=types.Command(_total(view), "")))
        if view.ir_file is not None:
            found.append(types.CodeLens(at, command=ir_command("IR", document.uri, view.line)))
    return found


def _total(view: KernelView) -> str:
    """A kernel in a few words."""
    if view.time is not None:
        return f"{time_text(view.time)}, bound {view.bound}, {view.judged}"
    return view.note or f"{view.summary} {view.judged}"


def ir_command(title: str, uri: str, line: int) -> types.Command:
    """The command that opens the IR of a line, which counts from 1."""
    return types.Command(title, SHOW_IR, arguments=[uri, line - 1])


def ir_of_line(analysis: Analysis, line: int) -> types.Location | None:
    """The first operation of the IR that a line makes; that of a kernel for its definition."""
    for view in analysis.kernels:
        if view.ir_file is None:
            continue
        first = dict(view.ir_lines).get(line)
        if first is None and view.line <= line <= view.span.start.line:
            first = 2  # inside of the module
        if first is not None:
            start = types.Position(first - 1, 0)
            return types.Location(uri_of(view.ir_file), types.Range(start, start))
    return None


def hover_of(text: str, line: int, column: int, analysis: Analysis | None) -> types.Hover | None:
    """What is called at a place, and what its line is predicted to take.

    Args:
        text: the document.
        line: of the place, counted from 1.
        column: of the place, counted from 1.
        analysis: of this text; None while there is none.
    """
    # They import all of the API, which is needed here only.
    from nkijit.reference.catalogue import explain_as_markdown
    from nkijit.traced.call_names import function_at

    found = function_at(text, line, column)
    if found is None:
        return None
    parts = list(_costs(analysis.kernels, line)) if analysis is not None else []
    parts.append(explain_as_markdown(*found))
    content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(parts))
    return types.Hover(content)


def _costs(kernels: Sequence[KernelView], line: int) -> Iterator[str]:
    """What a line takes in each kernel."""
    for view in kernels:
        for each in view.lines:
            if each.line == line and view.time is not None:
                plural = "s" if each.instructions != 1 else ""
                yield (
                    f"**{time_text(each.time)}**, {percent(each.share)} of `{view.name}` "
                    f"({time_text(view.time)}) on the critical path; busy {time_text(each.busy)} "
                    f"on {', '.join(each.queues)}; {each.instructions:,} instruction{plural}: "
                    f"{', '.join(each.mnemonics)}. Predicted {view.judged}."
                ).replace("_", "\\_")


def code_actions_of(
    analysis: Analysis, document: TextDocument, asked: types.Range
) -> list[types.CodeAction | types.Command]:
    """What can be done at a place: give arguments, leave a warning out, see the IR."""
    places = Places.of(document)
    found: list[types.CodeAction | types.Command] = []
    for problem in analysis.problems:
        at = places.range(problem.span)
        if at.end < asked.start or asked.end < at.start:
            continue
        if problem.remedy:
            edits = [
                types.TextEdit(_empty(places.position(each.line, 1)), each.text)
                for each in problem.remedy
            ]
            found.append(_action("Give example arguments: @nkijit.example(…)", document, edits))
        elif problem.severity == "warning" and problem.rule is not None:
            end = places.end_of(problem.span.start.line)
            edit = types.TextEdit(_empty(end), f"  # nkijit: ignore[{problem.rule}]")
            found.append(_action(f"Ignore {problem.rule} here", document, [edit]))
    line = asked.start.line + 1
    if ir_of_line(analysis, line) is not None:
        found.append(ir_command("Show the IR of this line", document.uri, line))
    return found


def _empty(position: types.Position) -> types.Range:
    return types.Range(position, position)


def _action(
    title: str, document: TextDocument, edits: Sequence[types.TextEdit]
) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=types.CodeActionKind.QuickFix,
        edit=types.WorkspaceEdit(changes={document.uri: list(edits)}),
    )
