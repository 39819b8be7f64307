"""The `nki` dialect: kernels, allocations, views, constants, registers and repeats.

Instructions are in the `nisa` dialect and collectives in `ncc`. With `arith.constant` for
immediates and `scf` for loops on the device these are all operations of a traced kernel.
"""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from nkijit.dialects.attributes import (
    IndirectionAttr,
    PrivateHbmAttr,
    PsumAttr,
    SbufAttr,
    SharedHbmAttr,
)
from nkijit.dialects.declare.queries import rules_of
from nkijit.dialects.dtypes import Float4E2M1FNx4Type, Float8E4M3FNx4Type, Float8E5M2x4Type
from nkijit.dialects.nki.affine import AffineAttr, VariesAttr
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp, DataAttr
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, NoReorderOp, ReturnOp
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.repeat import ElementOp, NumberOp, RepeatOp, TilesType, YieldOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.register_type import RegisterType

Nki = Dialect(
    "nki",
    [
        KernelOp,
        ReturnOp,
        AllocOp,
        ConstantOp,
        ViewOp,
        RegisterOp,
        ReadRegisterOp,
        NoReorderOp,
        DevicePrintOp,
        RepeatOp,
        YieldOp,
        ElementOp,
        NumberOp,
    ],
    [
        AffineAttr,
        VariesAttr,
        TilesType,
        RegisterType,
        DataAttr,
        IndirectionAttr,
        SbufAttr,
        PsumAttr,
        PrivateHbmAttr,
        SharedHbmAttr,
        Float8E5M2x4Type,
        Float8E4M3FNx4Type,
        Float4E2M1FNx4Type,
    ],
)

WITH_RULES: tuple[type[Operation], ...] = tuple(filter(rules_of, Nki.operations))
"""The operations of the `nki` dialect that declare rules."""
