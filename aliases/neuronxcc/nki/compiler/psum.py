"""`neuronxcc.nki.compiler.psum` is `nkijit.classic.compiler.psum`."""

import sys

import nkijit.classic.compiler.psum
from nkijit.classic.compiler.psum import *

sys.modules[__name__] = nkijit.classic.compiler.psum
