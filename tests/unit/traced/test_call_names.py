"""Findings about called functions: the function's name, its arguments, the marked text."""

from __future__ import annotations

import json

import pytest

import neuronxcc.nki as classic
import neuronxcc.nki.language as cnl
import nkijit as nki
import nkijit.classic.language as full_name
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit import NkiValidationError
from nkijit import language as words
from nkijit.language import store as put
from nkijit.passes.diagnostics.documents import KernelFindings, as_json
from nkijit.passes.diagnostics.sarif import as_sarif

X = nki.TensorSpec((128, 64), "float32")


def found(body, rule, decorate=nki.jit):
    """The finding of a rule in a kernel with this body."""

    @decorate
    def kernel(x):
        body(x)
        return x

    try:
        diagnostics = kernel.trace(X).diagnostics
    except NkiValidationError as error:
        diagnostics = error.diagnostics
    (finding,) = [d for d in diagnostics if d.rule.id == rule]
    return finding


def marked(finding):
    """The pieces of source that a finding marks."""
    pieces = []
    for span in finding.marked:
        with open(span.start.file, encoding="utf-8") as file:
            lines = file.read().split("\n")[span.start.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        pieces.append("\n".join(lines)[span.start.column - 1 :])
    return pieces


def positional(x):
    nisa.tensor_tensor(nl.load(x), nl.load(x), x, nl.add)


def by_keyword(x):
    t = nl.load(x)
    nisa.tensor_tensor(dst=t, op=nl.add, data2=x, data1=t)


def over_lines(x):
    t = nl.load(x)
    nisa.tensor_tensor(
        t,
        t,
        data2=x.reshape(
            (128, 64),
        ),
        op=nl.add,
    )


OVER_LINES = "x.reshape(\n            (128, 64),\n        )"


def renamed(x):
    words.exp(x)


def imported_by_name(x):
    banked = nl.ndarray((128, 64), nl.float32, buffer=nl.psum)
    put(x, banked[:, :])


def of_a_view(x):
    nl.add(x.reshape((64, 128)), 1.0)


def assigned(x):
    t = nl.ndarray((64, 128), nl.float32, buffer=nl.shared_hbm)
    t[:, 0:64] = nl.load(x)[0:64, :].permute((0, 1))
    t[0:64, 64:128] = x[0:32, :]


def in_a_chain(x):
    nl.exp(x).reshape((128, 8, 8))


@pytest.mark.parametrize(
    ("body", "rule", "subject", "message", "pieces"),
    [
        (positional, "buffer", "nisa.tensor_tensor", "'data2' must be", ["x"]),
        (by_keyword, "buffer", "nisa.tensor_tensor", "'data2' must be", ["x"]),
        (over_lines, "buffer", "nisa.tensor_tensor", "'data2' must be", [OVER_LINES]),
        (renamed, "buffer", "nl.exp", "'x' must be", ["x"]),
        (imported_by_name, "buffer", "nl.store", "'value' must be", ["banked[:, :]"]),
        (of_a_view, "buffer", "nl.add", "'x' must be", ["x.reshape((64, 128))"]),
        (in_a_chain, "buffer", "nl.exp", "'x' must be", ["x"]),
    ],
)
def test_the_call_is_the_authors(body, rule, subject, message, pieces):
    finding = found(body, rule)
    assert finding.subject == subject
    assert finding.message.startswith(message)
    assert marked(finding) == pieces


def test_operands_have_the_names_that_the_author_gives():
    finding = found(renamed, "buffer")
    assert [operand.name for operand in finding.operands] == ["x"]
    assert "nl.exp is implemented with nisa.activation" in finding.notes


def test_arguments_after_a_star_are_not_marked():
    def starred(x):
        operands = (nl.load(x), x)
        nisa.tensor_tensor(nl.load(x), *operands, nl.add)

    finding = found(starred, "buffer")
    assert finding.subject == "nisa.tensor_tensor"
    assert not finding.marked


def test_a_function_of_the_authors_is_not_taken_for_one_of_the_api():
    def exp(x):
        nl.exp(x)

    def calls(x):
        exp(x)

    finding = found(calls, "buffer")
    assert (finding.subject, marked(finding)) == ("nl.exp", ["x"])
    assert len(finding.where) == 3


def test_an_argument_that_is_wrong_is_marked():
    def wrong(x):
        nisa.memset(nl.load(x), value="one")

    assert marked(found(wrong, "argument")) == ['"one"']


def test_a_call_over_lines_shows_the_line_of_the_argument():
    text = str(found(over_lines, "buffer"))
    assert "|         data2=x.reshape(" in text
    assert "|               ^^^^^^^^^^" in text


def test_documents_have_the_marked_text():
    finding = found(by_keyword, "buffer")
    kernels = [KernelFindings("kernel", "trn3", nki.NkiValidationError([finding]).diagnostics)]
    (span,) = as_json(kernels, None, "0")["kernels"][0]["findings"][0]["marked"]
    (result,) = as_sarif(kernels, None, "0")["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (span["column"], span["end_column"]) == (region["startColumn"], region["endColumn"])
    assert region["endColumn"] == region["startColumn"] + 1
    json.dumps(result)


def test_names_of_the_classic_api():
    def classic_exp(x):
        cnl.load(cnl.load(x))

    finding = found(classic_exp, "err_unsupported_memory", classic.jit)
    assert finding.subject == "nl.load"
    assert marked(finding) == ["cnl.load(x)"]


def test_the_classic_api_by_its_full_name():
    def classic_load(x):
        full_name.load(full_name.load(x))

    finding = found(classic_load, "err_unsupported_memory", classic.jit)
    assert finding.subject == "nl.load"
    assert marked(finding) == ["full_name.load(x)"]


def test_an_assignment_is_reported_as_one():
    finding = found(assigned, "argument")
    assert finding.subject == "assignment to 't'"
