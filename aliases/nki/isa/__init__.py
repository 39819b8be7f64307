"""`nki.isa` is `nkijit.isa`."""

import sys

import nkijit.isa
from nki.isa import constants
from nkijit.isa import *

sys.modules[__name__] = nkijit.isa
