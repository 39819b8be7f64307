"""`nkijit-opt`: xDSL's `xdsl-opt` with nkijit's dialects and passes; errors without tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from nkijit.passes.diagnostics.errors import NkiValidationError, with_notes
from nkijit.terminal import show_findings


def main(args: Sequence[str] | None = None) -> int:
    """Run the driver; returns 1 when the input is malformed or breaks a rule.

    Dialects, passes and the listing target come in through the plugin entry point, as they do
    for plain `xdsl-opt`.
    """
    try:
        xDSLOptMain("nkijit-opt: run passes over IR", args).run()
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except NkiValidationError as error:
        show_findings(error.diagnostics, sys.stderr)
        return 1
    except ParseError as error:
        print(error, file=sys.stderr)
        return 1
    except (DiagnosticException, OSError, ValueError, OverflowError) as error:
        print(f"error: {with_notes(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
