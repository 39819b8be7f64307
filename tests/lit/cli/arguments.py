# RUN: not nkijit trace %s:kernel -a x=4x8:float32 -a flag=fals 2>&1 | filecheck --match-full-lines --strict-whitespace --check-prefix=WORD %s
# RUN: not nkijit trace %s:kernel -a x=4x8:float32 -a "flag=[1, (2, two)]" 2>&1 | filecheck --match-full-lines --strict-whitespace --check-prefix=NESTED %s
# RUN: not nkijit trace %s:kernel -a x=in.npy 2>&1 | filecheck --match-full-lines --check-prefix=FILE %s
# RUN: not nkijit trace %s:kernel -a x=args.py:X 2>&1 | filecheck --match-full-lines --check-prefix=MEMBER %s
# RUN: not nkijit trace %s:kernel -a x=4x8 2>&1 | filecheck --check-prefix=SHAPE %s
# RUN: not nkijit trace %s:kernel -a x=4x8:float32 -a dtype=bfloat16 2>&1 | filecheck --check-prefix=NAME %s
# RUN: not nkijit trace %s:kernel -a x=4x8:float32 -a flga=true 2>&1 | filecheck --check-prefix=MISSPELT %s
# RUN: not nkijit trace %s:kernel -a x=random 2>&1 | filecheck --check-prefix=RANDOM %s
# RUN: not nkijit trace %s:kernel -a x=@%s:nothing 2>&1 | filecheck --check-prefix=OBJECT %s
# RUN: nkijit trace %s:kernel -a x=4x8:float32 -a flag=false | filecheck --check-prefix=FALSE %s
# RUN: nkijit trace %s:kernel -a x=4x8:float32 -a dtype=nl.bfloat16 | filecheck --check-prefix=DTYPE %s
# RUN: nkijit trace %s:nested -a "pair=[4x8:float32, {scale: 2.0, axes: (1,)}]" | filecheck --check-prefix=LIST %s
# RUN: nkijit trace %s:with_fields -a given=@%s:WEIGHTS | filecheck --check-prefix=FIELDS %s
# RUN: nkijit run %s:kernel -a x=2x3:float32 --seed 1 > %t.one
# RUN: nkijit run %s:kernel -a x=2x3:float32 --seed 1 > %t.again
# RUN: nkijit run %s:kernel -a x=2x3:float32 --seed 2 > %t.other
# RUN: diff %t.one %t.again
# RUN: not diff %t.one %t.other

# The arguments of a kernel on the command line: values that do not parse are refused, so a flag
# is never a string by mistake.

import dataclasses

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def kernel(x, flag=True, dtype=None):
    out = nl.ndarray(x.shape, dtype=dtype or x.dtype, buffer=nl.shared_hbm)
    if flag:
        nisa.dma_copy(dst=out, src=x)
    else:
        nl.store(out, nl.load(x))
    return out


@nki.jit
def nested(pair):
    x, options = pair
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), options["scale"]))
    return out


@dataclasses.dataclass
class Weights:
    left: object
    right: object


WEIGHTS = Weights(nki.TensorSpec((4, 8), "float32"), nki.TensorSpec((4, 8), "float32"))


@nki.jit
def with_fields(given):
    out = nl.ndarray(given.left.shape, dtype=given.left.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.load(given.left), nl.load(given.right)))
    return out


# WORD:error: -a flag: 'fals' is not a value; did you mean 'false'?
# WORD-NEXT:  fals
# WORD-NEXT:  ^^^^
# WORD-NEXT:help: a string needs quotes: "'fals'"; 128x512:float32 is a tensor, 2.0 a number, true and none are words

# NESTED:error: -a flag: 'two' is not a value
# NESTED-NEXT:  [1, (2, two)]
# NESTED-NEXT:          ^^^

# FILE: error: -a x: 'in.npy' is not a value
# FILE: help: write @in.npy to read the array of the file
# MEMBER: error: -a x: 'args.py:X' is not a value
# MEMBER: help: write @args.py:X to read the member of the file

# SHAPE: error: -a x: a tensor needs a data type, e.g. 4x8:float32
# NAME: error: -a dtype: 'bfloat16' is not a value; did you mean nl.bfloat16, or the string?
# MISSPELT: error: {{.*}} has no argument 'flga'; it has x, flag, dtype; did you mean 'flag'?
# RANDOM: error: -a x=random needs a shape: -a x=128x512:float32 is random data for `nkijit run`
# OBJECT: error: -a x: {{.*}}arguments.py has no 'nothing'
# FALSE: nki.kernel @kernel
# FALSE: nki.alloc : memref<4x8xf32, #nki.sbuf>
# DTYPE: nki.alloc : memref<4x8xbf16, #nki.shared_hbm>
# LIST: nki.kernel @nested(%pair.0: memref<4x8xf32
# FIELDS: nki.kernel @with_fields(%given_left: memref<4x8xf32, #nki.private_hbm>, %given_right: memref<4x8xf32
