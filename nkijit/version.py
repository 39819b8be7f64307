"""The version of nkijit.

pyproject.toml reads it here. `python -m tools.release --set 0.2.0` writes it, here and where a file
can only repeat it.
"""

__version__ = "0.1.0"
