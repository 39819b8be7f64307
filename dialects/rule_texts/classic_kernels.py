"""Rules about a whole classic kernel: parameters and results, grids, placement of tiles."""

from __future__ import annotations

from nkijit.dialects.rule_texts.classic import ERRORS
from nkijit.dialects.rule_texts.registry import rule
from nkijit.dialects.rule_texts.text import WarningGroup

IMMUTABLE_PARAMETER = rule(
    "err_cannot_update_immutable_parameter",
    "buffer",
    "A classic kernel with results writes only parameters that are annotated as nt.mutable_tensor.",
    "annotate the parameter with nt.mutable_tensor, of neuronxcc.nki.typing, and return it; or "
    "write to a tensor allocated with buffer=nl.shared_hbm",
    ERRORS,
)
PARAMETER_NOT_RETURNED = rule(
    "err_mutable_parameter_not_returned",
    "buffer",
    "A classic kernel with results returns the parameters that it writes.",
    "add the parameter to the kernel's return statement",
    ERRORS,
)
OUTPUT_NOT_WRITTEN = rule(
    "err_tensor_output_not_written_to",
    "initialisation",
    "A classic kernel writes the tensors that it returns; a kernel that returns none writes a "
    "parameter.",
    "check that the loops and conditions around the stores are entered",
    ERRORS,
)
NESTED_GRID = rule(
    "err_nested_kernel_with_spmd_grid",
    "target",
    "A kernel that is called inside another one has no grid of its own.",
    "call it without a grid, and give the grid to the outer kernel",
    ERRORS,
)
OUT_OF_SCOPE = rule(
    "err_local_variable_used_out_of_scope",
    "dataflow",
    "A tile that a loop allocates is not used after the loop, and a tile that a branch allocates "
    "is not used after the branch if its condition depends on a loop variable.",
    "allocate the tile before the loop, and assign to it in the loop",
    ERRORS,
    group=WarningGroup.suspicious,
)
SHARED_IN_LOOP = rule(
    "err_shared_hbm_must_in_kernel_level",
    "buffer",
    "A tensor in shared HBM is not allocated in a loop, or in a branch that depends on a loop "
    "variable.",
    "move the line before the loop",
    ERRORS,
    group=WarningGroup.suspicious,
)
OUTPUT_DEPENDENCE = rule(
    "err_unexpected_output_dependencies",
    "dataflow",
    "Instances of a grid and iterations of nl.affine_range are independent: none reads or writes "
    "elements that another one writes. A sum or another reduction over all of them is allowed.",
    "index what is written with the program id or the loop variable, or use nl.sequential_range",
    f"{ERRORS}; NKI API reference 2.26, nki.language.affine_range",
)
DIRECT_ALLOCATION = rule(
    "direct-allocation",
    "memory",
    "A tile in SBUF that nki.compiler places starts at a partition where a tile of its size may "
    "start, and at an aligned byte. A tile in PSUM starts at partition 0, at the first byte of a "
    "bank.",
    "place an SBUF tile at partition 0; one of at most 64 partitions may also start at 64, one of"
    " at most 32 also at 32 and 96; place a PSUM tile in a bank from 0 to 7, at partition 0, byte"
    " 0",
    "NKI API reference 2.26, nki.compiler; NKI direct allocation guide",
)
MIXED_ALLOCATION = rule(
    "mixed-allocation",
    "memory",
    "The vendor's compiler takes kernels that place all their tiles with nki.compiler, or none.",
    "allocate it with nl.ndarray and buffer=nki.compiler.sbuf.mod_alloc(...) as well, or place no "
    "tile (nki.compiler.force_auto_alloc)",
    "NKI API reference 2.26, nki.compiler; NKI direct allocation guide, common errors",
    group=WarningGroup.advice,
)
