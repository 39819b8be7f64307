# RUN: not nkijit verify %s:operator -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=OPERATOR %s
# RUN: not nkijit verify %s:nested -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=NESTED %s
# RUN: not nkijit verify %s:in_place -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=PLACE %s
# RUN: not nkijit verify %s:method -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=METHOD %s
# RUN: not nkijit verify %s:numpy_function -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=NUMPY %s
# RUN: not nkijit verify %s:loop -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=LOOP %s
# RUN: not nkijit verify %s:decision -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=DECISION %s
# RUN: not nkijit verify %s:register -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=REGISTER %s
# RUN: not nkijit verify %s:first_iteration -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=FIRST %s
# RUN: not nkijit verify %s:rows -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=ROWS %s
# RUN: not nkijit verify %s:columns -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=COLUMNS %s
# RUN: not nkijit verify %s:counted -a x=512x256:float32 | filecheck --match-full-lines --check-prefix=COUNTED %s
# RUN: not nkijit verify %s:listed -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=LISTED %s
# RUN: not nkijit verify %s:of_a_call -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=OF-CALL %s
# RUN: not nkijit verify %s:classic_of_a_call -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CLASSIC-OF-CALL %s
# RUN: not nkijit verify %s:until -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=UNTIL %s
# RUN: nkijit verify %s:equal -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=EQUAL %s
# RUN: not nkijit verify %s:classic_loop -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CLASSIC %s
# RUN: not nkijit verify %s:wrong_call -a x=128x64:float32 2>&1 | filecheck --check-prefix=CALL %s

# Python operations that fail on tensors are findings, with the function to use instead, in the
# kernel's own line. Operations that Python runs in another sense are warnings.

import numpy as np

import neuronxcc.nki as classic
import neuronxcc.nki.language as cnl
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


def helper(t, u):
    # OPERATOR: error[python-on-tensor]: tensor 'tile': what it holds is known on the device only, so Python's - does not compute with it
    # OPERATOR-NEXT: --> {{.*}}python.py:[[# @LINE + 8]]:12
    # OPERATOR-NEXT: |
    # OPERATOR-NEXT: [[# @LINE + 6]] | return t[:, 0:32] - u  # the difference
    # OPERATOR-NEXT: | ^^^^^^^^^^^^^^
    # OPERATOR-NEXT: = called from {{.*}}python.py:[[# @LINE + 11]]:12
    # OPERATOR-NEXT: = Python: unsupported operand type(s) for -: 'NkiTensor' and 'NkiTensor'
    # OPERATOR-NEXT: = help: write return nl.subtract(t[:, 0:32], u)
    # OPERATOR: 1 error for trn3 (default)
    return t[:, 0:32] - u  # the difference


@nki.jit
def operator(x):
    tile = nl.load(x)
    other = nl.load(x[:, 0:32])
    return helper(tile, other)


@nki.jit
def nested(x):
    tile = nl.load(x)
    # The operators around it fail as well.
    # NESTED: error[python-on-tensor]: tensor 'tile': what it holds is known on the device only, so Python's + does not compute with it
    # NESTED: = help: write scaled = nl.multiply(nl.negative(nl.add(tile, tile)), nl.subtract(tile, 3 * 2.0))
    scaled = -(tile + tile) * (tile - 3 * 2.0)
    return scaled


@nki.jit
def in_place(x):
    tile = nl.load(x)
    # PLACE: error[python-on-tensor]: tensor 'tile': what it holds is known on the device only, so Python's += does not compute with it
    # PLACE: = help: write nisa.tensor_scalar(tile, tile, nl.add, 1.0)
    tile += 1.0


@nki.jit
def method(x):
    tile = nl.load(x)
    # METHOD: error[python-on-tensor]: tensor 'tile': it has no 'mean'
    # METHOD-NEXT: --> {{.*}}python.py:[[# @LINE + 6]]:12
    # METHOD-NEXT: |
    # METHOD-NEXT: [[# @LINE + 4]] | return tile.mean()
    # METHOD-NEXT: | ^^^^^^^^^
    # METHOD-NEXT: = Python: 'NkiTensor' object has no attribute 'mean'
    # METHOD-NEXT: = help: write nl.mean(tile, axis=1)
    return tile.mean()


@nki.jit
def numpy_function(x):
    tile = nl.load(x)
    # NUMPY: error[python-on-tensor]: tensor 'tile': what it holds is known on the device only, so np.exp cannot compute with it
    # NUMPY: = help: write e = nl.exp(tile)
    e = np.exp(tile)
    return e


@nki.jit
def loop(x):
    # LOOP: error[python-on-tensor]: tensor 'x': Python cannot go through its elements
    # LOOP: = help: instructions work on all elements at once; to take rows one by one, write for i in range(x.shape[0]): row = x[i:i+1]
    for row in x:
        nl.load(row)


@nki.jit
def decision(x):
    tile = nl.load(x)
    # DECISION: error[python-on-tensor]: tensor 'tile': what it holds is known on the device only, so Python cannot compare it
    # DECISION: = help: nl.greater(tile[0:1, 0:1], 0) has 1 or 0 for each element, and nl.where chooses by it; if and while can decide on shapes, dtypes and numbers
    if tile[0:1, 0:1] > 0:
        tile = nl.exp(tile)


@nki.jit
def register(x):
    count = nisa.register_alloc(3)
    # REGISTER: error[python-on-tensor]: register 'count': what it holds is known on the device only, so Python cannot compute with it
    # REGISTER-NEXT: --> {{.*}}python.py:[[# @LINE + 6]]:8
    # REGISTER-NEXT: |
    # REGISTER-NEXT: [[# @LINE + 4]] | if count < 3:
    # REGISTER-NEXT: | ^^^^^^^^^
    # REGISTER-NEXT: = Python: '<' not supported between instances of 'VirtualRegister' and 'int'
    # REGISTER-NEXT: = help: nl.fori_loop and `while register:` loop by it, and it is an index of tensors; nisa.scalar_load gives a scalar, which takes +, - and *
    if count < 3:
        nl.load(x)


@nki.jit
def first_iteration(x):
    tile = nl.load(x)
    for i in nl.dynamic_range(4):
        # FIRST: error[python-on-tensor]: register 'i': what it holds is known on the device only, so Python cannot compare it
        # FIRST: = help: move the work of the first iteration before the loop; or loop with range(4), whose numbers are known while tracing
        if i == 0:
            nisa.memset(tile, 0.0)


@nki.jit
def rows(x):
    for i in nl.dynamic_range(4):
        # ROWS: error[python-on-tensor]: register 'i': what it holds is known on the device only, so Python cannot compute with it
        # ROWS: = help: write for i in nl.dynamic_range(0, 512, 128) and x.ap([[256, 128], [1, 256]], scalar_offset=i); or loop with range(4), whose numbers are known while tracing
        nl.load(x[i * 128 : (i + 1) * 128])


@nki.jit
def columns(x):
    size = 64
    for i in nl.dynamic_range(1, 4):
        # COLUMNS: = help: write for i in nl.dynamic_range(64, 256, 64) and x.ap(pattern, scalar_offset=i, indirect_dim=1); or loop with range(1, 4), whose numbers are known while tracing
        nl.load(x[0:128, i * size : (i + 1) * size])


# The number of iterations is not known either.
@nki.jit
def counted(x):
    count = nisa.register_alloc(4)
    for i in nl.dynamic_range(count):
        # COUNTED: = help: nl.fori_loop and `while register:` loop by it, and it is an index of tensors; nisa.scalar_load gives a scalar, which takes +, - and *
        nl.load(x[i * 128 : (i + 1) * 128])


@nki.jit
def listed(x):
    tiles = [nl.load(x) for _ in nl.dynamic_range(4)]
    for i in nl.dynamic_range(4):
        # LISTED: error[python-on-tensor]: register 'i': what it holds is known on the device only, so Python cannot use it as an integer
        # LISTED: = help: loop with range(4), whose numbers are known while tracing; or replace the list 'tiles' by one tile with a free dimension for its items, and write to and read from tiles[:, i]
        nl.store(x, tiles[i])


@nki.jit
def of_a_call(x):
    # OF-CALL: error[python-on-tensor]: a tensor: what it holds is known on the device only, so np.exp cannot compute with it
    # OF-CALL: = help: write nl.store(x, nl.exp(nl.load(x)))
    nl.store(x, np.exp(nl.load(x)))


@classic.jit
def classic_of_a_call(x):
    # CLASSIC-OF-CALL: error[python-on-tensor]: a tensor: what it holds is known on the device only, so np.maximum cannot compute with it
    # CLASSIC-OF-CALL: = help: write cnl.store(x, nl.maximum(cnl.load(x) + 1, 0.0))
    cnl.store(x, np.maximum(cnl.load(x) + 1, 0.0))


@nki.jit
def until(x):
    tile = nl.load(x)
    # UNTIL: error[python-on-tensor]: tensor 'tile': what it holds is known on the device only, so Python cannot compare it
    # UNTIL: = help: run a fixed number of steps: for step in range(8); or compute the test into an int32 tile of one element, load it before the loop and at the end of its body with nisa.register_load(register, tile), and loop with while register
    while tile > 0.5:
        tile = nl.multiply(tile, 0.5)


@nki.jit
def equal(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # EQUAL: warning[tensor-equality]: tensor 'tile': it is compared with 0, which is never equal
    # EQUAL: = help: compare the elements with nl.equal(t, 0); before comparing an argument that may be a number, ask isinstance(t, nl.NkiTensor)
    # EQUAL: 1 warning for trn3 (default)
    if tile == 0:
        tile = nl.exp(tile)
    if tile in (None, out):
        tile = nl.exp(tile)
    nl.store(out, tile)
    return out


@classic.jit
def classic_loop(x):
    # CLASSIC: error[python-on-tensor]: tensor 'x': Python cannot go through its elements
    # CLASSIC: = help: instructions work on all elements at once; {{.*}}
    for row in x:
        cnl.load(row)


def two(t, u):
    return t, u


@nki.jit
def wrong_call(x):
    # A call that is wrong in itself is Python's error.
    # CALL: TypeError: two() missing 1 required positional argument: 'u'
    two(nl.load(x))
