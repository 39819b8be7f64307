"""`nki.compiler` is `nkijit.compiler`."""

import sys

import nkijit.compiler
from nkijit.compiler import *

sys.modules[__name__] = nkijit.compiler
