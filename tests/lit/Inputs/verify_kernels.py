"""Run `nkijit verify` on every kernel of a Python file, in the order of its text.

All kernels get the arguments after the file's name. The script prints the output of each run, and
names each kernel that is accepted or does not end with exit code 1.
"""

import ast
import sys
from contextlib import redirect_stderr
from pathlib import Path

from nkijit.cli import app

path, arguments = sys.argv[1], sys.argv[2:]
module = ast.parse(Path(path).read_text(encoding="utf-8"))
names = [f.name for f in module.body if isinstance(f, ast.FunctionDef) and f.decorator_list]
for name in names:
    code: object = 0
    with redirect_stderr(sys.stdout):
        try:
            app(["verify", f"{path}:{name}", *arguments])
        except SystemExit as end:
            code = end.code
    if code != 1:
        print(f"exit code {code} for {name}")
