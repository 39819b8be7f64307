"""`nki.dtype` is `nkijit.dtype`."""

import sys

import nkijit.dtype
from nkijit.dtype import *

sys.modules[__name__] = nkijit.dtype
