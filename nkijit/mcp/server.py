"""The server: declares the tools and answers calls over standard input and output."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ContentBlock, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from nkijit.dialects.python_values import described
from nkijit.dialects.spelling import did_you_mean
from nkijit.host.processes.channels import EndedError, OutOfTimeError
from nkijit.host.processes.isolated import Isolated, Limits, preload, prepare
from nkijit.mcp import answers, outputs
from nkijit.mcp.answers import Answer, Page, Refusal, answered
from nkijit.mcp.outputs import form
from nkijit.mcp.questions import Question
from nkijit.mcp.resources import add_resources
from nkijit.passes.compile.schedules import Schedule
from nkijit.passes.prove.algebra import Level
from nkijit.version import __version__

preload(
    [
        "nkijit.mcp.answers",
        "nkijit.passes.advise.advisor",
        "nkijit.traced.predictions",
        "nkijit.traced.runs",
    ]
)

INSTRUCTIONS = """\
Checks, runs and profiles kernels for AWS Trainium (NKI: Python functions under @nki.jit) without \
a device. `list_kernels` lists the kernels of a file; `verify` reports violated rules of the \
hardware; `explain` describes a rule or an instruction; `run` computes results on random data; \
`cost`, `profile` and `advise` predict the time and suggest changes that reduce it; `optimize` \
returns a faster kernel that is proven to be equal; `trace` shows the IR; `diff` compares two \
kernels; `prove` proves that a changed kernel computes the same for all inputs. Tools need a file, \
or its text as `source`, and the kernel's arguments, unless the file gives them (@nkijit.example) \
or they have defaults. Files are run."""

_EXAMPLE = {"file": "kernel.py:softmax", "arguments": {"x": "128x512:bfloat16"}}
"""The arguments of most tools, for their descriptions."""

_MOST_LINES, _MOST_ITEMS = 1000, 100

File = Annotated[
    str | None, Field(description="FILE.py, FILE.py:KERNEL, or FILE.mlir (IR from `trace`)")
]
Source = Annotated[str | None, Field(description="text of a file, instead of `file`")]
Name = Annotated[
    str | None,
    Field(description="name of the kernel, if the file has several and `file` does not name one"),
]
Arguments = Annotated[
    list[str] | dict[str, Any] | None,
    Field(
        description="the kernel's arguments: x=128x512:bfloat16 for a tensor, scale=2.0 or "
        "flag=true for a value, mode='fast' for a string, x=@x.npy for an array; or an object: "
        '{"x": "128x512:bfloat16", "scale": 2.0, "flag": true, "mode": "\'fast\'"}'
    ),
]
SecondArguments = Annotated[
    list[str] | dict[str, Any] | None,
    Field(description="the arguments of the second kernel, by default those of the first"),
]
WeakestLevel = Annotated[
    Level,
    Field(
        description="the weakest level that counts as equal: bits, reassociated (sums and products "
        "in any order) or rounding (other float types on the way)"
    ),
]
Target = Annotated[str | None, Field(description="trn1, trn2 or trn3; by default trn3")]
Cores = Annotated[int | None, Field(description="number of cores, 1 or 2")]
FirstLine = Annotated[int, Field(ge=1, description="first line to return, from 1")]
LineLimit = Annotated[
    int, Field(ge=1, le=_MOST_LINES, description="maximum number of lines to return")
]
First = Annotated[int, Field(ge=1, description="first item of the list to return, from 1")]
Limit = Annotated[int, Field(ge=1, le=_MOST_ITEMS, description="maximum number of items to return")]
Scheduled = Annotated[
    Schedule,
    Field(description="predict the kernel after the compiler's passes, or in the author's order"),
]
Seed = Annotated[int, Field(ge=0, description="seed of the random data for tensors")]


class _Server(MCPServer[Any]):
    """A server that reports wrong arguments of a tool by name."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        tool = next((tool for tool in await self.list_tools() if tool.name == name), None)
        known: dict[str, Any] = {} if tool is None else tool.input_schema["properties"]
        unknown = next((each for each in arguments if each not in known), None)
        if tool is not None and unknown is not None:
            near = did_you_mean(unknown, known)
            takes = ", ".join(known)
            return _refused(f"error: `{name}` has no argument '{unknown}'; it takes {takes}{near}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            return _refused("\n".join(_wrong_arguments(error.__cause__, known)))


def _wrong_arguments(error: ValidationError, known: dict[str, Any]) -> list[str]:
    """Return a line of text for each argument that does not match its tool's schema."""
    found: dict[str, str] = {}
    for each in error.errors(include_url=False):
        name = str(each["loc"][0])
        if each["type"] == "missing":
            text = "is missing"
        elif name in ("arguments", "second_arguments"):
            text = f"is {described(each['input'])}; {_FORMS_OF_ARGUMENTS}"
        else:
            wanted = each["msg"].removeprefix("Input should be ").partition(",")[0]
            text = f"must be {wanted}, got {described(each['input'])}"
        found.setdefault(name, f"error: '{name}' {text} ({known[name]['description']})")
    return list(found.values())


_FORMS_OF_ARGUMENTS = (
    'pass a list of strings, ["x=128x512:bfloat16", "scale=2.0"], or an object, '
    '{"x": "128x512:bfloat16", "scale": 2.0}'
)


def server_of(limits: Limits) -> MCPServer[Any]:
    """Return the server. `limits` apply to each call of a tool."""
    server: MCPServer[Any] = _Server(
        "nkijit",
        title="nkijit",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    call = _Caller(limits)

    def tool(title: str, example: dict[str, Any], executes: bool = True) -> Any:
        # Tools execute files, which may have any effect: the hints let clients ask the user first.
        hints = ToolAnnotations(title=title, read_only_hint=not executes, open_world_hint=executes)

        def declared(function: Any) -> Any:
            text = f"{inspect.getdoc(function)}\n\nExample: {json.dumps(example)}"
            return server.tool(title=title, description=text, annotations=hints)(function)

        return declared

    @tool("Kernels of a file", {"file": "kernel.py"})
    async def list_kernels(
        file: File = None, source: Source = None
    ) -> Annotated[CallToolResult, form(outputs.Kernels)]:
        """List the kernels of a file, with their arguments."""
        return await call(answers.list_kernels, Question(file, source))

    @tool("IR of a kernel", {**_EXAMPLE, "rolled": True})
    async def trace(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        rolled: Annotated[
            bool, Field(description="show repeated instructions once, in loops")
        ] = True,
        locations: Annotated[
            bool, Field(description="show file:line:column after every operation")
        ] = False,
        first: FirstLine = 1,
        limit: LineLimit = 200,
    ) -> Annotated[CallToolResult, form(outputs.Ir)]:
        """Trace a kernel and show its IR, with one operation per instruction."""
        question = _question(file, source, kernel, arguments, target, cores)
        return await call(answers.trace, question, rolled, locations, Page(first, limit))

    @tool("Findings of a kernel", _EXAMPLE)
    async def verify(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        first: First = 1,
        limit: Limit = 20,
    ) -> Annotated[CallToolResult, form(outputs.Findings)]:
        """Check a kernel against the rules of the hardware. Returns errors and warnings by line."""
        question = _question(file, source, kernel, arguments, target, cores)
        return await call(answers.verify, question, Page(first, limit))

    @tool("Rules, instructions and functions", {"name": "nisa.activation"}, executes=False)
    async def explain(
        name: Annotated[
            str,
            Field(
                description="a rule (both-in-psum), an instruction (nisa.max8), a function "
                "(nl.load) or a term (partition)"
            ),
        ],
        first: FirstLine = 1,
        limit: LineLimit = 200,
    ) -> Annotated[CallToolResult, form(outputs.Explanation)]:
        """Explain a rule, an instruction, a function or a term."""
        return await call(answers.explain, name, Page(first, limit))

    @tool("Results of a kernel", {**_EXAMPLE, "seed": 1})
    async def run(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        seed: Seed = 0,
    ) -> Annotated[CallToolResult, form(outputs.RunOf)]:
        """Run a kernel, by default on random data. Returns statistics of the results.

        A kernel with errors is not run: the tool returns an error with its findings.
        """
        question = _question(file, source, kernel, arguments, target, cores)
        return await call(answers.run, question, seed)

    @tool("Predicted time of a kernel", _EXAMPLE)
    async def profile(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        schedule: Scheduled = Schedule.compiler,
        first: First = 1,
        limit: Limit = 20,
    ) -> Annotated[CallToolResult, outputs.PROFILE]:
        """Predict how long a kernel takes, and why: queues, waits, lines of the critical path."""
        question = _question(file, source, kernel, arguments, target, cores)
        return await call(answers.profile, question, schedule.value, Page(first, limit))

    @tool(
        "Proof that two kernels are equal",
        {
            "first_file": "kernel.py:softmax",
            "second_file": "faster.py:softmax",
            "arguments": {"x": "128x512:bfloat16"},
        },
    )
    async def prove(
        first_file: File = None,
        first_source: Source = None,
        second_file: File = None,
        second_source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        level: WeakestLevel = Level.bits,
    ) -> Annotated[CallToolResult, form(outputs.Proven)]:
        """Prove that two kernels are equal for all inputs, or show where their terms differ."""
        one, other = (
            _question(file, source, kernel, arguments, target, cores)
            for file, source in ((first_file, first_source), (second_file, second_source))
        )
        return await call(answers.prove, one, other, level.value)

    @tool(
        "Comparison of two kernels",
        {
            "first_file": "kernel.py:softmax",
            "second_file": "kernel.py:softmax",
            "arguments": {"x": "128x512:bfloat16"},
            "second_arguments": {"x": "128x512:float32"},
        },
    )
    async def diff(
        first_file: File = None,
        first_source: Source = None,
        second_file: File = None,
        second_source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        second_arguments: SecondArguments = None,
        target: Target = None,
        cores: Cores = None,
        schedule: Scheduled = Schedule.compiler,
        first: FirstLine = 1,
        limit: LineLimit = 200,
    ) -> Annotated[CallToolResult, form(outputs.Difference)]:
        """Compare two kernels: terms of results, instructions, IR, memory, predicted time."""
        one = _question(first_file, first_source, kernel, arguments, target, cores)
        others = arguments if second_arguments is None else second_arguments
        other = _question(second_file, second_source, kernel, others, target, cores)
        return await call(answers.diff, one, other, schedule.value, Page(first, limit))

    @tool("Suggestions for a faster kernel", _EXAMPLE)
    async def advise(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        first: First = 1,
        limit: Limit = 20,
    ) -> Annotated[CallToolResult, outputs.ADVICE]:
        """Suggest changes that make a kernel faster, with the predicted gain of each."""
        question = _question(file, source, kernel, arguments, target, cores)
        return await call(answers.advise, question, Page(first, limit))

    @tool("A faster kernel", _EXAMPLE)
    async def optimize(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        allow: Annotated[
            Level,
            Field(description="allowed differences: none, another order of sums, other rounding"),
        ] = Level.bits,
        budget: Annotated[
            float, Field(ge=0, le=600, description="time for the search, in seconds")
        ] = 30.0,
        two_cores: Annotated[
            bool, Field(description="also divide a kernel for one core between two cores")
        ] = False,
        first: FirstLine = 1,
        limit: LineLimit = 400,
    ) -> Annotated[CallToolResult, form(outputs.Optimization)]:
        """Search for a faster version of a kernel, and return its source.

        Changes are composed, predicted, and proven to keep the results for all inputs.
        """
        question = _question(file, source, kernel, arguments, target, cores)
        found = partial(answers.optimize, two_cores=two_cores)
        return await call(found, question, allow.value, budget, Page(first, limit))

    @tool("Cost of a kernel", _EXAMPLE)
    async def cost(
        file: File = None,
        source: Source = None,
        kernel: Name = None,
        arguments: Arguments = None,
        target: Target = None,
        cores: Cores = None,
        schedule: Scheduled = Schedule.compiler,
    ) -> Annotated[CallToolResult, outputs.COST]:
        """Summarise a kernel's cost: predicted time, memory, critical lines, findings."""
        question = _question(file, source, kernel, arguments, target, cores)
        return await call(answers.cost, question, schedule.value)

    add_resources(server)
    return server


def _question(
    file: str | None,
    source: str | None,
    kernel: str | None,
    arguments: list[str] | dict[str, Any] | None,
    target: str | None,
    cores: int | None,
) -> Question:
    given = arguments if isinstance(arguments, dict) else tuple(arguments or ())
    return Question(file, source, kernel, given, target, cores)


class _Caller:
    """Runs each call of a tool in a separate process."""

    def __init__(self, limits: Limits):
        self._limits = limits

    async def __call__(self, function: Callable[..., Answer], *arguments: Any) -> CallToolResult:
        """Return the answer of `function(*arguments)`, or an error of the tool."""
        passed = (function, arguments, self._limits.seconds)
        process = await anyio.to_thread.run_sync(Isolated, answered, passed, self._limits)
        try:
            received = await anyio.to_thread.run_sync(process.next, abandon_on_cancel=True)
        except OutOfTimeError as error:
            return _refused(str(error))
        except EndedError as error:
            return _refused(f"the process of this call {error}")
        finally:
            process.kill()
        (found,) = received or (Refusal("the process of this call returned nothing"),)
        if isinstance(found, Refusal):
            return _refused(found.message)
        return CallToolResult(content=_text(found.text), structured_content=dict(found.document))


def _refused(message: str) -> CallToolResult:
    return CallToolResult(content=_text(message), is_error=True)


def _text(text: str) -> list[ContentBlock]:
    return [TextContent(type="text", text=text)]


def serve(limits: Limits) -> None:
    """Serve one client over standard input and output until it disconnects."""
    prepare()
    server_of(limits).run("stdio")
