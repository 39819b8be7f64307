"""`neuronxcc.nki.isa.constants` is `nkijit.classic.isa.constants`."""

import sys

import nkijit.classic.isa.constants
from nkijit.classic.isa.constants import *

sys.modules[__name__] = nkijit.classic.isa.constants
