"""Rules about arguments, views, allocations, buffers and data types."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import ARCH, ISA, LANGUAGE, SHARED, rule
from nkijit.dialects.rule_texts.text import ErrorKind, WarningGroup

# ---------------------------------------------------------------- arguments and views
ARGUMENT = rule(
    "argument",
    "operator",
    "An argument has the kind of value that the instruction's signature names.",
    "pass a value that the argument accepts, as the message describes",
    ISA,
)
VIEW = rule(
    "view",
    "shape",
    "A view stays inside its tensor and fits its layout.",
    "keep each index below the size of its dimension; in the last round of a loop end at "
    "min(start + n, t.shape[dim])",
    LANGUAGE,
)
COUNTS_AS_TRUE = rule(
    "truth-value",
    "operator",
    "A tensor counts as true, whatever it holds: its values are known on the device only.",
    "ask what is known while tracing: t is None, t.shape, t.dtype; choose by values with nl.where",
    "NKI language guide",
    group=WarningGroup.suspicious,
)
EMPTY_SLICE = rule(
    "empty-slice",
    "shape",
    "An instruction writes at least one element. An instruction whose results are empty slices "
    "does not exist on the device and is omitted.",
    "nothing to do if the slice is meant to be empty here, e.g. after the last whole tile",
    "NumPy, basic slicing",
    group=WarningGroup.advice,
)
EMPTY_OPERAND = rule(
    "empty-operand",
    "shape",
    "Results and operands of an instruction are empty together: an instruction that reads an empty "
    "slice does not exist on the device, so its results would stay unwritten.",
    "call the instruction only if the slice has elements, else fill its results with nisa.memset",
    "NumPy, basic slicing; Trainium architecture guides",
)
PYTHON_ON_TENSOR = rule(
    "python-on-tensor",
    "operator",
    "Values of tensors and registers are known only at run time, so Python does not compute with "
    "them: functions of nki.language and instructions of nki.isa do.",
    "call the function of nl that computes it, e.g. nl.subtract(t, u) for t - u",
    "NKI language guide; NKI API reference, nki.language",
)
EQUAL_TENSOR = rule(
    "tensor-equality",
    "operator",
    "For Python a tensor equals nothing but itself, whatever it holds.",
    "compare the elements with nl.equal(t, 0); before comparing an argument that may be a number, "
    "ask isinstance(t, nl.NkiTensor)",
    "NKI language guide",
    group=WarningGroup.suspicious,
)
UNSUPPORTED = rule(
    "unsupported",
    "target",
    "A function or an argument that nkijit does not model is an error, and never ignored.",
    "leave it out, or write it with other functions of nl and nisa; nkijit explain nisa.activation "
    "(or another name) lists the arguments of each",
    "nkijit",
)
TRACE_LIMIT = rule(
    "trace-limit",
    "target",
    "A kernel ends: its trace has at most the number of operations in NKIJIT_TRACE_LIMIT, "
    "2,000,000 by default.",
    "let the loop end (`while True:` never does), loop on the device with nl.fori_loop, or set "
    "NKIJIT_TRACE_LIMIT to a higher number",
    "nkijit",
)
RETURN = rule(
    "return-value",
    "buffer",
    "A kernel returns tensors in HBM: one, a tuple, a list, a dict, or nothing.",
    "copy the tile to a tensor allocated with buffer=nl.shared_hbm and return that",
    LANGUAGE,
)

# ---------------------------------------------------------------- allocations
ALLOC_PARTITIONS = rule(
    "alloc-partitions",
    "shape",
    "A tile in SBUF or PSUM has at most 128 partitions (dim 0).",
    "loop over tiles of at most nl.tile_size.pmax rows, or make rows of a part of the free "
    "dimension",
    LANGUAGE,
)
ALLOC_SIZE = rule(
    "alloc-size",
    "shape",
    "A tile fits into the bytes that a partition of its buffer has.",
    "split the free dimension into tiles that fit, and loop over them",
    ARCH,
    kind=ErrorKind.does_not_fit,
)

ALLOC_ADDRESS = rule(
    "alloc-address",
    "shape",
    "A fixed address is for a tile in SBUF or PSUM, and the tile's partitions are there.",
    "choose a (partition, byte) address with enough free bytes for the tile, or leave address= out",
    LANGUAGE,
)
ADDRESS_CAPACITY = rule(
    "address-capacity",
    "shape",
    "A tile at a fixed address ends within the bytes that a partition of its buffer has.",
    "choose a (partition, byte) address with enough free bytes for the tile, or leave address= out",
    LANGUAGE,
    kind=ErrorKind.does_not_fit,
)
PSUM_ADDRESS = rule(
    "psum-address",
    "buffer",
    "A fixed address in PSUM is the first byte of a bank.",
    "use a multiple of 2048 (nl.tile_size.psum_bank_fmax_bytes), e.g. address=(0, 2048)",
    "NKI migration guide, improved allocation API",
)

# ---------------------------------------------------------------- buffers
BUFFER = rule(
    "buffer",
    "buffer",
    "An operand lives in one of the buffers that its position allows.",
    "copy it first: from HBM to SBUF with nl.load or nisa.dma_copy, between SBUF and PSUM with "
    "nisa.tensor_copy, from SBUF to HBM with nl.store",
    ISA,
)
CONSTANT_WRITTEN = rule(
    "constant-written",
    "buffer",
    "Constant data (nl.shared_constant) is shared by all kernel instances and never written.",
    "write to a tensor of nl.ndarray, e.g. after copying the constant to it",
    LANGUAGE,
)
BOTH_PSUM = rule(
    "both-in-psum",
    "buffer",
    "The two tiles that a Vector Engine instruction reads element by element are not both in PSUM.",
    "copy one of the two to SBUF with nisa.tensor_copy first",
    ISA,
)
GPSIMD_PSUM = rule(
    "gpsimd-psum",
    "buffer",
    "The GpSimd Engine cannot reach PSUM.",
    "copy the tile to SBUF first with nisa.tensor_copy, or leave engine= to another engine",
    ISA,
)

# ---------------------------------------------------------------- data types
DTYPE = rule(
    "dtype",
    "dtype",
    "An operand has one of the data types that its position allows.",
    "convert it first, with nisa.tensor_copy into a tile of a type that the message lists, or "
    "allocate it with that dtype=",
    ISA,
)
COMPUTABLE = rule(
    "dtype-computable",
    "dtype",
    "Packed x4 types are only copied and used by MX instructions.",
    "copy or multiply packed data with nisa.nc_matmul_mx; compute on float32 or bfloat16 before "
    "nisa.quantize_mx packs it",
    SHARED,
)
BITVEC_DTYPE = rule(
    "bitvec-dtype",
    "dtype",
    "A bitvec operator works on bit patterns: all its tiles are integers of one width.",
    "view the tile as an integer type of the same width, e.g. tile.view(nl.int32)",
    SHARED,
)
SAME_DTYPE = rule(
    "same-dtype",
    "dtype",
    "Operands that the instruction reads through one path have the same data type.",
    "allocate the tiles with one data type, or convert one of them with nisa.tensor_copy first",
    ISA,
)
HWDGE_DTYPE = rule(
    "hwdge-dtype",
    "dtype",
    "Descriptors that the hardware makes move bytes as they are: both sides have one data type.",
    "pass dge_mode=nisa.dge_mode.swdge, which converts, or allocate dst with the data type of src",
    "NKI migration guide, 0.2.0 to 0.3.0",
)
MATMUL_DTYPE = rule(
    "matmul-dtype",
    "dtype",
    "Matmul inputs may differ in type, except that float32/tfloat32 go only together and "
    "float8_e4m3 not with float8_e4m3fn; dst is float32, on NeuronCore-v4 also bfloat16.",
    "copy one operand into a tile of the type of the other with nisa.tensor_copy, and allocate "
    "dst as nl.float32",
    ISA,
)
MEMSET_DTYPE = rule(
    "memset-dtype",
    "dtype",
    "A tile of an integer type is set to an integer.",
    "write the value as an integer, e.g. 2 instead of 2.0",
    "NKI 0.3.0 release notes",
)
MEMSET_FLOAT = rule(
    "memset-float",
    "dtype",
    "A tile of an integer type is set to a value that is written as an integer: since NKI 0.3, "
    "the vendor's compiler refuses floats there.",
    "write the value as an integer, e.g. 2 instead of 2.0",
    "NKI migration guides, 0.3.0, nisa.memset",
    group=WarningGroup.portability,
)
CONSTANT_RANGE = rule(
    "constant-range",
    "dtype",
    "A constant fits its data type. Other numbers are stored as an end of the type's range, as an"
    " infinity or as 0; a bit pattern loses the bits beyond the width.",
    "write a number that the type holds, or use a wider type",
    "NKI migration guides, 0.3.0, nisa.memset; NKI API reference, nki.api.shared",
    group=WarningGroup.suspicious,
)
ROUNDED_PATTERN = rule(
    "rounded-pattern",
    "dtype",
    "The data type of a pattern holds each of its values exactly: bfloat16 holds integers up to "
    "256, float16 up to 2048, and float32 up to 2**24.",
    "generate the pattern as nl.int32, or as nl.float32 up to 2**24",
    f"{ISA}, iota; {SHARED}",
    group=WarningGroup.suspicious,
)
PACKED_ZERO = rule(
    "memset-packed",
    "dtype",
    "A tile of a packed x4 type can only be set to 0.",
    "set it to 0, or write the packed bits through a view of an integer type",
    ISA,
)
