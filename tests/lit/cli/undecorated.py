# RUN: not nkijit verify %s -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=FILE %s
# RUN: not nkijit trace %s -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=FILE %s
# RUN: not nkijit verify %s:identity -a x=128x64:float32 2>&1 | filecheck --match-full-lines --check-prefix=NAMED %s
# RUN: not nkijit verify %s --json 2>&1 | filecheck --check-prefix=JSON %s

# The decorator of a kernel is missing.

import nkijit as kernels
import nkijit.language as nl


# FILE: error: {{.*}}undecorated.py has no kernel: softmax() at line [[# @LINE + 2]] is not decorated: write @kernels.jit above it
# JSON: undecorated.py has no kernel: softmax() at line [[# @LINE + 1]] is not decorated
def softmax(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.softmax(nl.load(x), axis=1))
    return out


# It does not use the API, so it is reported by name only.
# NAMED: error: {{.*}}undecorated.py has no kernel 'identity': identity() at line [[# @LINE + 1]] is not decorated: write @kernels.jit above it
def identity(x):
    return x


assert kernels
