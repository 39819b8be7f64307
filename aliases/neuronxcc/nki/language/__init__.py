"""`neuronxcc.nki.language` is `nkijit.classic.language`."""

import sys

import nkijit.classic.language
from neuronxcc.nki.language import constants
from nkijit.classic.language import *

sys.modules[__name__] = nkijit.classic.language
