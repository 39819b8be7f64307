"""Instructions of a NeuronCore, with the names and signatures of `nki.isa`.

Each family of instructions lists its functions in its `__all__`.
"""

from types import ModuleType as _ModuleType
from typing import NoReturn as _NoReturn

from nkijit.isa import constants as constants
from nkijit.isa.activation import *
from nkijit.isa.constants import *
from nkijit.isa.constants import engine as engine
from nkijit.isa.constants import nc_version as nc_version
from nkijit.isa.cores import *
from nkijit.isa.elementwise import *
from nkijit.isa.exponential import *
from nkijit.isa.gather import *
from nkijit.isa.matmul import *
from nkijit.isa.movement import *
from nkijit.isa.mx import *
from nkijit.isa.pattern import *
from nkijit.isa.random import *
from nkijit.isa.reduce import *
from nkijit.isa.registers import *
from nkijit.isa.scan import *
from nkijit.isa.search import *
from nkijit.isa.select import *
from nkijit.isa.statistics import *
from nkijit.isa.transpose import *
from nkijit.passes.diagnostics.errors import NkiValidationError as NkiValidationError
from nkijit.tracing.dtype_names import missing as _missing
from nkijit.tracing.emit import NkiInstruction as NkiInstruction
from nkijit.tracing.registers import VirtualRegister as VirtualRegister
from nkijit.tracing.scalars import NkiScalar as NkiScalar
from nkijit.tracing.target import current_target as _current_target

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
unknown_engine = engine.unknown


def get_nc_version() -> nc_version:
    """The NeuronCore generation of the kernel's target.

    Example:

        is_new = nisa.get_nc_version() >= nisa.nc_version.gen4
    """
    return _current_target().version


def get_nc_sub_version() -> int:
    """The revision of the target's generation: 0, the first; nkijit knows no other.

    Example:

        revision = nisa.get_nc_sub_version()
    """
    return 0


# Type checkers find the names above; mypy reads an `__all__` only if it is a plain list.
globals()["__all__"] = _PUBLIC = [
    name
    for name, value in globals().items()
    if not name.startswith("_") and not isinstance(value, _ModuleType)
]


def __getattr__(name: str) -> _NoReturn:
    raise _missing("nki.isa", name, globals())


def __dir__() -> list[str]:
    """Return the public names, without the modules that they come from."""
    return sorted(_PUBLIC)
