"""Names of the public error reference (`nki.errors`, 2.26): each is found, or cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nkijit
import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
import nkijit.language as current
from nkijit import NkiValidationError, TensorSpec
from nkijit.classic.launch.errors import ERROR_OF_OPERAND, ERROR_OF_RULE
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.kernels.arguments import ArgumentTypeError

NAMES = set(
    [
        "err_1d_arange_not_supported",
        "err_activation_bias_invalid_type",
        "err_activation_scale_invalid_type",
        "err_activation_scale_scalar_or_vector",
        "err_ambiguous_tensor_truth_value",
        "err_annotation_shape_mismatch",
        "err_bias_tensor_must_be_specified_in_allocation",
        "err_cannot_assign_to_index",
        "err_cannot_update_immutable_parameter",
        "err_control_flow_condition_depending_on_arange",
        "err_copy_dynamic_indirect_indices_not_natively_supported",
        "err_dynamic_control_flow_not_supported",
        "err_exceed_max_supported_dimension",
        "err_failed_to_infer_tile_from_local_tensor",
        "err_hbm_tensor_with_init_value_not_supported",
        "err_indirect_indices_are_not_supported_with_nki_api",
        "err_indirect_indices_free_dim",
        "err_leading_dimension_of_tensor_must_be_partition",
        "err_local_variable_used_out_of_scope",
        "err_mutable_parameter_not_returned",
        "err_nested_kernel_with_spmd_grid",
        "err_nki_api_outside_of_nki_kernel",
        "err_num_partition_exceed_arch_limit",
        "err_num_partition_mismatch",
        "err_shared_hbm_must_in_kernel_level",
        "err_size_of_dimension_exceed_arch_limit",
        "err_store_dst_shape_smaller_than_other_shape",
        "err_tensor_access_out_of_bound",
        "err_tensor_creation_on_scratchpad_with_init_value_not_supported",
        "err_tensor_output_not_written_to",
        "err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel",
        "err_unexpected_output_dependencies",
        "err_unsupported_expression_in_mask",
        "err_unsupported_memory",
        "err_unsupported_mixing_basic_advanced_tensor_indexing",
        "err_while_loop_requires_unconditional_entry",
    ]
)

RAISED = {
    "err_annotation_shape_mismatch": "ArgumentTypeError of a call, for parameters; Python does not "
    "evaluate annotations of local variables",
    "err_nki_api_outside_of_nki_kernel": "RuntimeError, where there is no kernel to have findings",
}
"""Errors that are exceptions and no findings."""

IMPOSSIBLE = {
    "err_bias_tensor_must_be_specified_in_allocation": "there is no hidden bias tile",
    "err_leading_dimension_of_tensor_must_be_partition": "block dimensions are tiles of their own",
    "err_tensor_creation_on_scratchpad_with_init_value_not_supported": "an initial value is an "
    "instruction that fills the tile",
    "err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel": "there is no hidden identity "
    "matrix",
    "err_while_loop_requires_unconditional_entry": "loops that depend on tensors are refused as "
    "err_dynamic_control_flow_not_supported",
}
"""Errors that cannot happen here, and why."""

MAPPED = {*ERROR_OF_RULE.values(), *ERROR_OF_OPERAND.values()}


def test_every_name_is_known() -> None:
    assert len(NAMES) == 36
    known = {*RULE_TEXTS, *MAPPED, *RAISED, *IMPOSSIBLE}
    assert sorted(NAMES - known) == []


def test_no_name_is_made_up() -> None:
    used = {name for name in {*RULE_TEXTS, *MAPPED, *RAISED, *IMPOSSIBLE} if name[:4] == "err_"}
    assert sorted(used - NAMES) == []
    rules = {*ERROR_OF_RULE, *(rule for rule, _ in ERROR_OF_OPERAND)}
    assert sorted(rules - set(RULE_TEXTS)) == []


def noted(kernel: Any, *arguments: Any) -> set[str]:
    """Errors that the notes of a kernel's findings name."""
    try:
        diagnostics = kernel.trace(*arguments).diagnostics
    except NkiValidationError as error:
        diagnostics = error.diagnostics
    notes = [note for d in diagnostics for note in d.notes if note.startswith("nki.errors: ")]
    return {note.removeprefix("nki.errors: ") for note in notes}


X = TensorSpec((8, 4), "float32")


def _partitions(x: Any) -> None:
    nl.zeros((256, 4), dtype=nl.float32)


def _size(x: Any) -> None:
    nl.zeros((8, 1 << 20), dtype=nl.float32)


def _mismatch(x: Any) -> None:
    tiles = [nl.zeros((rows, 4), nl.float32).whole() for rows in (8, 8, 4)]
    nkijit.isa.tensor_tensor(*tiles, op=current.add)


def _bounds(x: Any) -> None:
    nl.load(x[0:16])


def _memory(x: Any) -> None:
    nisa.tensor_tensor(x, x, op=np.add)


def _output(x: Any) -> Any:
    return nl.ndarray((8, 4), dtype=x.dtype, buffer=nl.shared_hbm)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (_partitions, "err_num_partition_exceed_arch_limit"),
        (_size, "err_size_of_dimension_exceed_arch_limit"),
        (_mismatch, "err_num_partition_mismatch"),
        (_bounds, "err_tensor_access_out_of_bound"),
        (_memory, "err_unsupported_memory"),
        (_output, "err_tensor_output_not_written_to"),
    ],
)
def test_findings_name_the_error(function: Any, error: str) -> None:
    assert noted(nki.jit(function), X) == {error}


def test_findings_by_pass_name_the_error() -> None:
    (found,) = nki.trace(_output).trace(X).find("verify-init")
    assert "nki.errors: err_tensor_output_not_written_to" in found.notes


def test_calls_raise_findings_with_the_names() -> None:
    x = np.zeros((8, 4), np.float32)
    for function in (_bounds, _output):
        with pytest.raises(NkiValidationError, match=r"nki\.errors: err_tensor_"):
            nki.jit(function)(x)


def test_the_operands_of_activations_have_errors_of_their_own() -> None:
    @nki.jit
    def kernel(x: Any) -> None:
        tile = nl.load(x).whole()
        half, wide = (nl.ndarray(shape, nl.float16).whole() for shape in ((8, 1), (8, 4)))
        nkijit.isa.memset(half, 0)
        nkijit.isa.memset(wide, 0)
        nkijit.isa.activation(tile, current.exp, tile, scale=half)
        nkijit.isa.activation(tile, current.exp, tile, scale=wide)

    assert {
        "err_activation_scale_invalid_type",
        "err_activation_scale_scalar_or_vector",
    } <= noted(kernel, X)


def test_findings_of_the_current_api_have_no_such_notes() -> None:
    @nkijit.jit
    def kernel(x: Any) -> None:
        nkijit.isa.tensor_copy(x, x)

    assert kernel.trace(X).diagnostics
    assert noted(kernel, X) == set()


def test_a_call_outside_of_a_kernel_names_the_error() -> None:
    with pytest.raises(RuntimeError, match="err_nki_api_outside_of_nki_kernel"):
        nl.ndarray((8, 4), dtype=nl.float32)
    with pytest.raises(RuntimeError, match="err_nki_api_outside_of_nki_kernel"):
        nl.program_id(0)


def test_annotated_parameters_are_held_to_their_shapes() -> None:
    from nkijit.classic.typing import tensor

    def kernel(x: Any) -> Any:
        return x

    kernel.__annotations__["x"] = tensor[8, 8]
    with pytest.raises(ArgumentTypeError, match=r"states nt\.tensor\[8, 8\]"):
        nki.jit(kernel).trace(X)
