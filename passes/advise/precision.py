"""`widened-matmul`, `matmul-bf16`, `matmul-fp8`: give the inputs of matmuls a narrower dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import BlockArgument, SSAValue

from nkijit.dialects.declare.queries import is_transpose
from nkijit.dialects.dtypes import DTYPES, DType
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import Edit, NotPossibleError
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import MATMUL_BF16, MATMUL_FP8, WIDENED_MATMUL, Kind
from nkijit.passes.advise.proposal import Proposal, name_of
from nkijit.passes.advise.retype import retype, tied
from nkijit.passes.analysis.writes.widened import narrow_sources

_HALF = ("bfloat16", "float16")


def narrower_matmuls(facts: Facts) -> Iterator[Proposal]:
    """Yield proposals to narrow the dtypes of inputs, for each source line with matmuls."""
    lines: dict[LocationAttr, list[NcMatmulOp]] = {}
    for op in facts.instructions:
        if isinstance(op, NcMatmulOp) and not is_transpose(op):
            lines.setdefault(op.location, []).append(op)
    narrow = narrow_sources(facts.kernel)
    for location, ops in lines.items():
        dtypes = {info_of(op.moving).dtype.name for op in ops}
        sources = {narrow.get(base_of(v)) for op in ops for v in (op.stationary, op.moving)}
        source = next(iter(sources))
        if len(sources) == 1 and source is not None:
            yield from _proposal(WIDENED_MATMUL, location, ops, source, facts)
        elif dtypes == {"float32"}:
            yield from _proposal(MATMUL_BF16, location, ops, DTYPES["bfloat16"], facts)
        elif dtypes <= set(_HALF):
            yield from _proposal(MATMUL_FP8, location, ops, DTYPES["float8_e4m3"], facts)


def _proposal(
    kind: Kind, location: LocationAttr, ops: Sequence[NcMatmulOp], dtype: DType, facts: Facts
) -> Iterator[Proposal]:
    starts = [base_of(value) for op in ops for value in (op.stationary, op.moving)]
    narrower = kind is WIDENED_MATMUL
    try:
        bases = tied(facts, starts, dtype, narrower=narrower)
    except NotPossibleError:
        return
    if not bases:
        return
    was = info_of(ops[0].moving).dtype.name
    tiles = " and ".join(
        name_of(base_of(value).name_hint for value in each)
        for each in ([op.stationary for op in ops], [op.moving for op in ops])
    )
    arguments = [b.name_hint or "an argument" for b in bases if isinstance(b, BlockArgument)]
    if narrower:
        message = f"keep {tiles} {dtype.name}: they are cast to {was} to be multiplied"
        reasons = (f"their values came in as {dtype.name}; {was} takes several passes",)
    else:
        message = f"multiply {tiles} as {dtype.name}, not {was}"
        reasons = (f"with {', '.join(arguments)} as {dtype.name}",) if arguments else ()
    touched = [access.op for base in bases for access in facts.accesses.get(base, [])]
    about = list(dict.fromkeys([*ops, *touched]))
    yield Proposal(
        kind, location, 0, location, message, reasons, about, _Retype(bases, dtype)
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Retype:
    bases: Sequence[SSAValue]
    dtype: DType

    def __call__(self, edit: Edit) -> None:
        # Look up all values first: `retype` replaces them.
        for base in [edit.value(base) for base in self.bases]:
            retype(base, self.dtype)
