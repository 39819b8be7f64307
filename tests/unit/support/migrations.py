"""Classic kernels that are written to a file, migrated, and run before and after."""

from __future__ import annotations

import importlib.util
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from nkijit.discovery.argument_text import written_argument
from nkijit.migrate.migration import Migration, migrate_file

HEAD = """\
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


"""


def write(folder: Path, body: str, head: str = HEAD) -> Path:
    """A file with kernels."""
    path = folder / "old.py"
    path.write_text(head + textwrap.dedent(body).lstrip("\n"))
    return path


def migrated(folder: Path, body: str, **arguments: str) -> Migration:
    """A migrated file; arguments as on the command line."""
    values = {name: written_argument(text, folder) for name, text in arguments.items()}
    return migrate_file(write(folder, body), values)


def body_of(migration: Migration) -> str:
    """Return the migrated source without imports."""
    return migration.text.partition("import nki.language as nl\n")[2].strip("\n") + "\n"


def run_both(folder: Path, migration: Migration, name: str, *arrays: Any) -> None:
    """Call a function of the old and of the new file with arrays, and compare the results."""
    new = folder / "new.py"
    new.write_text(migration.text)
    old = getattr(_module(Path(migration.source.path)), name)(*arrays)
    result = getattr(_module(new), name)(*arrays)
    np.testing.assert_array_equal(np.asarray(old), np.asarray(result))


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
