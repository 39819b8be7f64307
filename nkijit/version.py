"""The version of nkijit.

pyproject.toml reads the version from this file. `python -m tools.release --set 0.2.0` changes it
here and in the files that repeat it.
"""

__version__ = "0.1.0"
