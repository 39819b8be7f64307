"""`neuronxcc.nki.compiler.sbuf` is `nkijit.classic.compiler.sbuf`."""

import sys

import nkijit.classic.compiler.sbuf
from nkijit.classic.compiler.sbuf import *

sys.modules[__name__] = nkijit.classic.compiler.sbuf
