"""Two kernels, so that a command has to name one."""

import nkijit as nki
import nkijit.language as nl


@nki.jit
def first(x, scale=1.0):
    nl.load(x)


@nki.jit
def second(x):
    nl.load(x)
