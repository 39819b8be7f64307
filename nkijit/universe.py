"""nkijit's plugin for xDSL's tools: dialects, passes and a target."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from nkijit.dialects.engine import Engine
from nkijit.dialects.ncc import Ncc
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki import Nki
from nkijit.passes.compile.pipeline import COMPILER
from nkijit.passes.lower.listing_target import ListingTarget
from nkijit.passes.lower.passes import LOWERING
from nkijit.passes.transform.reroll import RerollPass
from nkijit.passes.transform.unroll import UnrollPass
from nkijit.passes.verify.passes import VERIFICATION_PASSES


def _dialect(dialect: Dialect) -> Callable[[], Dialect]:
    return lambda: dialect


def _pass(pass_class: type[ModulePass]) -> Callable[[], type[ModulePass]]:
    return lambda: pass_class


PASSES = (
    *VERIFICATION_PASSES,
    *COMPILER,
    *(step.lowering for step in LOWERING),
    RerollPass,
    UnrollPass,
)

NKIJIT_UNIVERSE = Universe(
    all_dialects={
        "nki": _dialect(Nki),
        "nisa": _dialect(Nisa),
        "ncc": _dialect(Ncc),
        "engine": _dialect(Engine),
    },
    all_passes={pass_class.name: _pass(pass_class) for pass_class in PASSES},
    all_targets={ListingTarget.name: lambda: ListingTarget},
)
