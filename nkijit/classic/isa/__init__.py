"""Instructions in their functional form, with the names of `neuronxcc.nki.isa`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.classic.isa import constants as constants
from nkijit.classic.isa.activation import *
from nkijit.classic.isa.constants import *
from nkijit.classic.isa.custom import *
from nkijit.classic.isa.elementwise import *
from nkijit.classic.isa.gather import *
from nkijit.classic.isa.matmul import *
from nkijit.classic.isa.movement import *
from nkijit.classic.isa.pattern import *
from nkijit.classic.isa.random import *
from nkijit.classic.isa.reduce import *
from nkijit.classic.isa.scan import *
from nkijit.classic.isa.search import *
from nkijit.classic.isa.select import *
from nkijit.classic.isa.statistics import *
from nkijit.classic.isa.transpose import *
from nkijit.isa import get_nc_version as get_nc_version
from nkijit.tracing.dtype_names import missing


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.isa", name, globals())
