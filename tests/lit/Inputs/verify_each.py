"""Run `nkijit verify` on every part of a file, as `nkijit-opt --split-input-file` does.

Parts are separated by `// -----` and keep their line numbers. The script prints the output of each
run about a mistake, and names each part that is accepted or does not end with exit code 1.
"""

import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from nkijit.cli import app

path = Path(sys.argv[1])
line = 0
with tempfile.TemporaryDirectory() as folder:
    part_path = Path(folder) / path.name
    for part in path.read_text(encoding="utf-8").split("// -----"):
        part_path.write_text("\n" * line + part, encoding="utf-8")
        line += part.count("\n")
        said = StringIO()
        code: object = 0
        with redirect_stderr(said), redirect_stdout(StringIO()):
            try:
                app(["verify", str(part_path)])
            except SystemExit as end:
                code = end.code
        print(said.getvalue())
        if code != 1:
            print(f"exit code {code} for the part that ends in line {line}")
