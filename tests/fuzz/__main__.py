"""`python -m tests.fuzz`."""

import sys

from tests.fuzz.driver import main

if __name__ == "__main__":
    sys.exit(main())
