"""`nki.language` is `nkijit.language`."""

import sys

import nkijit.language
from nkijit.language import *

sys.modules[__name__] = nkijit.language
