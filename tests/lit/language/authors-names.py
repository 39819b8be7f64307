# RUN: not nkijit verify %s:product -a u=128x128:float32 -a x=128x256:float32 | filecheck --match-full-lines --check-prefix=PRODUCT %s
# RUN: not nkijit verify %s:contracted -a u=128x64:float32 -a x=128x256:float32 | filecheck --match-full-lines --check-prefix=CONTRACTED %s
# RUN: not nkijit verify %s:misspelt -a x=128x256:float32 2>&1 | filecheck --match-full-lines --check-prefix=MISSPELT %s
# RUN: not nkijit verify %s:without -a x=128x256:float32 2>&1 | filecheck --match-full-lines --check-prefix=WITHOUT %s
# RUN: not nkijit verify %s:classic_load -a x=128x256:float32 2>&1 | filecheck --match-full-lines --check-prefix=CLASSIC %s

# Findings name the variables of the kernel, and the parameters of the function that it calls.

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.language as cl
import nkijit.language as nl


# `x` is also a parameter of nl.matmul.
@nki.jit
def product(u, x):
    # PRODUCT: error[buffer]: nl.matmul: 'u' must be in sbuf, it is in private_hbm
    # PRODUCT-NEXT: --> {{.*}}authors-names.py:[[# @LINE + 3]]:22
    # PRODUCT-NEXT: |
    # PRODUCT-NEXT: [[# @LINE + 1]] | return nl.matmul(u, x)
    return nl.matmul(u, x)


@nki.jit
def contracted(u, x):
    left, right = nl.load(u), nl.load(x[0:32])
    # CONTRACTED: error[matmul-shape]: nl.matmul: 'left' has 64 elements per partition to contract with the 32 partitions of 'right'
    return nl.matmul(left, right)


# MISSPELT: error[call-arguments]: nl.load: there is no argument 'foo'
# MISSPELT: = nl.load takes src, dtype
@nki.jit
def misspelt(x):
    return nl.load(x, foo=1)


# WITHOUT: error[call-arguments]: nl.load: argument 'src' is missing
# WITHOUT: = nl.load takes src, dtype
@nki.jit
def without(x):
    return nl.load()


@classic.jit
def classic_load(x):
    # CLASSIC: error[unsupported]: nl.load: arguments that are not documented: 'foo'
    # CLASSIC: = help: leave it out: nl.load takes src, mask, dtype
    return cl.load(x, foo=1)
