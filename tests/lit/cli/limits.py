# Work that would take too long ends at a limit, and the message has the way to raise it.

# Loops with many iterations are simulated in part.
# RUN: nkijit profile %s:nested -a x=4x8:float32 -a depth=1 -a trips=1000 | filecheck --check-prefix=CUT %s
# RUN: env NKIJIT_SIMULATION_LIMIT=80 nkijit profile %s:nested -a x=4x8:float32 -a depth=2 -a trips=9 | filecheck --check-prefix=FEWER %s
# CUT-NOT: note:
# FEWER: note: the loop at {{.*}}limits.py:{{[0-9]+}}:{{[0-9]+}} runs for 9 iterations; 8 are simulated, the others taken to be like the later ones: NKIJIT_SIMULATION_LIMIT is 80

# Loops in loops that are too many even so are refused, and a report says why it has no timeline.
# RUN: not env NKIJIT_SIMULATION_LIMIT=1000 nkijit profile %s:nested -a x=4x8:float32 -a depth=12 -a trips=100 2>&1 | filecheck --match-full-lines --check-prefix=DEEP %s
# DEEP: error: the loops of the kernel, 12 deep, make 4,100 instructions even if of each only 2 iterations are simulated; NKIJIT_SIMULATION_LIMIT is 1000, a higher one simulates them
# RUN: env NKIJIT_SIMULATION_LIMIT=1000 nkijit report %s:nested -a x=4x8:float32 -a depth=12 -a trips=100 -o %t.html
# RUN: %unpack < %t.html | filecheck --check-prefix=PAGE %s
# PAGE: no timeline: the loops of the kernel, 12 deep
# RUN: not env NKIJIT_SIMULATION_LIMIT=many nkijit profile %s:nested -a x=4x8:float32 2>&1 | filecheck --match-full-lines --check-prefix=WORD %s
# WORD: error: NKIJIT_SIMULATION_LIMIT is 'many', expected a positive integer
# RUN: not nkijit profile %s:nested -a x=4x8:float32 --iterations 2147483648 2>&1 | filecheck --match-full-lines --check-prefix=OFTEN %s
# OFTEN: error: a loop cannot run for 2147483648 iterations, only for 0 to 2147483647

# A run counts the iterations of all its loops.
# RUN: %python -c "import numpy, sys; numpy.save(sys.argv[1], numpy.ones((4, 8), 'float32'))" %t.x.npy
# RUN: env NKIJIT_LOOP_LIMIT=84 nkijit run %s:nested -i x=%t.x.npy -a depth=3 -a trips=4 -o %t.out.npy
# RUN: not env NKIJIT_LOOP_LIMIT=83 nkijit run %s:nested -i x=%t.x.npy -a depth=3 -a trips=4 2>&1 | filecheck --check-prefix=TOGETHER %s
# RUN: not nkijit run %s:nested -i x=%t.x.npy -a depth=1 -a trips=2147483647 2>&1 | filecheck --check-prefix=ONE %s
# TOGETHER: {{.*}}limits.py:{{[0-9]+}}:{{.*}}the loops of the run would go through more than 83 iterations together; NKIJIT_LOOP_LIMIT raises the limit
# ONE: {{.*}}limits.py:{{[0-9]+}}:{{.*}}the loop has not ended after 1000000 iterations; NKIJIT_LOOP_LIMIT raises the limit

# Output files are complete, and at the requested place.
# RUN: rm -rf %t.d && mkdir %t.d
# RUN: nkijit trace %s:nested -a x=4x8:float32 -o /dev/stdout | filecheck --check-prefix=IR %s
# RUN: nkijit profile %s:nested -a x=4x8:float32 -o /dev/stdout | filecheck --check-prefix=TRACE %s
# RUN: nkijit-opt %S/Inputs/two_kernels.mlir -o /dev/stdout | filecheck --check-prefix=IR %s
# RUN: nkijit run %s:nested -i x=%t.x.npy -o %t.d/without-ending
# RUN: not nkijit trace %s:nested -a x=4x8:float32 -o %t.d 2>&1 | filecheck --check-prefix=FOLDER %s
# RUN: not nkijit-opt %S/Inputs/malformed.mlir -o %t.d/nothing
# RUN: ls %t.d | filecheck --match-full-lines --check-prefix=LEFT %s
# IR: builtin.module {
# TRACE: "traceEvents"
# FOLDER: error: [Errno 21] Is a directory: '{{.*}}.d'
# LEFT: without-ending
# LEFT-NOT: {{.+}}

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def nested(x, depth=1, trips=2):
    tile = nl.ndarray((4, 8), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)

    def loop(left):
        if not left:
            nisa.tensor_scalar(tile, tile, op0=nl.add, operand0=1.0)
            return
        for _ in nl.dynamic_range(trips):
            loop(left - 1)

    loop(depth)
    out = nl.ndarray((4, 8), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out
