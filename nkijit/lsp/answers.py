"""Conversion of an analysis to the types of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types
from pygls.workspace import TextDocument

from nkijit.dialects.spelling import counted
from nkijit.lsp.facts import Analysis, KernelView, LineTime, Problem
from nkijit.lsp.places import Places, location_of, uri_of
from nkijit.lsp.renaming import check_name, occurrences
from nkijit.passes.diagnostics.source_text import lines_of
from nkijit.passes.diagnostics.suppression import suppressing
from nkijit.passes.profile.units import percent, time_text

SHOW_IR = "nkijit.ir"
"""The command of the protocol that opens the IR of a line."""

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}


def diagnostic_of(
    problem: Problem, document: TextDocument, *, related: bool, link: str | None
) -> types.Diagnostic:
    """Convert a problem to a diagnostic.

    Args:
        problem: the problem.
        document: the file with the problem.
        related: whether the editor supports related places; else the message names them.
        link: the URI of the rule's explanation.
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
    """Return hints at the ends of lines, with the predicted time of each line.

    Args:
        analysis: the analysis of the document.
        document: the file.
        lines: the first and the last line of the request, counted from 1.
    """
    places = Places.of(document)
    found: dict[int, LineTime] = {}
    for view in analysis.kernels:
        for each in view.lines:
            before = found.get(each.line)
            # Several kernels may call a function: show the highest cost.
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
    """Return lenses above each kernel: its predicted time, and a command that opens its IR."""
    found: list[types.CodeLens] = []
    for view in analysis.kernels:
        start = Places.of(document).position(view.line, 1)
        at = types.Range(start, start)
        # A lens without a command shows its title.
        found.append(types.CodeLens(at, command=types.Command(_total(view), "")))
        if view.ir_file is not None:
            found.append(types.CodeLens(at, command=ir_command("IR", document.uri, view.line)))
    return found


def _total(view: KernelView) -> str:
    """Return a kernel's predicted time, or why there is none, as text."""
    if view.time is not None:
        return f"{time_text(view.time)}, bound {view.bound}, {view.target}"
    return view.note or f"{view.summary} {view.target}"


def ir_command(title: str, uri: str, line: int) -> types.Command:
    """Return the command that opens the IR of a line, counted from 1."""
    return types.Command(title, SHOW_IR, arguments=[uri, line - 1])


def ir_of_line(analysis: Analysis, line: int) -> types.Location | None:
    """Return the location of the first operation created by a source line; None without one.

    Lines of a kernel's definition give the location of its `nki.kernel`.
    """
    for view in analysis.kernels:
        if view.ir_file is None:
            continue
        first = dict(view.ir_lines).get(line)
        if first is None and view.line <= line <= view.span.start.line:
            first = 2  # the kernel is inside the module of line 1
        if first is not None:
            start = types.Position(first - 1, 0)
            return types.Location(uri_of(view.ir_file), types.Range(start, start))
    return None


def hover_of(text: str, line: int, column: int, analysis: Analysis | None) -> types.Hover | None:
    """Describe the function of NKI that is called at a place, with the predicted time of the line.

    Args:
        text: the document.
        line: the line of the place, counted from 1.
        column: the column of the place, counted from 1, in characters.
        analysis: the analysis of this text; None while there is none.
    """
    # Imported here because they import the whole API.
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
    """Yield a sentence about the predicted time of a line in each kernel."""
    for view in kernels:
        for each in view.lines:
            if each.line == line and view.time is not None:
                yield (
                    f"**{time_text(each.time)}**, {percent(each.share)} of `{view.name}` "
                    f"({time_text(view.time)}) on the critical path; busy {time_text(each.busy)} "
                    f"on {', '.join(each.queues)}; {counted(each.instructions, 'instruction')}: "
                    f"{', '.join(each.mnemonics)}. Predicted {view.target}."
                ).replace("_", "\\_")


def code_actions_of(
    analysis: Analysis, document: TextDocument, requested: types.Range
) -> list[types.CodeAction | types.Command]:
    """Return actions for a range: fix, add example arguments, suppress a warning, show the IR."""
    places = Places.of(document)
    found: list[types.CodeAction | types.Command] = []
    for problem in analysis.problems:
        at = places.range(problem.span)
        if at.end < requested.start or requested.end < at.start:
            continue
        if problem.fix is not None:
            edit = types.TextEdit(places.range(problem.fix.span), problem.fix.new)
            title = f"Replace {problem.fix.old} by {problem.fix.new}"
            found.append(_action(title, document, [edit]))
        if problem.remedy:
            edits = [
                types.TextEdit(_empty(places.position(each.line, 1)), each.text)
                for each in problem.remedy
            ]
            found.append(_action("Add example arguments: @nkijit.example(…)", document, edits))
        elif problem.is_suppressible:
            edit = _ignoring(problem, document)
            found.append(_action(f"Ignore {problem.rule} here", document, [edit]))
    line = requested.start.line + 1
    if ir_of_line(analysis, line) is not None:
        found.append(ir_command("Show the IR of this line", document.uri, line))
    return found


def _ignoring(problem: Problem, document: TextDocument) -> types.TextEdit:
    """Return the edit that suppresses a problem with a comment on a line of its statement."""
    lines, line = lines_of(document.source), problem.span.start.line
    while line < len(lines) and lines[line - 1].endswith("\\"):
        line += 1  # no comment can follow a backslash
    column, text = suppressing(lines[line - 1], str(problem.rule))
    return types.TextEdit(_empty(Places.of(document).position(line, column + 1)), text)


_KINDS = {
    "function": types.CompletionItemKind.Function,
    "word": types.CompletionItemKind.EnumMember,
    "module": types.CompletionItemKind.Module,
    "argument": types.CompletionItemKind.Field,
    "variable": types.CompletionItemKind.Variable,
    "method": types.CompletionItemKind.Method,
}


def completions_of(text: str, line: int, column: int) -> types.CompletionList:
    """Return the completions at a place: names of the API, arguments, their values, variables.

    Args:
        text: the document.
        line: the line of the place, counted from 1.
        column: the column of the place, counted from 1, in characters.
    """
    from nkijit.lsp.completion import candidates

    items = [
        types.CompletionItem(
            each.text,
            kind=_KINDS[each.kind],
            detail=each.detail or None,
            documentation=each.documentation or None,
            sort_text=f"{each.rank} {each.text}",
        )
        for each in candidates(text, line, column)
    ]
    return types.CompletionList(False, items)


def renamed_range(document: TextDocument, position: types.Position) -> types.Range:
    """Return the range of the variable at a position. Raises RenameError if it has none."""
    places = Places.of(document)
    line, column = position.line + 1, places.column(position)
    found = occurrences(document.path, document.source, line, column)
    here = (s for s in found if s.start.line == line and s.start.column <= column <= s.end_column)
    return places.range(next(here))


def renamed(document: TextDocument, position: types.Position, new: str) -> types.WorkspaceEdit:
    """Return the edit that renames the variable at a position. Raises RenameError."""
    places = Places.of(document)
    line, column = position.line + 1, places.column(position)
    found = occurrences(document.path, document.source, line, column)
    check_name(document.source, found, new)
    edits = [types.TextEdit(places.range(span), new) for span in found]
    return types.WorkspaceEdit(changes={document.uri: edits})


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
