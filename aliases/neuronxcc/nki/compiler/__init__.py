"""`neuronxcc.nki.compiler` is `nkijit.classic.compiler`."""

import sys

import nkijit.classic.compiler
from neuronxcc.nki.compiler import psum, sbuf
from nkijit.classic.compiler import *

sys.modules[__name__] = nkijit.classic.compiler
