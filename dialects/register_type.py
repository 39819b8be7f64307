"""The type of a register of the sequencers."""

from __future__ import annotations

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class RegisterType(ParametrizedAttribute, TypeAttribute):
    """A 32-bit register of an engine's sequencer."""

    name = "nki.reg"


REGISTER = RegisterType()
