"""`nki` is `nkijit`: the same module under the name that kernels import."""

import sys

import nkijit
from nki import collectives, compiler, dtype, isa, language, typing
from nkijit import *

sys.modules[__name__] = nkijit
