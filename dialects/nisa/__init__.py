"""The `nisa` dialect: one op per instruction of `nki.isa`, same name, same argument names."""

from __future__ import annotations

from xdsl.ir import Dialect

from nkijit.dialects.attributes import WORD_ATTRIBUTES
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nisa.activation import Activate2Op, ActivationOp, ActivationReduceOp
from nkijit.dialects.nisa.cores import CoreBarrierOp, SendrecvOp
from nkijit.dialects.nisa.elementwise import (
    ReciprocalOp,
    ScalarTensorTensorOp,
    TensorScalarCumulativeOp,
    TensorScalarOp,
    TensorScalarReduceOp,
    TensorTensorOp,
)
from nkijit.dialects.nisa.exponential import ExponentialOp
from nkijit.dialects.nisa.gather import LocalGatherOp, NcNGatherOp, NcStreamShuffleOp
from nkijit.dialects.nisa.matmul import NcMatmulOp, NcTransposeOp
from nkijit.dialects.nisa.movement import DmaComputeOp, DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.dialects.nisa.mx import NcMatmulMxOp, QuantizeMxOp
from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.dialects.nisa.random import GENERATING
from nkijit.dialects.nisa.reduce import TensorPartitionReduceOp, TensorReduceOp
from nkijit.dialects.nisa.registers import (
    RegisterComputeOp,
    RegisterLoadOp,
    RegisterMoveOp,
    RegisterStoreOp,
)
from nkijit.dialects.nisa.scan import TensorTensorScanOp
from nkijit.dialects.nisa.search import (
    Max8Op,
    NcFindIndex8Op,
    NcMatchReplace8Op,
    NonzeroWithCountOp,
    TopkOp,
)
from nkijit.dialects.nisa.select import (
    AffineSelectOp,
    RangeSelectOp,
    SelectReduceOp,
    SequenceBoundsOp,
    TensorCopyPredicatedOp,
)
from nkijit.dialects.nisa.statistics import BnAggrOp, BnStatsOp
from nkijit.dialects.nisa.transpose import DmaTransposeOp

INSTRUCTIONS: tuple[type[NisaOp], ...] = (
    DmaCopyOp,
    DmaComputeOp,
    TensorCopyOp,
    MemsetOp,
    NcMatmulOp,
    NcMatmulMxOp,
    QuantizeMxOp,
    NcTransposeOp,
    DmaTransposeOp,
    TensorTensorOp,
    TensorScalarOp,
    ScalarTensorTensorOp,
    TensorScalarReduceOp,
    TensorScalarCumulativeOp,
    ReciprocalOp,
    TensorTensorScanOp,
    TensorReduceOp,
    TensorPartitionReduceOp,
    BnStatsOp,
    BnAggrOp,
    TensorCopyPredicatedOp,
    AffineSelectOp,
    RangeSelectOp,
    SelectReduceOp,
    SequenceBoundsOp,
    ActivationOp,
    ActivationReduceOp,
    Activate2Op,
    ExponentialOp,
    IotaOp,
    RegisterMoveOp,
    RegisterLoadOp,
    RegisterStoreOp,
    CoreBarrierOp,
    SendrecvOp,
    Max8Op,
    NcFindIndex8Op,
    NcMatchReplace8Op,
    TopkOp,
    NonzeroWithCountOp,
    NcStreamShuffleOp,
    LocalGatherOp,
    NcNGatherOp,
    *GENERATING,
)
"""Every instruction, in the order of the public API reference's families."""

OF_SCALARS: tuple[type[NisaOp], ...] = (RegisterComputeOp,)
"""Instructions that are Python's operators on scalars, and no functions of the API."""

Nisa = Dialect("nisa", [*INSTRUCTIONS, *OF_SCALARS], list(WORD_ATTRIBUTES))
