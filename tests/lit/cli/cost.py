# The cost of a kernel, in short: as text and as JSON, with the exit codes of all commands.
# RUN: nkijit cost %s:copied -a x=128x512:float32 | filecheck --check-prefix=TEXT %s
# RUN: nkijit cost %s:copied -a x=128x512:float32 --json | filecheck --check-prefix=JSON %s
# RUN: not nkijit cost %s:copied -a x=256x512:float32 | filecheck --check-prefix=WRONG %s
# RUN: not nkijit cost %s:copied -a x=256x512:float32 --json | filecheck --check-prefix=FOUND %s
# RUN: not nkijit cost %s:raising -a x=128x512:float32 --json | filecheck --check-prefix=RAISED %s
# RUN: not nkijit cost %s:copied -a y=128x512:float32 2>&1 | filecheck --check-prefix=USAGE %s
# RUN: nkijit trace %s:copied -a x=128x512:float32 -o %t.mlir
# RUN: nkijit cost %t.mlir | filecheck --check-prefix=TEXT %s

import nkijit as nki
import nkijit.language as nl

# TEXT: @copied for trn3: {{.*}} us ({{.*}}), {{.*}} instructions
# TEXT-NEXT: bound by {{.*}}% of SBUF and 0.0% of PSUM at the peak, MFU 0.0%
# TEXT-NEXT: %{{.*}}cost.py{{.*}}, sync DMA_TRIGGER: {{.*}} us
# JSON: "kernel": "copied",
# JSON: "ns": {{[0-9.]+}},
# JSON: "findings": [],
# JSON-NEXT: "failure": ""
# WRONG: @copied for trn3: no time, 1 error
# WRONG-NEXT: cost.py:{{.*}}: error[alloc-partitions]: nl.load: a tile in sbuf has at most 128
# FOUND: "time": null,
# FOUND: "rule": "alloc-partitions",
# FOUND-NEXT: "severity": "error",
# RAISED: "rule": "python-error",
# RAISED: "subject": "ZeroDivisionError",
# USAGE: error: {{.*}} has no argument 'y'; it has x


@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@nki.jit
def raising(x):
    return 1 // 0
