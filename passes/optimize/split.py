"""`split-cores`: launch a kernel on two cores, each of which computes half of the results.

Each core keeps half of the stores to results, and the instructions that these need. The kernel
must run on one core, and all its tensors in shared HBM must be results: cores do not exchange data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64

from nkijit.dialects.core_program import MAX_CORES, core_suffix
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import KernelOp, shared_tensors
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.spelling import counted
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import Kind, Numbers
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.advise.stores import Without, first_part, result_stores

SPLIT_CORES = Kind(
    "split-cores",
    "Launch the kernel on two cores, each of which computes half of the results.",
    "Divide the stores to results between two programs: the first half of the bytes and the rest, "
    "or every other store. Instructions that a core's stores do not need are removed.",
    Numbers.same,
    "Logical NeuronCore configuration page; NKI programming model, launch grid",
)


def splits(kernels: Sequence[KernelOp]) -> Iterator[tuple[Proposal, list[KernelOp]]]:
    """Yield the ways to divide a kernel between two cores, each with the cores' programs."""
    kernel = kernels[0]
    if len(kernels) > 1 or kernel.target.version < nc_version.gen3:
        return
    facts = Facts(kernel)
    results = {base_of(value) for value in (*kernel.arguments, *kernel.return_op.values)}
    if any(isinstance(op, WAITING) for op in facts.position):
        return
    if any(value not in results for value in shared_tensors(kernel)):
        return
    stores = result_stores(facts)
    half = first_part(stores, 0.5)
    ways = (
        ("half of the results", (stores[:half], stores[half:])),
        ("every other store", (stores[::2], stores[1::2])),
    )
    for variant, (share, parts) in enumerate(ways):
        if all(parts):
            proposal = Proposal(
                SPLIT_CORES,
                "kernel",
                variant,
                kernel.location,
                f"launch on two cores, each with {share}",
                (
                    f"{counted(len(stores), 'store')} are divided; the caller launches "
                    f"{kernel.launch_name}[{MAX_CORES}](...)",
                ),
                facts.instructions,
                Without(parts[1]),
            )
            yield proposal, [_program(kernel, core, parts[1 - core]) for core in range(MAX_CORES)]


def _program(kernel: KernelOp, core: int, others: Sequence[NisaOp]) -> KernelOp:
    """Return the program of one core, without the stores of the other one."""
    edit = Edit(kernel)
    Without(others)(edit)
    copy = edit.kernel
    copy.properties["program"] = DenseArrayBase.from_list(i64, (core, MAX_CORES))
    copy.properties["sym_name"] = StringAttr(kernel.launch_name + core_suffix(core))
    return copy
