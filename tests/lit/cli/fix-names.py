# ruff: noqa: F821
# RUN: cp %s %t.py
# RUN: nkijit verify --fix %t.py:names -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=NAMES %s
# RUN: nkijit verify --fix %t.py:into_a_tile -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=TILE %s
# RUN: nkijit verify --fix %t.py:returned -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=RETURNED %s
# RUN: nkijit verify --fix %t.py:operators -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=OPERATORS %s
# RUN: not nkijit verify --fix %t.py:uncertain -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=UNCERTAIN %s
# RUN: nkijit verify --fix %t.py:synonyms -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=SYNONYMS %s
# RUN: not nkijit verify --fix %t.py:other_functions -a x=128x64:float32 | filecheck --check-prefix=OTHERS %s
# RUN: not nkijit verify --fix %t.py:others_exp2 -a x=128x64:float32 | filecheck --check-prefix=EXP2 %s
# RUN: filecheck --check-prefix=EDITED %s < %t.py

# Edits of names and of calls, where the text to write is certain.

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as cisa
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl


# Each mistake is seen only when the one before is corrected.
# NAMES: fixed {{.*}}.py:[[# @LINE + 8]]:40: fp32 -> float32 (unknown-name)
# NAMES-NEXT: fixed {{.*}}.py:[[# @LINE + 8]]:15: laod -> load (unknown-name)
# NAMES-NEXT: fixed {{.*}}.py:[[# @LINE + 8]]:32: source -> src (call-arguments)
# NAMES-NEXT: fixed {{.*}}.py:[[# @LINE + 8]]:46: vectr -> vector (unknown-name)
# NAMES-NEXT: fixed {{.*}}.py:[[# @LINE + 8]]:19: tle -> tile (unknown-name)
# NAMES-NEXT: no findings for trn3 (default)
@nki.jit
def names(x):
    out = nl.ndarray(x.shape, dtype=nl.fp32, buffer=nl.shared_hbm)
    tile = nl.laod(x)
    nisa.tensor_copy(dst=tile, source=tile)
    nisa.tensor_copy(tile, tile, nisa.engine.vectr)
    nl.store(out, tle)
    return out


# The variables are tiles already, so they are the destinations.
# TILE: fixed {{.*}}.py:[[# @LINE + 8]]:5: result = nisa.reciprocal(nl.load(x)) -> nisa.reciprocal(dst=result, data=nl.load(x)) (call-arguments)
# TILE-NEXT: fixed {{.*}}.py:[[# @LINE + 8]]:5: result[:, 0:32] = nisa.activation(nl.exp, result[:, 0:32]) -> nisa.activation(dst=result[:, 0:32], op=nl.exp, data=result[:, 0:32]) (call-arguments)
# TILE-NEXT: no findings for trn3 (default)
@nki.jit
def into_a_tile(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    # EDITED: nisa.reciprocal(dst=result, data=nl.load(x))
    result = nisa.reciprocal(nl.load(x))
    result[:, 0:32] = nisa.activation(nl.exp, result[:, 0:32])
    nl.store(out, result)
    return out


# RETURNED: fixed {{.*}}.py:[[# @LINE + 7]]:5: cisa.reciprocal(dst=tile, data=tile) -> tile[...] = cisa.reciprocal(data=tile) (call-arguments)
# RETURNED: no findings for trn2 (default)
@classic.jit
def returned(x):
    out = cl.ndarray(x.shape, dtype=x.dtype, buffer=cl.shared_hbm)
    tile = cl.load(x)
    # EDITED: tile[...] = cisa.reciprocal(data=tile)
    cisa.reciprocal(dst=tile, data=tile)
    cl.store(out, tile)
    return out


# OPERATORS: fixed {{.*}}.py:[[# @LINE + 7]]:27: nl.exp(tile) -> nl.exp (argument)
# OPERATORS-NEXT: fixed {{.*}}.py:[[# @LINE + 7]]:38: nl.sum -> nl.add (argument)
# OPERATORS: no findings for trn3 (default)
@nki.jit
def operators(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, total = nl.load(x), nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(tile, nl.exp(tile), tile)
    nisa.tensor_reduce(dst=total, op=nl.sum, data=tile, axis=1)
    nl.store(out, total)
    return out


# The tile has another shape: there is no edit.
# UNCERTAIN: not applied, the findings would not be fewer: {{.*}}
# UNCERTAIN: error[call-arguments]: nisa.reciprocal: argument 'dst' is missing; the call fits the classic API, where instructions return a new tile
@nki.jit
def uncertain(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.sbuf)
    tile = nisa.reciprocal(nl.load(x))
    nl.store(out, tile)
    return out


# SYNONYMS: fixed {{.*}}.py:[[# @LINE + 9]]:64: sub -> subtract (unknown-name)
# SYNONYMS-NEXT: fixed {{.*}}.py:[[# @LINE + 9]]:52: ge -> greater_equal (unknown-name)
# SYNONYMS-NEXT: fixed {{.*}}.py:[[# @LINE + 9]]:41: "POOL" -> nisa.engine.gpsimd (argument)
# SYNONYMS-NEXT: fixed {{.*}}.py:[[# @LINE + 9]]:22: swish -> silu (unknown-name)
# SYNONYMS: no findings for trn3 (default)
@nki.jit
def synonyms(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.sub)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.ge, operand0=0.5)
    nisa.tensor_copy(tile, tile, engine="POOL")
    nl.store(out, nl.swish(tile))
    return out


# A function of another library with other results is no misspelling.
# OTHERS-NOT: fixed
# OTHERS: error[unknown-name]: nl.selu: nki.language has no 'selu'{{$}}
@nki.jit
def other_functions(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.selu(nl.load(x)))
    return out


# EXP2-NOT: fixed
# EXP2: error[unknown-name]: nl.exp2: nki.language has no 'exp2'; write nl.power(2.0, t)
@nki.jit
def others_exp2(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.exp2(nl.load(x)))
    return out
