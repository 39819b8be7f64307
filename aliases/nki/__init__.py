"""`nki` is `nkijit`: the same module under the name that kernels import."""

import sys
from typing import TYPE_CHECKING

import nkijit
from nkijit.dialects.collection import lasting

with lasting():
    from nki import collectives, compiler, dtype, isa, language, typing

if TYPE_CHECKING:  # names of nkijit are imported on first use
    from nkijit import *

sys.modules[__name__] = nkijit
