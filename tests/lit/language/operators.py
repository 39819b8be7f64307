# RUN: not nkijit verify %s:current -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CURRENT %s
# RUN: not nkijit verify %s:called -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=CALLED %s
# RUN: not nkijit verify %s:an_index -a x=128x64:float32 | filecheck --match-full-lines --check-prefix=INDEX %s

# Arguments in the place of an operator: the finding names the operator that was meant.

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as cisa
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def current(x):
    tile = nl.load(x)
    # CURRENT: error[argument]: nisa.tensor_reduce: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got the function nl.max
    # CURRENT-NEXT: --> {{.*}}operators.py:[[# @LINE + 5]]:38
    # CURRENT-NEXT: |
    # CURRENT-NEXT: [[# @LINE + 3]] | nisa.tensor_reduce(tile[:, 0:1], nl.max, tile, axis=1)
    # CURRENT-NEXT: | ^^^^^^
    # CURRENT-NEXT: = help: pass nl.maximum, the operator of two operands
    nisa.tensor_reduce(tile[:, 0:1], nl.max, tile, axis=1)
    # CURRENT: error[argument]: nisa.activation: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got the result of nl.exp(tile)
    # CURRENT: = help: nl.exp(tile) was called here; pass nl.exp
    nisa.activation(tile, nl.exp(tile), tile)
    # A function of the other API.
    # CURRENT: error[argument]: nisa.tensor_tensor: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got the function nl.arange of the classic API
    # CURRENT: = help: nl.arange is a function, no operator: pass an operator of nl itself, e.g. op=nl.add
    nisa.tensor_tensor(tile, tile, tile, op=cl.arange)
    # CURRENT: error[argument]: nisa.tensor_tensor: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got the function current.<locals>.<lambda>
    nisa.tensor_tensor(tile, tile, tile, op=lambda a, b: a + b)
    # CURRENT: 4 errors for trn3 (default)


@classic.jit
def called(x):
    tile = cl.load(x)
    # CALLED: error[argument]: nisa.activation: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got the result of cl.exp(tile)
    # CALLED: = help: cl.exp(tile) was called here; pass cl.exp
    cisa.activation(cl.exp(tile), tile)


@classic.jit
def an_index(x):
    tile = cl.load(x)
    # INDEX: error[argument]: nisa.tensor_tensor: 'op': expected an operator of nki.language (nl.add, nl.gelu, nl.bypass, …), got the result of cl.arange(64)
    # INDEX: = help: cl.arange is a function, no operator: pass an operator of nl itself, e.g. op=nl.add
    cisa.tensor_tensor(tile, tile, op=cl.arange(64))
