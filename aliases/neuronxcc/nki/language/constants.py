"""`neuronxcc.nki.language.constants` is `nkijit.classic.language.constants`."""

import sys

import nkijit.classic.language.constants
from nkijit.classic.language.constants import *

sys.modules[__name__] = nkijit.classic.language.constants
