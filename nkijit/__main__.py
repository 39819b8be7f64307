"""`python -m nkijit`: the `nkijit` command."""

import sys

from nkijit.cli import main

if __name__ == "__main__":
    sys.exit(main())
