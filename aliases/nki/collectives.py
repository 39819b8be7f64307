"""`nki.collectives` is `nkijit.collectives`."""

import sys

import nkijit.collectives
from nkijit.collectives import *

sys.modules[__name__] = nkijit.collectives
