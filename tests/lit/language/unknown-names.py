# ruff: noqa: F821
# RUN: not nkijit verify %s:functions -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=FUNCTION %s
# RUN: not nkijit verify %s:instructions -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=INSTRUCTION %s
# RUN: not nkijit verify %s:members -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=MEMBER %s
# RUN: not nkijit verify %s:variables -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=VARIABLE %s
# RUN: not nkijit verify %s:without_value -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=VALUE %s
# RUN: not nkijit verify %s:not_imported -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=IMPORT %s
# RUN: not nkijit verify %s:words -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=WORD %s
# RUN: not nkijit verify %s:enumerations -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=ENUM %s
# RUN: not nkijit verify %s:of_the_classic_api -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CLASSIC %s
# RUN: not nkijit verify %s:of_the_current_api -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CURRENT %s
# RUN: not nkijit verify %s:of_numpy -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=NUMPY %s
# RUN: not nkijit verify %s:of_none -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=NOTHING %s
# RUN: not nkijit verify %s:of_an_instruction -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=HANDLE %s
# RUN: not nkijit verify %s:in_a_loop -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=LOOP %s
# RUN: not nkijit verify %s:functions -a x=128x64:float32 --json | filecheck --check-prefix=JSON %s
# RUN: not nkijit verify %s:functions -a x=128x64:float32 --sarif | filecheck --check-prefix=SARIF %s

# Names that are not defined: findings with the name that was probably meant.

import numpy as np

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl

# JSON: "rule": "unknown-name",
# JSON: "message": "nki.language has no 'exppp'; did you mean 'exp'?",
# SARIF: "ruleId": "unknown-name",


@nki.jit
def functions(x):
    tile = nl.load(x)
    # FUNCTION: error[unknown-name]: nl.exppp: nki.language has no 'exppp'; did you mean 'exp'?
    # FUNCTION-NEXT: --> {{.*}}unknown-names.py:[[# @LINE + 6]]:12
    # FUNCTION-NEXT: |
    # FUNCTION-NEXT: [[# @LINE + 4]] | return nl.exppp(tile)
    # FUNCTION-NEXT: | ^^^^^^^^
    # FUNCTION-NEXT: = help: correct the spelling, import the name, or assign the variable before this line
    # FUNCTION: 1 error for trn3 (default)
    return nl.exppp(tile)


@nki.jit
def instructions(x):
    tile = nl.load(x)
    # INSTRUCTION: error[unknown-name]: nisa.tensor_tensr: nki.isa has no 'tensor_tensr'; did you mean 'tensor_tensor'?
    nisa.tensor_tensr(tile, tile, tile, op=nl.add)


@nki.jit
def members(x):
    tile = nl.load(x)
    # MEMBER: error[unknown-name]: tensor 'tile': it has no 'shapee'; did you mean 'shape'?
    # MEMBER: = Python: 'NkiTensor' object has no attribute 'shapee'
    return tile.shapee


@nki.jit
def variables(x):
    tile = nl.load(x)
    # VARIABLE: error[unknown-name]: variable 'tle': no variable, function or import is called 'tle'; did you mean 'tile'?
    # VARIABLE-NEXT: --> {{.*}}unknown-names.py:[[# @LINE + 4]]:17
    # VARIABLE-NEXT: |
    # VARIABLE-NEXT: [[# @LINE + 2]] | nl.store(x, tle)
    # VARIABLE-NEXT: | ^^^
    nl.store(x, tle)
    del tile


@nki.jit
def without_value(x):
    if x.shape[0] > 128:
        tile = nl.load(x)
    # VALUE: error[unknown-name]: variable 'tile': it has no value yet: no assignment to it has run before this line
    # VALUE: = help: assign it on every path to this line, also if a condition fails or a loop is empty
    nl.store(x, tile)


@nki.jit
def not_imported(x):
    # IMPORT: error[unknown-name]: variable 'softmax': no variable, function or import is called 'softmax'
    # IMPORT: = help: write nl.softmax if you mean the name of the API
    nl.store(x, softmax(nl.load(x), axis=1))


# A word of another library for a data type.
@nki.jit
def words(x):
    # WORD: error[unknown-name]: nl.fp32: nki.language has no 'fp32'; did you mean 'float32'?
    return nl.ndarray(x.shape, dtype=nl.fp32, buffer=nl.shared_hbm)


@nki.jit
def enumerations(x):
    tile = nl.load(x)
    # ENUM: error[unknown-name]: nisa.engine.vectr: engine has no member 'vectr'; it has unknown, tensor, scalar, gpsimd, dma, vector, sync; did you mean 'vector'?
    nisa.tensor_copy(tile, tile, engine=nisa.engine.vectr)


@nki.jit
def of_the_classic_api(x):
    # CLASSIC: error[unknown-name]: nl.loop_reduce: nki.language has no 'loop_reduce'; the classic API has it
    # CLASSIC: = help: for a kernel of the classic API, write import neuronxcc.nki as nki; nkijit migrate rewrites such a kernel
    return nl.loop_reduce(nl.load(x), op=np.add, loop_indices=[1])


@classic.jit
def of_the_current_api(x):
    # CURRENT: error[unknown-name]: cl.dynamic_range: neuronxcc.nki.language has no 'dynamic_range'; the current API has it
    # CURRENT: = help: for a kernel of the current API, write import nki
    for _ in cl.dynamic_range(4):
        cl.load(x)


@nki.jit
def of_numpy(x):
    # NUMPY: error[unknown-name]: np.exppp: module numpy has no 'exppp'; did you mean 'exp'?
    return nl.multiply(nl.load(x), np.exppp(1.0))


@nki.jit
def of_none(x):
    stored = nl.store(x, nl.load(x))
    # NOTHING: error[unknown-name]: stored.shape: None has no 'shape'
    # NOTHING: = help: None is the result of a function that returns nothing, e.g. of nl.store
    return stored.shape


@nki.jit
def of_an_instruction(x):
    tile = nl.load(x)
    done = nisa.tensor_copy(tile, tile)
    # HANDLE: error[unknown-name]: done.shape: the object, of type NkiInstruction, has no 'shape'
    # HANDLE: = help: instructions return a handle and write to the tile that is given as dst: allocate it with nl.ndarray and pass that
    return done.shape


# The loop is left because of the name: one finding.
@nki.jit
def in_a_loop(x):
    tile = nl.load(x)
    for _ in nl.dynamic_range(4):
        # LOOP: error[unknown-name]: nl.exppp: nki.language has no 'exppp'; did you mean 'exp'?
        nl.exppp(tile)
    # LOOP: 1 error for trn3 (default)
