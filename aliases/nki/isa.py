"""`nki.isa` is `nkijit.isa`."""

import sys

import nkijit.isa
from nkijit.isa import *

sys.modules[__name__] = nkijit.isa
