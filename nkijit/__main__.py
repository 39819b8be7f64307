"""`python -m nkijit`: the command of that name."""

import sys

from nkijit.cli import main

if __name__ == "__main__":
    sys.exit(main())
