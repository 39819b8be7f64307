// RUN: %python %S/../Inputs/verify_each.py %s | filecheck %s

// Repeats that mean nothing, or stand for too much: every command unrolls what it reads.

// CHECK: ill-formed.mlir:[[# @LINE + 8]]:5
// CHECK: there is no element 2 where k = 2
nki.kernel @k() target=trn2 {
  %tiles = nki.repeat m = 0 to 2 {
    %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
    nki.yield %tile
  }
  nki.repeat k = 0 to 3 {
    %t = nki.element %tiles[k]
  }
  nki.return
}

// -----

// CHECK: the repeats stand for more than 1048576 operations
nki.kernel @k() target=trn2 {
  nki.repeat i = 0 to 1000000 {
    nki.repeat j = 0 to 1000000 {
    }
  }
  nki.return
}

// -----

// CHECK: nki.repeat depends on 'n', which is no index of a repeat
nki.kernel @k() target=trn2 {
  nki.repeat i = 0 to n {
  }
  nki.return
}

// -----

// CHECK: nki.view depends on 'j', which is no index of a repeat
nki.kernel @k(%x: memref<128x64xf32, #nki.shared_hbm>) target=trn2 {
  nki.repeat i = 0 to 2 {
    %x_1 = nki.view %x offset=j*64 pattern=[[1, 64]]
  }
  nki.return
}

// -----

// CHECK: the repeat is inside of another one with index i{{$}}
nki.kernel @k() target=trn2 {
  nki.repeat i = 0 to 2 {
    nki.repeat j = 0 to 2 {
      nki.repeat i = 0 to 2 {
      }
    }
  }
  nki.return
}

// -----

// CHECK: an index counts from 0
nki.kernel @k() target=trn2 {
  nki.repeat i = 1 to 2 {
  }
  nki.return
}

// -----

// What is made outside would be in the list again and again.
// CHECK: a repeat yields what its body makes
nki.kernel @k() target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  %tiles = nki.repeat i = 0 to 2 {
    nki.yield %tile
  }
  nki.return
}

// -----

// CHECK: 'nki.yield' ends an nki.repeat
nki.kernel @k() target=trn2 {
  scf.while () : () -> () {
    %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
    nki.yield %tile
  } do {
    scf.yield
  }
  nki.return
}

// -----

// An iteration that is ill-formed.
// CHECK: ill-formed.mlir:[[# @LINE + 4]]:5
// CHECK: expected positive dimensions, got memref<128x0xf32, #nki.sbuf>
nki.kernel @k() target=trn2 {
  nki.repeat i = 0 to 2 {
    %tile = nki.alloc {varies = #nki.varies<type = [128, 64-i*64]>} : memref<128x64xf32, #nki.sbuf>
  }
  nki.return
}

// -----

// CHECK: expected 2 numbers in the place of those of memref<128x64xf32, #nki.sbuf>, got 1
nki.kernel @k() target=trn2 {
  nki.repeat i = 0 to 2 {
    %tile = nki.alloc {varies = #nki.varies<type = [i*64]>} : memref<128x64xf32, #nki.sbuf>
  }
  nki.return
}

// -----

// CHECK: nisa.memset has no property 'scale'
nki.kernel @k() target=trn2 {
  %tile = nki.alloc : memref<128x64xf32, #nki.sbuf>
  nki.repeat i = 0 to 2 {
    nisa.memset dst=%tile, value=0 {varies = #nki.varies<scale = [i]>}
  }
  nki.return
}
