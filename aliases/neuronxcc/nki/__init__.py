"""`neuronxcc.nki` is `nkijit.classic`: the classic API under the name that kernels import."""

import sys

from nkijit.dialects.collection import lasting

with lasting():
    import nkijit.classic
    from neuronxcc.nki import compiler, isa, language, typing
    from nkijit.classic import *

sys.modules[__name__] = nkijit.classic
