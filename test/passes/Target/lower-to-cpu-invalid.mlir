// RUN: gist-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(gist-lower-to-cpu))'

// expected-error @+1 {{'func.func' op is a kernel and needs a body of one block, got 0 blocks}}
func.func private @no_body(memref<8xf32>, memref<8xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

func.func private @wide(%x: memref<65536xf16>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{has a 'vector<65536xf16>'; a vector has at most 4096 elements}}
  %v = vector.load %x[%zero] : memref<65536xf16>, vector<65536xf16>
  vector.store %v, %x[%zero] : memref<65536xf16>, vector<65536xf16>
  return
}
