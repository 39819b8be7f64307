"""Everything that the API reference makes public, written down by hand (SDK 2.33).

Signatures are argument names with their defaults. One table per module or class;
`frontend/test_public_names.py` holds nkijit against them.
"""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def by_name(names_of: dict[str, str]) -> dict[str, str]:
    """From names by signature to signatures by name."""
    return {name: signature for signature, names in names_of.items() for name in words(names)}


NKI = {
    # Of the options, the release notes name these two; a third one is refused by name.
    "jit": "fn=None platform_target=None mode='auto' **options",
    "simulate": "kernel",
}

ISA_INSTRUCTIONS = {
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
    "reduce_cmd=reduce_cmd.idle engine=engine.scalar name=None",
    "activation_reduce": "dst op data reduce_op reduce_res bias=None scale=1.0 name=None",
    "activate2": "dst op data imm0 imm1 op0 op1 relu_param=0.0 reverse0=False reverse1=False "
    "reduce_op=None reduce_res=None reduce_cmd=reduce_cmd.idle engine=engine.scalar name=None",
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
    # The reference prints no default for reduce_op.
    "scalar_tensor_tensor": "dst data op0 operand0 op1 operand1 reverse0=False reverse1=False "
    "reduce_cmd=reduce_cmd.reset_reduce reduce_op=None reduce_res=None name=None",
    "max8": "dst src name=None",
    "nc_find_index8": "dst data vals name=None",
    "nc_match_replace8": "dst data vals imm dst_idx=None name=None",
    "topk": "val_dst idx_dst src n sorted=False name=None",
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
    "dma_compute": "dst srcs reduce_op scales=None unique_indices=True oob_mode=oob_mode.error "
    "name=None",
}

ISA_FUNCTIONS = {
    "get_nc_version": "",
    "get_nc_sub_version": "",
    "register_alloc": "x=None",
    "scalar_load": "src",
    "scalar_store": "dst value",
}

ISA_ENUMS: dict[str, dict[str, int | str]] = {
    "engine": {
        "tensor": 1, "vector": 5, "scalar": 2, "gpsimd": 3, "dma": 4, "sync": 6, "unknown": 0,
    },
    "reduce_cmd": {"idle": 0, "reset": 1, "reduce": 2, "reset_reduce": 3, "load_reduce": 4},
    "dge_mode": {"unknown": 0, "swdge": 1, "hwdge": 2, "none": 3},
    "oob_mode": {"error": 0, "skip": 1},
    "matmul_perf_mode": {"none": "none", "double_row": "double_row"},
    "nc_version": {"gen2": 2, "gen3": 3, "gen4": 4},
    "dma_engine": {"dma": 1, "gpsimd_dma": 2},
}  # fmt: skip

ISA_NAMES_OF_ENGINES = {
    "tensor_engine": "tensor",
    "vector_engine": "vector",
    "scalar_engine": "scalar",
    "gpsimd_engine": "gpsimd",
    "unknown_engine": "unknown",
}

ISA_CLASSES = {
    "NkiInstruction": {"depends_on": "*producers"},
    "NkiScalar": {},
    "NkiValidationError": {},
    "VirtualRegister": {},
}

LANGUAGE_FUNCTIONS = by_name(
    {
        "x y dtype=None": """
            add subtract multiply divide maximum minimum abs_max abs_min power equal not_equal
            less less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor left_shift
            right_shift logical_and logical_or logical_xor fmod mod
        """,
        "x dtype=None": """
            abs square invert logical_not exp log sqrt rsqrt tanh sigmoid relu gelu
            gelu_apprx_sigmoid gelu_apprx_tanh gelu_dx gelu_apprx_sigmoid_dx silu silu_dx softplus
            mish erf erf_dx reciprocal copy transpose sin cos tan arctan ceil floor trunc negative
            sign
        """,
        "x axis dtype=None keepdims=False": "sum max min mean prod var",
        "x axis dtype=None": "all",
        "x axis=-1 dtype=None": "softmax",
        "x w axis n epsilon=1e-06 dtype=None compute_dtype=None": "rms_norm",
        "condition x y dtype=None": "where",
        "shape dtype buffer=MemoryRegion.sbuf name=''": "ones zeros rand",
        "shape fill_value dtype buffer=MemoryRegion.sbuf name=''": "full",
        "x dtype=None buffer=None name=''": "zeros_like",
        "x dtype=None buffer=None name='' transpose_axes=None address=None": "empty_like",
        "x axis": "expand_dims",
        "x shape dtype=None": "broadcast_to",
        "constant": "shared_constant",
        "n dtype='uint8' dst=None": "shared_identity_matrix",
        "shape dtype buffer=MemoryRegion.sbuf name='' address=None": "ndarray",
        "src dtype=None": "load load_transpose2d",
        "dst value": "store",
        "x y transpose_x=False": "matmul",
        "data indices axis=0 dtype=None": "gather_flattened",
        "start size": "ds",
        "start stop=None step=1": "affine_range sequential_range static_range dynamic_range",
        "lower upper body_fun step=1": "fori_loop",
        "init body_fun": "while_loop",
        "": "no_reorder program_ndim",
        "axis=0": "program_id",
        "axes=0": "num_programs",
        "print_prefix tensor": "device_print",
        "seed": "random_seed",
        "x rate dtype=None": "dropout",
        "buffer": "is_hbm is_on_chip is_psum is_sbuf",
        "source tile_shape=None": "tiles",
        "source tile_shape=None block_shape": "blocks",
        "tile_shape element_shape buffer dtype address=None name=''": "alloc_tiles",
        "tile_shape block_shape element_shape buffer dtype address=None name=''": "alloc_blocks",
    }
)

LANGUAGE_WORDS = ("average", "prelu", "bypass")
"""Operators that are arguments only."""

LANGUAGE_DTYPES = words(
    """
    bool_ int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 tfloat32 float32 float8_e4m3
    float8_e4m3fn float8_e5m2 float8_e8m0fnu float8_e5m2_x4 float8_e4m3fn_x4 float4_e2m1fn_x4
    """
)

LANGUAGE_BUFFERS = ("sbuf", "psum", "hbm", "private_hbm", "shared_hbm")

LANGUAGE_OTHERS = (
    *("DType", "MemoryRegion", "NKIObject", "NkiTensor", "tile_size"),
    *("NkiGrid", "NkiTileGrid", "NkiBlockGrid"),
)

GRID_ATTRIBUTES = words(
    """
    buffer data dtype element_shape index_step_elements is_data_representable is_remainder shape
    tile_shape
    """
)

MEMORY_REGION = {
    "sbuf": "sbuf",
    "psum": "psum",
    "private_hbm": "private_hbm",
    "shared_hbm": "shared_hbm",
}

NKI_OBJECT = {"__init__": "*args **kwargs"}
"""The reference has `**kwargs` only; values by position are a dataclass's."""

TENSOR_ATTRIBUTES = (
    *("shape", "strides", "offset", "name", "dtype", "buffer", "ndim", "size"),
    "data",  # not in the list of attributes; the example of NkiTileGrid reads it
)

TENSOR_METHODS = {
    "__init__": "shape dtype storage buffer=MemoryRegion.sbuf name=''",
    "__getitem__": "key",
    "__setitem__": "key value",
    "is_contiguous": "",
    "get_pattern": "",
    "is_indirect": "",
    "permute": "dims",
    "broadcast": "dim size",
    "expand_dim": "dim",
    "squeeze_dim": "dim",
    "reshape_dim": "dim shape",
    "flatten_dims": "start_dim end_dim",
    "reshape": "shape",
    "rearrange": "src_pattern dst_pattern fixed_sizes=None",
    "slice": "dim start end step=1",
    "select": "dim index",
    "vector_select": "dim vector_offset",
    "ap": "pattern offset=None scalar_offset=None vector_offset=None indirect_dim=0 dtype=None",
    "view": "dtype",
    "reinterpret_cast": "dtype",
    "indirect": "index num_elem=None",
}

TILE_SIZE = words(
    """
    pmax psum_fmax psum_bank_fmax psum_bank_fmax_bytes psum_num_banks gemm_stationary_fmax
    gemm_moving_fmax bn_stats_fmax psum_min_align sbuf_min_align sbuf_size_bytes sbuf_fmax
    sbuf_fmax_bytes total_available_sbuf_size
    """
)

_SOURCES = "srcs dsts replica_group"
_LAST = "priority=None name=None"

COLLECTIVES_IN_PARTS = (
    *("all_gather_v_prepare", "all_gather_v_trigger"),
    *("all_to_all_v_prepare", "all_to_all_v_trigger"),
)
"""Their fields are shared out: the tensors that move belong to the instruction that moves them."""

COLLECTIVES = {
    "all_reduce": f"{_SOURCES} op {_LAST}",
    "all_gather": f"{_SOURCES} collective_dim {_LAST}",
    "all_gather_v": f"{_SOURCES} metadata_tensor recv_counts_known=False has_rdispls=False {_LAST}",
    "all_gather_v_prepare": f"{_SOURCES} metadata_tensor recv_counts_known=False "
    f"has_rdispls=False {_LAST}",
    "all_gather_v_trigger": "prepare_instr name=None",
    "reduce_scatter": f"{_SOURCES} collective_dim op {_LAST}",
    "all_to_all": f"{_SOURCES} collective_dim {_LAST}",
    "all_to_all_v": f"{_SOURCES} metadata_tensor recv_counts_known=False has_rdispls=False {_LAST}",
    "all_to_all_v_prepare": f"{_SOURCES} metadata_tensor recv_counts_known=False "
    f"has_rdispls=False {_LAST}",
    "all_to_all_v_trigger": "prepare_instr name=None",
    "collective_permute": f"srcs dsts source_target_pairs {_LAST}",
    "collective_permute_implicit": "srcs_by_channel dsts_by_channel replica_group "
    f"channel_ids=[0] {_LAST}",
    "collective_permute_implicit_reduce": "srcs0_by_channel srcs1_by_channel dsts_by_channel "
    f"replica_group op channel_ids=[0] {_LAST}",
    "collective_permute_implicit_current_processing_rank_id": "iteration_id replica_group "
    "channel_id=0 name=None",
    "rank_id": "name=None",
}
