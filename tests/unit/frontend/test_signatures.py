"""The public API against the reference and against the op declarations."""

from __future__ import annotations

import inspect

import pytest

import nkijit.isa as nisa
import nkijit.language as nl
from nkijit import collectives as ncc
from nkijit.dialects.collectives import COLLECTIVES
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.operators import OPERATORS
from nkijit.passes.interpret.binding import _SEMANTICS

# From the API reference (nki.isa, SDK 2.32): argument names with their defaults, `...` for none.
REFERENCE = {
    "dma_copy": "dst src priority=None oob_mode=oob_mode.error dge_mode=dge_mode.unknown "
    "engine=engine.unknown name=None",
    "tensor_copy": "dst src engine=engine.unknown name=None",
    "memset": "dst value engine=engine.unknown name=None",
    "nc_matmul": "dst stationary moving is_stationary_onezero=False is_moving_onezero=False "
    "is_transpose=False accumulate=None tile_position=() tile_size=() "
    "perf_mode=matmul_perf_mode.none name=None",
    "nc_matmul_mx": "dst stationary moving stationary_scale moving_scale tile_position=None "
    "tile_size=None accumulate=None name=None",
    "quantize_mx": "dst src dst_scale name=None",
    "dma_transpose": "dst src axes=None priority=None dge_mode=dge_mode.unknown "
    "oob_mode=oob_mode.error name=None",
    "nc_transpose": "dst data engine=engine.unknown name=None",
    "tensor_tensor": "dst data1 data2 op engine=engine.unknown name=None",
    "tensor_scalar": "dst data op0 operand0 reverse0=False op1=None operand1=None reverse1=False "
    "engine=engine.unknown name=None",
    "tensor_reduce": "dst op data axis negate=False keepdims=False name=None",
    "activation": "dst op data bias=None scale=1.0 reduce_op=None reduce_res=None "
    "reduce_cmd=reduce_cmd.idle name=None",
    "activation_reduce": "dst op data reduce_op reduce_res bias=None scale=1.0 name=None",
    "activate2": "dst op data imm0 imm1 op0 op1 relu_param=0.0 reverse0=False reverse1=False "
    "reduce_op=None reduce_res=None reduce_cmd=reduce_cmd.idle name=None",
    "dma_compute": "dst srcs reduce_op scales=None unique_indices=True oob_mode=oob_mode.error "
    "name=None",
    "register_move": "dst src",
    "register_load": "dst src",
    "register_store": "dst src",
    "iota": "dst pattern offset=0 channel_multiplier=0 name=None",
    "exponential": "dst src max_value=0.0 reduce_res=None reduce_cmd=reduce_cmd.idle "
    "reduce_init=0.0 name=None",
    "reciprocal": "dst data name=None",
    "tensor_scalar_reduce": "dst data op0 operand0 reduce_op reduce_res=None reverse0=False "
    "reduce_cmd=reduce_cmd.reset_reduce reduce_init=None reduce_res_negate=False name=None",
    "tensor_scalar_cumulative": "dst src op0 op1 imm0 imm1=None "
    "reduce_cmd=reduce_cmd.reset_reduce name=None",
    "tensor_tensor_scan": "dst data0 data1 initial op0 op1 reverse0=False reverse1=False name=None",
    "tensor_partition_reduce": "dst op data name=None",
    "bn_stats": "dst data name=None",
    "bn_aggr": "dst data name=None",
    "tensor_copy_predicated": "dst src predicate reverse_pred=False name=None",
    "affine_select": "dst pattern channel_multiplier on_true_tile on_false_value cmp_op=nl.equal "
    "offset=0 name=None",
    # The reference prints no number for on_false_value; it must be FP32_MIN.
    "range_select": "dst on_true_tile comp_op0 comp_op1 bound0 bound1 "
    "reduce_cmd=reduce_cmd.reset_reduce reduce_res=None reduce_op=nl.maximum range_start=0 "
    "on_false_value=-3.4028234663852886e+38 name=None",
    "select_reduce": "dst predicate on_true on_false reduce_res=None reduce_cmd=reduce_cmd.idle "
    "reduce_op=nl.maximum reverse_pred=False name=None",
    "sequence_bounds": "dst segment_ids name=None",
    "scalar_tensor_tensor": "dst data op0 operand0 op1 operand1 reverse0=False reverse1=False "
    "name=None",
    "max8": "dst src name=None",
    "nc_find_index8": "dst data vals name=None",
    "nc_match_replace8": "dst data vals imm dst_idx=None name=None",
    "topk": "val_dst idx_dst src n name=None",
    "nonzero_with_count": "dst src index_offset=0 padding_val=-1 name=None",
    "nc_stream_shuffle": "dst src shuffle_mask name=None",
    "local_gather": "dst src_buffer index num_elem_per_idx=1 num_valid_indices=None name=None",
    "nc_n_gather": "dst data indices name=None",
    "rng": "dst engine=engine.vector name=None",
    "rand2": "dst min max name=None",
    "dropout": "dst data prob name=None",
    "set_rng_seed": "src_seeds name=None",
    "rand_set_state": "src_seeds engine=engine.gpsimd name=None",
    "rand_get_state": "dst engine=engine.gpsimd name=None",
    "core_barrier": "data cores engine=engine.gpsimd name=None",
    "sendrecv": "src dst send_to_rank recv_from_rank pipe_id dma_engine=dma_engine.dma name=None",
}

# The same of nki.collectives.
COLLECTIVES_REFERENCE = {
    "all_reduce": "srcs dsts replica_group op priority=None name=None",
    "all_gather": "srcs dsts replica_group collective_dim priority=None name=None",
    "all_gather_v": "srcs dsts replica_group metadata_tensor recv_counts_known=False "
    "has_rdispls=False priority=None name=None",
    "reduce_scatter": "srcs dsts replica_group collective_dim op priority=None name=None",
    "all_to_all": "srcs dsts replica_group collective_dim priority=None name=None",
    "all_to_all_v": "srcs dsts replica_group metadata_tensor recv_counts_known=False "
    "has_rdispls=False priority=None name=None",
    "collective_permute": "srcs dsts source_target_pairs priority=None name=None",
    "collective_permute_implicit": "srcs_by_channel dsts_by_channel replica_group channel_ids=[0] "
    "priority=None name=None",
    "collective_permute_implicit_reduce": "srcs0_by_channel srcs1_by_channel dsts_by_channel "
    "replica_group op channel_ids=[0] priority=None name=None",
    "collective_permute_implicit_current_processing_rank_id": "iteration_id replica_group "
    "channel_id=0 name=None",
    "rank_id": "name=None",
}


def _shown(function) -> str:
    return " ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default}"
        for p in inspect.signature(function).parameters.values()
    )


@pytest.mark.parametrize("name", REFERENCE)
def test_signature_is_the_references(name: str):
    assert _shown(getattr(nisa, name)) == REFERENCE[name]


@pytest.mark.parametrize("name", COLLECTIVES_REFERENCE)
def test_signature_of_a_collective_is_the_references(name: str):
    assert _shown(getattr(ncc, name)) == COLLECTIVES_REFERENCE[name]
    assert set(ncc.__all__) == {"ReplicaGroup", *COLLECTIVES_REFERENCE}


def test_signature_of_register_alloc():
    """It is no instruction, only what it does with an initial value is."""
    (parameter,) = inspect.signature(nisa.register_alloc).parameters.values()
    assert (parameter.name, parameter.default) == ("x", None)


def test_every_instruction_has_an_api_function_and_semantics():
    assert {op.SPEC.name for op in INSTRUCTIONS} == set(REFERENCE)
    assert {op.SPEC.name for op in COLLECTIVES} == set(COLLECTIVES_REFERENCE)
    assert set(_SEMANTICS) == {*INSTRUCTIONS, *COLLECTIVES}


@pytest.mark.parametrize("op_class", INSTRUCTIONS, ids=lambda op: op.SPEC.name)
def test_op_fields_are_the_signatures(op_class):
    parameters = inspect.signature(getattr(nisa, op_class.SPEC.name)).parameters
    # Register instructions have no name.
    assert [f.name for f in op_class.SPEC.fields] == [p for p in parameters if p != "name"]
    for f in op_class.SPEC.fields:
        default = parameters[f.name].default
        if default is inspect.Parameter.empty:
            # Required by position; None is a value that some of them take.
            assert f.required or f.default is None
        else:
            assert not f.required
            assert f.default == getattr(default, "nki_operator", default)


@pytest.mark.parametrize("op_class", COLLECTIVES, ids=lambda op: op.SPEC.name)
def test_op_fields_are_the_collectives_signatures(op_class):
    parameters = dict(inspect.signature(getattr(ncc, op_class.SPEC.name)).parameters)
    assert parameters.pop("name").default is None
    # A register that the function returns is the first field.
    results = ["dst"] if "dst" in op_class.SPEC.by_name else []
    assert [f.name for f in op_class.SPEC.fields] == [*results, *parameters]
    optional = {name for name, p in parameters.items() if p.default is not p.empty}
    # The text of the IR always says which channels there are.
    optional -= {"channel_ids", "channel_id"}
    assert {f.name for f in op_class.SPEC.fields if not f.required} == optional


@pytest.mark.parametrize("name", COLLECTIVES_REFERENCE)
def test_docstring_of_a_collective_describes_every_argument(name: str):
    function = getattr(ncc, name)
    text = " ".join((inspect.getdoc(function) or "").split())
    assert f"Source: NKI API reference, nki.collectives.{name}." in text
    for parameter in inspect.signature(function).parameters:
        assert f"\n    {parameter}: " in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("name", REFERENCE)
def test_docstring_describes_every_argument_and_names_its_source(name: str):
    function = getattr(nisa, name)
    text = inspect.getdoc(function)
    assert f"Source: NKI API reference, nki.isa.{name}." in text
    for parameter in inspect.signature(function).parameters:
        assert f"\n    {parameter}: " in text


def test_language_has_every_dtype_and_operator():
    assert all(getattr(nl, name) == name for name in DTYPES)
    assert all(getattr(nl, name).__name__ == name for name in OPERATORS)
    assert set(nl.__all__) >= {*DTYPES, *OPERATORS}


def test_enumerations_have_the_references_members():
    assert {e.name: e.value for e in nisa.engine} == {
        "tensor": 1, "vector": 5, "scalar": 2, "gpsimd": 3, "dma": 4, "sync": 6, "unknown": 0,
    }  # fmt: skip
    assert {c.name: c.value for c in nisa.reduce_cmd} == {
        "idle": 0, "reset": 1, "reduce": 2, "reset_reduce": 3, "load_reduce": 4,
    }  # fmt: skip
    assert [v.name for v in nisa.nc_version] == ["gen2", "gen3", "gen4"]
    assert nisa.nc_version.gen3 < nisa.nc_version.gen4
    assert nisa.vector_engine is nisa.engine.vector
    assert nl.hbm is nl.private_hbm
