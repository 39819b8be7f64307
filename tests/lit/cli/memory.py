# The memory map of a kernel: a table of the tiles at the peak, and a map of characters.

# RUN: nkijit memory %s:row_sums -a x=128x512:float32 | filecheck --match-full-lines --strict-whitespace %s
# RUN: nkijit memory %s:row_sums -a x=128x512:float32 -t trn2 -o %t.txt
# RUN: filecheck --check-prefix=TRN2 %s < %t.txt

# The same of a kernel as text, which has no names of files.
# RUN: nkijit trace %s:row_sums -a x=128x512:float32 -o %t.mlir
# RUN: nkijit memory %t.mlir | filecheck --match-full-lines --strict-whitespace --check-prefix=IR %s

# As JSON and as a picture.
# RUN: nkijit memory %s:row_sums -a x=128x512:float32 --json -o %t.json
# RUN: %python -c "import json, sys; core = json.load(open(sys.argv[1]))['cores'][0]; print([(t['name'], t['address'], t['start'], t['end']) for s in core['spaces'] for t in s['tiles']])" %t.json | filecheck --match-full-lines --check-prefix=JSON %s
# RUN: nkijit memory %s:row_sums -a x=128x512:float32 --svg -o %t.svg
# RUN: %python -c "import sys; from xml.etree import ElementTree; print(ElementTree.parse(sys.argv[1]).getroot().tag)" %t.svg | filecheck --check-prefix=SVG %s
# RUN: not nkijit memory %s:row_sums -a x=128x512:float32 --svg --json 2>&1 | filecheck --match-full-lines --check-prefix=BOTH %s

# Both cores, each with its own memory, also of a kernel that verify refuses.
# RUN: nkijit memory %s:too_much -a x=128x32768:float32 -c 2 | filecheck --check-prefix=CORES %s

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def row_sums(x):
    out = nl.ndarray((1, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    ones = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf, name="all ones")
    nisa.memset(dst=ones, value=1.0)
    tile = nl.load(x)
    nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf, name="forgotten")
    total = nl.ndarray((1, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=ones, moving=tile)
    result = nl.ndarray((1, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=total)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def too_much(x):
    a = nl.load(x)
    b = nl.load(x)
    nisa.tensor_copy(dst=a, src=b)


# CHECK:schedule author: order and tiles as written; profile and report predict schedule compiler
# CHECK-NEXT:memory of @row_sums for trn3
# CHECK:SBUF: 2,052 of 245,752 bytes per partition in use at the peak (0.8%)
# CHECK-NEXT:  the peak is instruction 1, nisa.dma_copy at {{.*}}memory.py:31:12
# CHECK:     tile       shape and type   bytes  address  in use          allocated at
# CHECK-NEXT:  a  %tile      128x512 float32   2048  (0, 4)   lines 31 to 34  {{.*}}memory.py:31:12
# CHECK-NEXT:  b  %all ones  128x1 float32        4  (0, 0)   lines 30 to 34  {{.*}}memory.py:29:12
# CHECK:     2048 |..............aaaaaaaaaaaaaaaaaaaaaaaaaaaa..........................................
# CHECK-NEXT:     1920 |..............aaaaaaaaaaaaaaaaaaaaaaaaaaaa++++++++++++++++++++++++++++..............
# CHECK:        0 |bbbbbbbbbbbbbbaaaaaaaaaaaaaaaaaaaaaaaaaaaa++++++++++++++++++++++++++++..............
# CHECK-NEXT:     byte +---------------------^--------------------------------------------------------------
# CHECK-NEXT:           0                                                                                  5
# CHECK-NEXT:           6 instructions to the right, ^ the peak; a letter is a tile of the table,
# CHECK-NEXT:           + another tile, . free; a row is 128 bytes
# CHECK:PSUM: 2,048 of 16,384 bytes per partition in use at the peak (12.5%), at least 1 of 8 banks
# CHECK-NEXT:  the peak is instruction 2, nisa.nc_matmul at {{.*}}memory.py:34:5
# CHECK:  a  %total  1x512 float32    2048  (0, 0)   lines 34 to 36  {{.*}}memory.py:33:13
# CHECK:        0 |............................aaaaaaaaaaaaaaaaaaaaaaaaaaaa............................
# CHECK:never used, so without an address: %forgotten

# IR:SBUF: 2,052 of 245,752 bytes per partition in use at the peak (0.8%)
# IR-NEXT:  the peak is instruction 1, nisa.dma_copy at {{.*}}memory.py.tmp{{.*}}
# IR:     tile       shape and type   bytes  address  in use         allocated at
# IR-NEXT:  a  %tile      128x512 float32   2048  (0, 4)   lines 7 to 10  {{.*}}memory.py.tmp.mlir:6:13

# TRN2: memory of @row_sums for trn2
# TRN2: SBUF: 2,052 of 212,984 bytes

# JSON: [('all ones', [0, 0], 0, 2), ('tile', [0, 4], 1, 2), ('result', [0, 0], 3, 4), ('total', [0, 0], 2, 3)]
# SVG: {http://www.w3.org/2000/svg}svg
# BOTH: error: --json and --svg exclude each other

# CORES: memory of @too_much for trn3 on core 0
# CORES: SBUF: 262,144 of 245,752 bytes per partition in use at the peak (106.7%)
# CORES: the map ends at byte 262,144: it does not fit
# CORES: memory of @too_much for trn3 on core 1
