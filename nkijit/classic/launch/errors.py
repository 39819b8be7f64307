"""Names of findings of classic kernels in the public error reference (`nki.errors`).

If only the classic API has a rule, the id of the rule is the name of the error. This module maps
the rules that both APIs share to the names of their errors in the classic API.
"""

from __future__ import annotations

from dataclasses import replace

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.findings import Findings
from nkijit.traced.kernel import TracedKernel

ERROR_OF_RULE: dict[str, str] = {
    "alloc-partitions": "err_num_partition_exceed_arch_limit",
    "alloc-size": "err_size_of_dimension_exceed_arch_limit",
    "free-size-range": "err_size_of_dimension_exceed_arch_limit",
    "matmul-tile": "err_size_of_dimension_exceed_arch_limit",
    "transpose-shape": "err_size_of_dimension_exceed_arch_limit",
    "partitions-match": "err_num_partition_mismatch",
    "max-dims": "err_exceed_max_supported_dimension",
    "view": "err_tensor_access_out_of_bound",
    "index-bounds": "err_tensor_access_out_of_bound",
    "buffer": "err_unsupported_memory",
    "gpsimd-psum": "err_unsupported_memory",
    "indirect-operand": "err_indirect_indices_are_not_supported_with_nki_api",
    "indirect-base": "err_copy_dynamic_indirect_indices_not_natively_supported",
    "output-unwritten": "err_tensor_output_not_written_to",
}
"""Maps ids of rules to the names of errors in the reference."""

ERROR_OF_OPERAND: dict[tuple[str, str], str] = {
    ("dtype", "bias"): "err_activation_bias_invalid_type",
    ("dtype", "scale"): "err_activation_scale_invalid_type",
    ("column", "scale"): "err_activation_scale_scalar_or_vector",
}
"""Maps (id of a rule, operand of `activation`) to the name of an error in the reference."""

_ACTIVATIONS = ("nisa.activation", "nisa.activation_reduce")


def with_error_name(diagnostic: Diagnostic) -> Diagnostic:
    """Return the finding with a note of its name in the error reference."""
    name = ERROR_OF_RULE.get(diagnostic.rule.id)
    if diagnostic.subject in _ACTIVATIONS and diagnostic.operands:
        broken = (diagnostic.rule.id, diagnostic.operands[0].name)
        name = ERROR_OF_OPERAND.get(broken, name)
    note = f"nki.errors: {name}"
    if name is None or note in diagnostic.notes:
        return diagnostic
    return replace(diagnostic, notes=(*diagnostic.notes, note))


class ClassicTracedKernel(TracedKernel):
    """A specialisation of a classic kernel; its findings have the names of the error reference."""

    @property
    def diagnostics(self) -> Findings:
        """All findings of tracing and of the verification passes."""
        return Findings(map(with_error_name, super().diagnostics))

    def find(self, *passes: str) -> Findings:
        """Return the findings of some passes; see `TracedKernel.find`."""
        return Findings(map(with_error_name, super().find(*passes)))
