"""Rules of the classic API (`neuronxcc.nki`), with the error names of its public reference."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import rule
from nkijit.dialects.rule_texts.text import RuleText, WarningGroup

ERRORS = "NKI API errors (nki.errors)"


def _error(name: str, category: str, sentence: str, help: str) -> RuleText:
    """Define a rule of the public error reference, under the error's name in the reference."""
    return rule(name, category, sentence, help, ERRORS)


AFFINE_INDEX = rule(
    "affine-index",
    "access",
    "An index expression is affine in nl.arange, nl.mgrid and loop variables.",
    "use sums of such expressions and products with integers",
    "NKI programming model, tensor indexing",
)
INDEX_ASSIGNMENT = _error(
    "err_cannot_assign_to_index",
    "access",
    "An index expression or a mask does not support item assignment.",
    "make a tile of it with nisa.iota and assign to that",
)
INDEX_CONTROL_FLOW = _error(
    "err_control_flow_condition_depending_on_arange",
    "access",
    "Control flow does not depend on nl.arange or nl.mgrid.",
    "give the condition to the instruction as mask=",
)
MASK_EXPRESSION = _error(
    "err_unsupported_expression_in_mask",
    "access",
    "A mask is a conjunction of comparisons of affine index expressions that fit the tile.",
    "compare sums of nl.arange, nl.mgrid and loop variables, and join comparisons with &",
)
INDEX_1D = _error(
    "err_1d_arange_not_supported",
    "access",
    "An index of a tile has at least two dimensions, partitions and elements.",
    "add a dimension, nl.arange(n)[:, None], or index with slices",
)
MIXED_INDEXING = _error(
    "err_unsupported_mixing_basic_advanced_tensor_indexing",
    "access",
    "Slices and index expressions are not mixed in one index.",
    "use slices for all dimensions, or index expressions and integers for all",
)
OUT_OF_BOUNDS = _error(
    "err_tensor_access_out_of_bound",
    "access",
    "Each index is inside the tensor, except where the mask leaves the element out.",
    "correct the index, or leave out what is beyond the tensor with mask=",
)
TILE_EXPECTED = _error(
    "err_failed_to_infer_tile_from_local_tensor",
    "shape",
    "An operand is a tile: its first dimension is the partition dimension.",
    "index the block dimensions with integers",
)
STORE_SHAPE = _error(
    "err_store_dst_shape_smaller_than_other_shape",
    "shape",
    "An assigned value has the shape of the destination, or broadcasts to it.",
    "make the destination larger, or reduce what is assigned",
)
DIMENSIONS = _error(
    "err_exceed_max_supported_dimension",
    "shape",
    "An operand has as many dimensions as the function takes.",
    "merge free dimensions with reshape, or index some of them with integers",
)
TRUTH_VALUE = _error(
    "err_ambiguous_tensor_truth_value",
    "operator",
    "A tensor has no truth value while a kernel is traced.",
    "compare with `is None`, or use & | ~ for tensors",
)
PARAMETER_TRUTH_VALUE = rule(
    "parameter-truth-value",
    "operator",
    "A tensor that is given for an optional parameter counts as true, whatever it holds.",
    "compare with `is not None`",
    f"{ERRORS}, err_ambiguous_tensor_truth_value",
    group=WarningGroup.advice,
)
DYNAMIC_CONTROL_FLOW = _error(
    "err_dynamic_control_flow_not_supported",
    "operator",
    "Control flow does not depend on the values of tensors.",
    "decide on shapes, dtypes and other arguments, or compute both with nl.where",
)
INDIRECT_FREE_DIM = _error(
    "err_indirect_indices_free_dim",
    "access",
    "At most one index of a DMA is a tile: the index of the partition dimension, with shape (P, "
    "1).",
    "make the index with nl.arange(n)[:, None] and not with nl.mgrid",
)
RETURNED_ON_CHIP = rule(
    "returned-tile",
    "buffer",
    "A kernel returns tensors in HBM; nkijit copies a tile that a classic kernel returns, the "
    "vendor's compiler refuses it.",
    "store the tile to a tensor allocated with buffer=nl.shared_hbm and return that",
    "NKI known issues: top-level tensors must be on HBM",
    group=WarningGroup.portability,
)
HBM_INITIAL_VALUE = _error(
    "err_hbm_tensor_with_init_value_not_supported",
    "buffer",
    "A tensor in HBM has no initial value, and is the same in all instances of a grid.",
    "allocate it with nl.ndarray and store to it",
)
PLACED_INITIAL_VALUE = _error(
    "err_tensor_creation_on_scratchpad_with_init_value_not_supported",
    "buffer",
    "A tensor in SBUF or PSUM whose address the kernel chooses has no initial value.",
    "allocate it with nl.ndarray and assign to it",
)
UNSUPPORTED_MEMORY = _error(
    "err_unsupported_memory",
    "buffer",
    "An operand lives in a memory that the function reads or writes.",
    "load it to SBUF, or store it to HBM, first",
)
ACTIVATION_BIAS = _error(
    "err_activation_bias_invalid_type",
    "dtype",
    "The bias of an activation is a tile of float32, float16 or bfloat16.",
    "allocate the bias as nl.float32, or convert it with nisa.tensor_copy(bias, dtype=nl.float32)",
)
