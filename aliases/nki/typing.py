"""`nki.typing` is `nkijit.typing`."""

import sys

import nkijit.typing
from nkijit.typing import *

sys.modules[__name__] = nkijit.typing
