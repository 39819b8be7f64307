# Variants of a kernel: a table with the best first, and why others cannot be used.
# RUN: rm -rf %t && mkdir -p %t
# RUN: not nkijit sweep %s:tiled --space width=fals 2>&1 | filecheck --check-prefix=SPACE %s
# SPACE: error: width: 'fals' is not a value; did you mean 'false'?

# RUN: nkijit sweep %s:tiled --space width=0,128,512 --space half=false,true --workers 1 --resume %t/found.jsonl --html %t/page.html | filecheck --strict-whitespace --check-prefix=TABLE %s
# TABLE: sweep of @tiled: 6 variants, 3 valid
# TABLE-NEXT:   best time: width=512, half=False: {{.*}} us (
# TABLE-NEXT:   first valid: width=128, half=False: {{.*}} us
# TABLE:   width   half  {{ *}}time  bound
# TABLE-NEXT:     512  False  {{ *[0-9.]+}} us ({{.*}})  latency  {{ *}}2 KiB   0 B  0.0%
# TABLE-NEXT:     128  False
# TABLE-NEXT:     128   True
# TABLE-NEXT:       0  False  {{ *}}ZeroDivisionError: {{.*}}by zero
# TABLE-NEXT:       0   True  {{ *}}ZeroDivisionError: {{.*}}by zero
# TABLE-NEXT:     512   True  {{ *}}alloc-partitions

# Results in a store are not computed again; the other forms.
# RUN: nkijit sweep %s:tiled --space width=128 --space half=false --resume %t/found.jsonl --objective sbuf --json | filecheck --check-prefix=JSON %s
# JSON: "kernel": "tiled",
# JSON-NEXT: "objectives": [
# JSON-NEXT: "sbuf"
# JSON-NEXT: ],
# JSON-NEXT: "trials": null,
# JSON: "point": {
# JSON-NEXT: "width": 128,
# JSON-NEXT: "half": false
# JSON: "valid": true,
# JSON: "time": {
# JSON-NEXT: "ns": {{[0-9.]+}},
# RUN: filecheck --check-prefix=PAGE --input-file %t/page.html %s
# PAGE: <title>sweep of tiled</title>
# PAGE: <svg
# PAGE: <circle
# PAGE: <tr class="best"
# PAGE: <tr class="invalid" title="{{.*}}error[alloc-partitions]

# A variant that hangs is ended.
# RUN: not nkijit sweep %s:endless --space n=1 --timeout 0.3 | filecheck --check-prefix=LATE %s
# LATE: sweep of @endless: 1 variant, 0 valid
# LATE: 1 {{ *}}still running after 0.3 s; it was ended

# Samplers.
# RUN: nkijit sweep %s:tiled --space width=128..512:*2 --space half=false,true --trials 9 --storage %t/journal.log --sampler grid --objective sbuf --objective time --workers 1 2>&1 | filecheck --check-prefix=GRID %s
# GRID: sweep of @tiled: 6 trials of 6 variants, 5 valid
# GRID-NEXT: best sbuf: width=128,
# GRID: not beaten in sbuf, time (with *): {{[2-5]}} of 5
# GRID: * 128
# RUN: not nkijit sweep %s:tiled --space width=128 --space half=false --sampler tpe 2>&1 | filecheck --check-prefix=HOWMANY %s
# HOWMANY: error: --sampler needs the number of variants: add e.g. --trials 100
# RUN: not nkijit sweep %s:tiled --space width=1..4096:log --space half=false 2>&1 | filecheck --check-prefix=LOG %s
# LOG: error: 1..4096 has too many values for a grid: give it a step, 1..4096:STEP or :*FACTOR, or search with a sampler

# Commands that fail.
# RUN: not nkijit sweep %s:tiled --space width=128 --space half=false --scheduler nowhere 2>&1 | filecheck --check-prefix=SCHEDULER %s
# SCHEDULER: error: there is no scheduler of Dask at nowhere: missing port number
# RUN: not nkijit sweep %s:tiled --space width=0 --space half=false --workers 1 | filecheck --check-prefix=NONE %s
# NONE: sweep of @tiled: 1 variant, 0 valid
# RUN: not nkijit sweep %s:tiled --space widht=128 2>&1 | filecheck --check-prefix=NAME %s
# NAME: error: {{.*}} has no argument 'widht'; it has x, width, half
# RUN: not nkijit sweep %s:tiled --space STEPS=128 2>&1 | filecheck --check-prefix=GLOBAL %s
# GLOBAL: error: {{.*}} has no argument 'STEPS'; it has x, width, half. It is a global: make it an argument, def tiled(x, width, half, STEPS=2)
# RUN: not nkijit sweep %s:tiled --space width=128 2>&1 | filecheck --check-prefix=MISSING %s
# MISSING: error: argument 'half' is missing; {{.*}} Add -a half=128x512:float32 if it is a tensor
# RUN: not nkijit sweep %s:tiled --space width=128 --space half=true --objective speed 2>&1 | filecheck --check-prefix=OBJECTIVE %s
# OBJECTIVE: error: there is no objective 'speed'; there are time, high, sbuf
# RUN: not nkijit sweep %s:tiled --space width=128 --space half=true --resume %s 2>&1 | filecheck --check-prefix=STORE %s
# STORE: error: {{.*}}sweep.py is no file of results of a sweep; name another one

import nkijit as nki
import nkijit.language as nl

STEPS = 2


@nki.example(x="128x512:float32")
@nki.jit
def tiled(x, width, half):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[1] // width):
        columns = nl.ds(i * width, width)
        if half and width == 512:
            nl.ndarray((256, 1), x.dtype, buffer=nl.sbuf)
        nl.store(out[:, columns], nl.load(x[:, columns]))
    return out


@nki.jit
def endless(n):
    while n:
        pass
