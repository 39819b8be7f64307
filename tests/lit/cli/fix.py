# RUN: cp %s %t.py
# RUN: nkijit verify --fix %t.py:words -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=WORDS %s
# RUN: nkijit verify --fix %t.py:divided -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=DIVIDED %s
# RUN: nkijit verify --fix %t.py:column -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=COLUMN %s
# RUN: nkijit verify --fix %t.py:misspelt -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=MISSPELT %s
# RUN: not nkijit verify --fix %t.py:refused -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=REFUSED %s
# RUN: nkijit verify %t.py:words -a x=128x512:float32 | filecheck --match-full-lines --check-prefix=AFTER %s
# RUN: filecheck --check-prefix=EDITED %s < %t.py
# RUN: not nkijit verify %s:words -a x=128x512:float32 | filecheck --check-prefix=HINT %s
# RUN: not nkijit verify %s:words -a x=128x512:float32 --json | filecheck --check-prefix=JSON %s
# RUN: not nkijit verify %s:words -a x=128x512:float32 --sarif | filecheck --check-prefix=SARIF %s
# RUN: not nkijit verify --fix - < %s 2>&1 | filecheck --check-prefix=STDIN %s
# STDIN: error: --fix changes Python files, which - is not

# Edits that correct findings: each is applied only if its finding vanishes and no other appears.

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


# HINT: 1 with a fix: nkijit verify --fix applies it where it helps
# JSON: "fix": {
# JSON: "column": 37,
# JSON: "end_column": 43,
# JSON-NEXT: "text": "nl.float32"
# SARIF: "fixes": [
# SARIF: "text": "Replace \"fp32\" by nl.float32"
# SARIF: "insertedContent": {
# SARIF-NEXT: "text": "nl.float32"
# The second mistake is seen only when the first is fixed: both edits are applied together.
# WORDS: fixed {{.*}}.py:[[# @LINE + 8]]:37: "fp32" -> nl.float32 (argument)
# WORDS-NEXT: fixed {{.*}}.py:[[# @LINE + 9]]:29: "bf16" -> nl.bfloat16 (argument)
# WORDS-NEXT: fixed {{.*}}.py:[[# @LINE + 9]]:34: "exp" -> nl.exp (argument)
# WORDS-NEXT: fixed {{.*}}.py:[[# @LINE + 9]]:49: "vector" -> nisa.engine.vector (argument)
# WORDS-NEXT: no findings for trn3 (default)
# AFTER: no findings for trn3 (default)
@nki.jit
def words(x):
    out = nl.ndarray(x.shape, dtype="fp32", buffer=nl.shared_hbm)
    # EDITED: out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x, dtype="bf16")
    nisa.activation(dst=tile, op="exp", data=tile)
    nisa.tensor_copy(dst=tile, src=tile, engine="vector")
    nl.store(out, tile)
    return out


# DIVIDED: fixed {{.*}}.py:[[# @LINE + 5]]:13: x.shape[1] / 2 -> x.shape[1] // 2 (argument)
# DIVIDED-NEXT: fixed {{.*}}.py:[[# @LINE + 8]]:31: x[:, 0 : width // 1 / 1] -> x[:, 0 : width // 1 // 1] (view)
# DIVIDED-NEXT: no findings for trn3 (default)
@nki.jit
def divided(x):
    width = x.shape[1] / 2
    out = nl.ndarray((128, width), dtype=x.dtype, buffer=nl.shared_hbm)
    for _ in nl.affine_range(1):
        # EDITED: nl.store(out, nl.load(x[:, 0 : width // 1 // 1]))
        nl.store(out, nl.load(x[:, 0 : width // 1 / 1]))
    return out


# COLUMN: fixed {{.*}}.py:[[# @LINE + 8]]:59: other -> other[:, 0:1] (column)
# COLUMN-NEXT: no findings for trn3 (default)
@nki.jit
def column(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, other = nl.load(x), nl.load(x)
    # A scale that is named by a variable.
    # EDITED: nisa.activation(dst=tile, op=nl.exp, data=tile, scale=other[:, 0:1])
    nisa.activation(dst=tile, op=nl.exp, data=tile, scale=other)
    nl.store(out, tile)
    return out


# MISSPELT: fixed {{.*}}.py:[[# @LINE + 8]]:24: reshpae -> reshape (unknown-name)
# MISSPELT-NEXT: fixed {{.*}}.py:[[# @LINE + 6]]:36: dead-stor -> dead-store (unknown-rule)
# MISSPELT-NEXT: no findings for trn3 (default)
@nki.jit
def misspelt(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.exp(tile)  # nkijit: ignore[dead-stor]
    nl.store(out, tile.reshpae(x.shape))
    return out


# The tile has 64 partitions: the edit does not help.
# REFUSED: not applied, the findings would not be fewer: {{.*}}.py:[[# @LINE + 6]]:59: other -> other[:, 0:1] (column)
# REFUSED: 1 error for trn3 (default)
@nki.jit
def refused(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, other = nl.load(x), nl.load(x[0:64])
    nisa.activation(dst=tile, op=nl.exp, data=tile, scale=other)
    nl.store(out, tile)
    return out
