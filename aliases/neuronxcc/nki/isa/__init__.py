"""`neuronxcc.nki.isa` is `nkijit.classic.isa`."""

import sys

import nkijit.classic.isa
from neuronxcc.nki.isa import constants
from nkijit.classic.isa import *

sys.modules[__name__] = nkijit.classic.isa
