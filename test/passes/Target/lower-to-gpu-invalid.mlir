// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-lower-to-gpu -split-input-file -verify-diagnostics

// expected-error @+1 {{has an argument that no slot can hold: 'f32'}}
func.func private @scalar(%x: f32)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.workgroup = array<i64: 64>} {
  return
}

// -----

// expected-error @+1 {{has an argument that no slot can hold: 'memref<?xf32, strided<[2]>>'}}
func.func private @strided(%x: memref<?xf32, strided<[2]>>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.workgroup = array<i64: 64>} {
  return
}

// -----

// expected-error @+1 {{needs the attribute gist.workgroup with 1 to 1024 threads}}
func.func private @threads(%x: memref<4xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.workgroup = array<i64: 2048>} {
  return
}

// -----

// expected-error @+1 {{takes 65552 bytes of workgroup memory; gfx942 has 65536}}
func.func private @large()
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.workgroup = array<i64: 64>} {
  %a = memref.alloca() : memref<16384xf32, #gpu.address_space<workgroup>>
  %b = memref.alloca() : memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func private @dynamic(%n: index)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.workgroup = array<i64: 64>} {
  // expected-error @+1 {{expects workgroup memory of a constant size, allocated at the top level of a kernel}}
  %a = memref.alloca(%n) : memref<?xf32, #gpu.address_space<workgroup>>
  return
}

// -----

// expected-error @+1 {{'func.func' op is a kernel and needs a body of one block, got 0 blocks}}
func.func private @no_body(memref<8xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.workgroup = array<i64: 64>}

// -----

func.func private @wide(%x: memref<65536xf16>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.workgroup = array<i64: 64>} {
  %zero = arith.constant 0 : index
  // expected-error @+1 {{has a 'vector<65536xf16>'; a vector has at most 4096 elements}}
  %v = vector.load %x[%zero] : memref<65536xf16>, vector<65536xf16>
  vector.store %v, %x[%zero] : memref<65536xf16>, vector<65536xf16>
  return
}
