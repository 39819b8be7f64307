"""`nkijit-opt`: xDSL's `xdsl-opt` with nkijit's dialects and passes, and without tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO, StringIO
from itertools import pairwise
from pathlib import Path
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from nkijit.dialects.collection import without_collection
from nkijit.discovery.errors import failure_of
from nkijit.host.exit_status import ended_by_signals
from nkijit.host.output_files import write_text
from nkijit.host.terminal import show, show_findings
from nkijit.ir.parser import InvalidOperation, decoded, parse_ir, read_ir, read_stream
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.source_text import hold_text, show_source_below
from nkijit.passes.transform.reroll import RerollPass
from nkijit.passes.transform.unroll import UnrollPass

_ROLLING = (RerollPass.name, UnrollPass.name)
"""The passes that accept `nki.repeat`."""


class _Shown(StringIO):
    """A stream that writes to standard output in chunks (see `show`)."""

    def write(self, text: str, /) -> int:
        show(text)
        return len(text)


class _Driver(xDSLOptMain):
    """xDSL's driver with nkijit's checks of the input.

    Output files are written at the end, so that an error does not leave a partial file.
    """

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        path = self.args.input_file
        if path is None:
            return BytesIO(read_stream(sys.stdin.buffer, self.get_input_name()).encode()), "mlir"
        text = read_ir(path)
        show_source_below(Path(path).parent)
        return BytesIO(text.encode()), Path(path).suffix.removeprefix(".")

    def register_all_frontends(self) -> None:
        self.available_frontends["mlir"] = self._parsed

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        self._lines_before = start_offset
        try:
            return super().parse_chunk(chunk, file_extension, start_offset)
        except InvalidOperation as error:
            error.span = replace(error.span, line_offset=start_offset)
            raise

    def _parsed(self, stream: IO[bytes]) -> ModuleOp:
        name = self.get_input_name()
        text = decoded(stream.read(), name)
        if self.args.input_file is None:
            hold_text(name, "\n" * self._lines_before + text)
        return parse_ir(
            self.ctx,
            text,
            name,
            implicit_module=not self.args.no_implicit_module,
            verify=not self.args.disable_verify,
            lines_before=self._lines_before,
            rolled=self._takes_repeats(),
        )

    def _takes_repeats(self) -> bool:
        """Return whether the parser may leave `nki.repeat` in the IR.

        Raises ValueError when a pass or target that does not accept `nki.repeat` would run after
        `reroll`.
        """
        readers = [each.name for each in self.pipeline.passes]
        if self.args.target != "mlir":
            readers.append(self.args.target)
        for before, after in pairwise(readers):
            if before == RerollPass.name and after not in _ROLLING:
                raise ValueError(
                    f"{after} does not accept nki.repeat: run it before {RerollPass.name}, or "
                    f"run {UnrollPass.name} in between"
                )
        # Reroll and unroll get unrolled IR as well: the parser's errors then name a place.
        return not readers

    def prepare_output(self) -> IO[str]:
        if self.args.output_file is None:
            return _Shown()
        self._text = StringIO()
        self._text.close = lambda: None  # the driver closes it
        return self._text

    @without_collection()
    def run(self) -> None:
        super().run()
        if self.args.output_file is not None:
            write_text(self.args.output_file, self._text.getvalue())


@ended_by_signals
def main(args: Sequence[str] | None = None) -> int:
    """Run the driver. Returns 1 when the input is malformed or breaks a rule.

    Dialects, passes and the listing target are found through the plugin entry point, as in plain
    `xdsl-opt`.
    """
    try:
        _Driver("nkijit-opt: run passes on IR", args).run()
    except BrokenPipeError:
        raise
    except NkiValidationError as error:
        show_findings(error.diagnostics, sys.stderr)
        return 1
    except (Exception, ArgSpecParseError) as error:
        print(failure_of(error).message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
