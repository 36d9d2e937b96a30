// RUN: gist-opt %s -verify-diagnostics -pass-pipeline='builtin.module(func.func(gist-place-buffers))'

// expected-error @+1 {{'func.func' op is a kernel and needs a body of one block, got 0 blocks}}
func.func private @k(memref<8xf32>, memref<8xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
