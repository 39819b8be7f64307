# RUN: not nkijit verify %s:unpacked -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=UNPACKED %s
# RUN: not nkijit verify %s:asserted -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=ASSERTED %s
# RUN: not nkijit verify %s:without_text -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=BARE %s
# RUN: not nkijit verify %s:in_a_helper -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=HELPER %s
# RUN: not nkijit verify %s:of_a_call -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CALL %s
# RUN: not nkijit verify %s:caused -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CAUSE %s
# RUN: not nkijit verify %s:for_ever -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=EVER %s
# RUN: not nkijit verify %s:in_loops -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=LOOPS %s
# RUN: not nkijit verify %s:in_a_body -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=BODY %s
# RUN: not nkijit verify %s:left_before -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=BEFORE %s
# RUN: not nkijit verify %s:after_a_mistake -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=BOTH %s

# Exceptions of the user's code are findings at the line of the kernel.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def unpacked(x):
    # UNPACKED: error[python-error]: ValueError: not enough values to unpack (expected 3, got 2)
    # UNPACKED-NEXT: --> {{.*}}python-errors.py:[[# @LINE + 6]]:5
    # UNPACKED-NEXT: |
    # UNPACKED-NEXT: [[# @LINE + 4]] | rows, columns, channels = x.shape
    # UNPACKED-NEXT: | {{\^+}}
    # UNPACKED-NEXT: = help: the kernel's Python runs while it is traced, with the arguments of this call: correct the line, or pass arguments for which it raises nothing
    # UNPACKED: 1 error for trn3 (default)
    rows, columns, channels = x.shape
    return rows, columns, channels


@nki.jit
def asserted(x):
    # ASSERTED: error[python-error]: AssertionError: 64 rows expected, got 128
    assert x.shape[0] == 64, f"64 rows expected, got {x.shape[0]}"


@nki.jit
def without_text(x):
    # BARE: error[python-error]: AssertionError: x.shape[0] == 64 is false
    assert x.shape[0] == 64


def halves(size):
    return check(size) // 2


def check(size):
    if size % 100:
        raise ValueError("the size is no multiple of 100")
    return size


# The finding is at the kernel's line; the lines of helpers follow.
@nki.jit
def in_a_helper(x):
    # HELPER: error[python-error]: ValueError: the size is no multiple of 100
    # HELPER-NEXT: --> {{.*}}python-errors.py:[[# @LINE + 12]]:12
    # HELPER-NEXT: |
    # HELPER-NEXT: [[# @LINE + 10]] | return halves(x.shape[1])
    # HELPER-NEXT: | ^^^^^^^^^^^^^^^^^^
    # HELPER-NEXT: ::: {{.*}}python-errors.py:{{[0-9]+}}:12
    # HELPER-NEXT: |
    # HELPER-NEXT: {{[0-9]+}} | return check(size) // 2
    # HELPER-NEXT: | ----- called
    # HELPER-NEXT: ::: {{.*}}python-errors.py:{{[0-9]+}}:9
    # HELPER-NEXT: |
    # HELPER-NEXT: {{[0-9]+}} | raise ValueError("the size is no multiple of 100")
    # HELPER-NEXT: | ----- raised here
    return halves(x.shape[1])


# The text has several lines.
@nki.jit
def of_a_call(x):
    # CALL: error[python-error]: RuntimeError: two
    # CALL: = lines
    raise RuntimeError(f"two\nlines{'' if x.shape else x}")


@nki.jit
def caused(x):
    try:
        return {"rows": x}["columns"]
    except KeyError as error:
        # CAUSE: error[python-error]: ValueError: no columns
        # CAUSE: = caused by KeyError: 'columns'
        raise ValueError("no columns") from error


# A recursion is shown once.
@nki.jit
def for_ever(x):
    # EVER: error[python-error]: RecursionError: maximum recursion depth exceeded{{.*}}
    # EVER-NEXT: --> {{.*}}python-errors.py:[[# @LINE + 8]]:12
    # EVER-NEXT: |
    # EVER-NEXT: [[# @LINE + 6]] | return again(x)
    # EVER-NEXT: | ^^^^^^^^
    # EVER-NEXT: ::: {{.*}}
    # EVER-NEXT: |
    # EVER-NEXT: {{[0-9]+}} | return again(x)
    # EVER-NEXT: | ----- raised here
    return again(x)


def again(x):
    return again(x)


# Loops on the device and blocks that the exception leaves are no findings of their own.
@nki.jit
def in_loops(x):
    tile = nl.load(x)
    for _ in nl.dynamic_range(4):
        with nl.no_reorder():
            nisa.tensor_copy(tile, tile)
            # LOOPS: error[python-error]: ZeroDivisionError: {{.*}}by zero
            tile[0 : 64 // 0] = 0.0
    # LOOPS: 1 error for trn3 (default)


@nki.jit
def in_a_body(x):
    tile = nl.load(x)

    def body(i):
        def inner(j):
            nisa.tensor_copy(tile, tile)
            # BODY: error[python-error]: KeyError: 'missing'
            return {}["missing"]

        nl.fori_loop(0, 4, inner)

    for _ in nl.dynamic_range(2):
        nl.fori_loop(0, 4, body)
    # BODY: 1 error for trn3 (default)


# A loop that was left before the exception stays a finding.
@nki.jit
def left_before(x):
    tile = nl.load(x)
    for _ in nl.dynamic_range(4):
        # BEFORE: error[loop-left]: nl.dynamic_range: its body was left before its end
        break
    # BEFORE: error[python-error]: IndexError: tuple index out of range
    tile[0 : x.shape[2]] = 0.0
    # BEFORE: 2 errors for trn3 (default)


# Findings before the exception are shown as well.
@nki.jit
def after_a_mistake(x):
    # BOTH: error[argument]: nisa.memset: 'value': expected a number, got 'zero' (str)
    nisa.memset(nl.load(x), "zero")
    # BOTH: error[python-error]: KeyError: 'mine'
    raise KeyError("mine")
