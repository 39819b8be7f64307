"""`nkijit-opt`: xDSL's `xdsl-opt` with nkijit's dialects and passes; errors without tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import StringIO
from typing import IO

from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from nkijit.commands import ended_by_signals
from nkijit.output_files import write_text
from nkijit.passes.diagnostics.errors import NkiValidationError, with_notes
from nkijit.terminal import show, show_findings


class _Shown(StringIO):
    """Standard output."""

    def write(self, text: str, /) -> int:
        show(text)
        return len(text)


class _Driver(xDSLOptMain):
    """The driver, which writes its output when all of it is there."""

    def prepare_output(self) -> IO[str]:
        if self.args.output_file is None:
            return _Shown()
        self._text = StringIO()
        self._text.close = lambda: None  # the driver closes it
        return self._text

    def run(self) -> None:
        super().run()
        if self.args.output_file is not None:
            write_text(self.args.output_file, self._text.getvalue())


@ended_by_signals
def main(args: Sequence[str] | None = None) -> int:
    """Run the driver; returns 1 when the input is malformed or breaks a rule.

    Dialects, passes and the listing target come in through the plugin entry point, as they do
    for plain `xdsl-opt`.
    """
    try:
        _Driver("nkijit-opt: run passes over IR", args).run()
    except NkiValidationError as error:
        show_findings(error.diagnostics, sys.stderr)
        return 1
    except ParseError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        raise
    except (DiagnosticException, OSError, ValueError, OverflowError) as error:
        print(f"error: {with_notes(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
