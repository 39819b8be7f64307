"""The language of classic kernels, with the names of `neuronxcc.nki.language`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.classic.indexing.generators import arange as arange
from nkijit.classic.indexing.generators import mgrid as mgrid
from nkijit.classic.language.constants import *
from nkijit.classic.language.creation import *
from nkijit.classic.language.memory import *
from nkijit.classic.language.operators import *
from nkijit.classic.language.programs import *
from nkijit.classic.language.random import *
from nkijit.classic.language.reductions import *
from nkijit.classic.language.tiles import *
from nkijit.classic.tensors.dtypes import *
from nkijit.tracing.dtype_names import missing


def __getattr__(name: str) -> NoReturn:
    raise missing("neuronxcc.nki.language", name, globals())
