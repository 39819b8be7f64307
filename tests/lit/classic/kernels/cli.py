# RUN: nkijit list %s -a x=128x512:float32 | filecheck --check-prefix=LIST %s
# RUN: nkijit profile %s -a x=128x512:float32 | filecheck --check-prefix=PROFILE %s
# RUN: nkijit memory %s -a x=128x512:float32 | filecheck --check-prefix=MEMORY %s
# RUN: nkijit report %s -a x=128x512:float32 -o %t.html && %unpack < %t.html | filecheck --check-prefix=REPORT %s
# RUN: %python -c "import numpy, sys; numpy.save(sys.argv[1], numpy.full((128, 512), 1.5, numpy.float32))" %t.npy
# RUN: nkijit run %s -i x=%t.npy | filecheck --check-prefix=OUTPUT %s
# RUN: nkijit trace %s -a x=128x512:float32 -t trn1 | filecheck --check-prefix=TARGET %s
# RUN: not nkijit verify %s -a x=128x512:float32 --portable 2>&1 | filecheck --check-prefix=PORTABLE %s

# Every command takes classic kernels.

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def double(x):
    # LIST: TENSOR_TENSOR
    # PROFILE: profile of @double for trn2
    # MEMORY: tile
    # REPORT: nisa.tensor_tensor
    # OUTPUT: 3. 3. 3.
    # TARGET: @double({{.*}}) target=trn1
    # PORTABLE: portability is checked for kernels of the current API only
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nisa.tensor_tensor(tile, tile, op=np.add))
    return out
