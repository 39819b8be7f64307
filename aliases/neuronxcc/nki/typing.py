"""`neuronxcc.nki.typing` is `nkijit.classic.typing`."""

import sys

import nkijit.classic.typing
from nkijit.classic.typing import *

sys.modules[__name__] = nkijit.classic.typing
