"""`nki.isa.constants` is `nkijit.isa.constants`."""

import sys

import nkijit.isa.constants
from nkijit.isa.constants import *

sys.modules[__name__] = nkijit.isa.constants
