# RUN: not nkijit verify %s:partitions -a x=256x4:float32 2>&1 | filecheck --match-full-lines --check-prefix=TEXT %s
# RUN: not nkijit verify %s:partitions -a x=256x4:float32 --json | filecheck --check-prefix=JSON %s

# A finding of a rule that both APIs share has the name of the error in the classic reference.

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def partitions(x):
    # TEXT: error[alloc-partitions]: nl.load: {{.*}}
    # TEXT: = nki.errors: err_num_partition_exceed_arch_limit
    # JSON: "nki.errors: err_num_partition_exceed_arch_limit"
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out
