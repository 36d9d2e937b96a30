// One query by matrix instructions: query heads are rows, of which those that
// share a KV head are used. Keys go from memory into fragments, so that a loop
// has no workgroup memory, no barrier and no reduction over lanes but that of
// the largest score, and that of four lanes alone.
//
// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" | FileCheck %s
// RUN: gist-opt %s "-gist-gpu-tile=target=gfx942" | FileCheck %s --check-prefix=AMD

// Twelve heads, each with one cluster: 16 keys of a wave are four k of 16 for
// scores, two instructions each, and then four times 16 outputs.
// CHECK-LABEL:  func.func private @one_head
// CHECK:          scf.for
// CHECK-COUNT-4:    vector.load %arg5
// CHECK-COUNT-4:    vector.load %arg6
// CHECK-COUNT-8:    nvgpu.mma.sync
// CHECK:            gpu.shuffle xor
// CHECK:            gpu.shuffle xor
// CHECK-NOT:        gpu.shuffle
// CHECK-COUNT-8:    nvgpu.mma.sync
// CHECK-NOT:        gpu.barrier
// CHECK:            scf.yield
// AMD-LABEL:    func.func private @one_head
// AMD-NOT:        mma
// AMD-NOT:        mfma
// AMD:          return
func.func private @one_head(%q: tensor<1x12x64xf16>, %k: tensor<1x12x64xf16>, %v: tensor<1x12x64xf16>, %past: index, %n: index,
    %kc: tensor<4096x12x64xf16>, %vc: tensor<4096x12x64xf16>, %out: tensor<1x12x64xf16>)
    -> (tensor<4096x12x64xf16>, tensor<4096x12x64xf16>, tensor<1x12x64xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf16> into tensor<4096x12x64xf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf16> into tensor<4096x12x64xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 12, 64] [1, 1, 1] : tensor<4096x12x64xf16> to tensor<?x12x64xf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 12, 64] [1, 1, 1] : tensor<4096x12x64xf16> to tensor<?x12x64xf16>
  %a = gist.attention %q, %ka, %va causal : tensor<1x12x64xf16>, tensor<?x12x64xf16>, tensor<?x12x64xf16>
  return %kn, %vn, %a : tensor<4096x12x64xf16>, tensor<4096x12x64xf16>, tensor<1x12x64xf16>
}

// Eight heads are the most. They take no more instructions.
// CHECK-LABEL:  func.func private @eight_heads
// CHECK-COUNT-8:    nvgpu.mma.sync
// CHECK:            gpu.shuffle xor
// CHECK:            gpu.shuffle xor
// CHECK-NOT:        gpu.shuffle
// CHECK-COUNT-8:    nvgpu.mma.sync
func.func private @eight_heads(%q: tensor<1x8x64xf16>, %k: tensor<1x1x64xf16>, %v: tensor<1x1x64xf16>, %past: index, %n: index,
    %kc: tensor<4096x1x64xf16>, %vc: tensor<4096x1x64xf16>, %out: tensor<1x8x64xf16>)
    -> (tensor<4096x1x64xf16>, tensor<4096x1x64xf16>, tensor<1x8x64xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<1x1x64xf16> into tensor<4096x1x64xf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<1x1x64xf16> into tensor<4096x1x64xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 1, 64] [1, 1, 1] : tensor<4096x1x64xf16> to tensor<?x1x64xf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 1, 64] [1, 1, 1] : tensor<4096x1x64xf16> to tensor<?x1x64xf16>
  %a = gist.attention %q, %ka, %va causal : tensor<1x8x64xf16>, tensor<?x1x64xf16>, tensor<?x1x64xf16>
  return %kn, %vn, %a : tensor<4096x1x64xf16>, tensor<4096x1x64xf16>, tensor<1x8x64xf16>
}

// With heads of another size lanes add up.
// CHECK-LABEL:  func.func private @wide_heads
// CHECK-NOT:      mma.sync
// CHECK:          return
func.func private @wide_heads(%q: tensor<1x12x128xf16>, %k: tensor<1x12x128xf16>, %v: tensor<1x12x128xf16>, %past: index, %n: index,
    %kc: tensor<4096x12x128xf16>, %vc: tensor<4096x12x128xf16>, %out: tensor<1x12x128xf16>)
    -> (tensor<4096x12x128xf16>, tensor<4096x12x128xf16>, tensor<1x12x128xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 12, 128] [1, 1, 1] : tensor<1x12x128xf16> into tensor<4096x12x128xf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 12, 128] [1, 1, 1] : tensor<1x12x128xf16> into tensor<4096x12x128xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 12, 128] [1, 1, 1] : tensor<4096x12x128xf16> to tensor<?x12x128xf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 12, 128] [1, 1, 1] : tensor<4096x12x128xf16> to tensor<?x12x128xf16>
  %a = gist.attention %q, %ka, %va causal : tensor<1x12x128xf16>, tensor<?x12x128xf16>, tensor<?x12x128xf16>
  return %kn, %vn, %a : tensor<4096x12x128xf16>, tensor<4096x12x128xf16>, tensor<1x12x128xf16>
}

// So do they where numbers are f32 or bf16.
// CHECK-LABEL:  func.func private @long_numbers
// CHECK-NOT:      mma.sync
// CHECK:          return
func.func private @long_numbers(%q: tensor<1x12x64xf32>, %k: tensor<1x12x64xf32>, %v: tensor<1x12x64xf32>, %past: index, %n: index,
    %kc: tensor<4096x12x64xf32>, %vc: tensor<4096x12x64xf32>, %out: tensor<1x12x64xf32>)
    -> (tensor<4096x12x64xf32>, tensor<4096x12x64xf32>, tensor<1x12x64xf32>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf32> into tensor<4096x12x64xf32>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf32> into tensor<4096x12x64xf32>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 12, 64] [1, 1, 1] : tensor<4096x12x64xf32> to tensor<?x12x64xf32>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 12, 64] [1, 1, 1] : tensor<4096x12x64xf32> to tensor<?x12x64xf32>
  %a = gist.attention %q, %ka, %va causal : tensor<1x12x64xf32>, tensor<?x12x64xf32>, tensor<?x12x64xf32>
  return %kn, %vn, %a : tensor<4096x12x64xf32>, tensor<4096x12x64xf32>, tensor<1x12x64xf32>
}

// CHECK-LABEL:  func.func private @other_numbers
// CHECK-NOT:      mma.sync
// CHECK:          return
func.func private @other_numbers(%q: tensor<1x12x64xbf16>, %k: tensor<1x12x64xbf16>, %v: tensor<1x12x64xbf16>, %past: index, %n: index,
    %kc: tensor<4096x12x64xbf16>, %vc: tensor<4096x12x64xbf16>, %out: tensor<1x12x64xbf16>)
    -> (tensor<4096x12x64xbf16>, tensor<4096x12x64xbf16>, tensor<1x12x64xbf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xbf16> into tensor<4096x12x64xbf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xbf16> into tensor<4096x12x64xbf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 12, 64] [1, 1, 1] : tensor<4096x12x64xbf16> to tensor<?x12x64xbf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 12, 64] [1, 1, 1] : tensor<4096x12x64xbf16> to tensor<?x12x64xbf16>
  %a = gist.attention %q, %ka, %va causal : tensor<1x12x64xbf16>, tensor<?x12x64xbf16>, tensor<?x12x64xbf16>
  return %kn, %vn, %a : tensor<4096x12x64xbf16>, tensor<4096x12x64xbf16>, tensor<1x12x64xbf16>
}

// And where a workgroup has many steps, and reads keys ahead.
// CHECK-LABEL:  func.func private @many_heads
// CHECK-NOT:      mma.sync
// CHECK:          return
func.func private @many_heads(%q: tensor<1x34x64xf16>, %k: tensor<1x34x64xf16>, %v: tensor<1x34x64xf16>, %past: index, %n: index,
    %kc: tensor<4096x34x64xf16>, %vc: tensor<4096x34x64xf16>, %out: tensor<1x34x64xf16>)
    -> (tensor<4096x34x64xf16>, tensor<4096x34x64xf16>, tensor<1x34x64xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 34, 64] [1, 1, 1] : tensor<1x34x64xf16> into tensor<4096x34x64xf16>
  %vn = tensor.insert_slice %v into %vc[%past, 0, 0] [1, 34, 64] [1, 1, 1] : tensor<1x34x64xf16> into tensor<4096x34x64xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 34, 64] [1, 1, 1] : tensor<4096x34x64xf16> to tensor<?x34x64xf16>
  %va = tensor.extract_slice %vn[0, 0, 0] [%n, 34, 64] [1, 1, 1] : tensor<4096x34x64xf16> to tensor<?x34x64xf16>
  %a = gist.attention %q, %ka, %va causal : tensor<1x34x64xf16>, tensor<?x34x64xf16>, tensor<?x34x64xf16>
  return %kn, %vn, %a : tensor<4096x34x64xf16>, tensor<4096x34x64xf16>, tensor<1x34x64xf16>
}
