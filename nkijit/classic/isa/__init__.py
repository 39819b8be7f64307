"""Instructions in their functional form, with the names of `neuronxcc.nki.isa`."""

from __future__ import annotations

from nkijit.classic.isa.elementwise import *
from nkijit.classic.isa.matmul import *
from nkijit.classic.isa.reduce import *
