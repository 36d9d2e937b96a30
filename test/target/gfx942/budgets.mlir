// The main loops of wide products and of selections: loads two steps ahead, 32
// matrix instructions between barriers, and by llvm-mca's model of one wave at
// least 60 % of the matrix unit's time. An iteration of a product is two steps.
// Attention has two barriers a step and computes weights beside its products.
// No register spills.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=output=%t.hsaco" -o /dev/null
// RUN: gist-compile %t.hsaco --report=resources | FileCheck %s

// CHECK:      kernel {{ *}}threads{{ .*}}lds  scratch
// CHECK-DAG:  product   256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  blocks    256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  halves    256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  narrow    256 {{.*}} 32768 {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  select    256 {{.*}} {{5....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  cascade   256 {{.*}} {{5....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  heads64   256 {{.*}} 16384 {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  heads128  256 {{.*}} 16384 {{ *}}0 {{ *}}0 {{ *}}2
// CHECK-DAG:  heads256  256 {{.*}} 32768 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  copy      256 {{.*}} {{4....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  means     256 {{.*}} {{4....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK:      main loop  mfma {{.*}}barriers  mfma/barrier  ahead {{.*}}mfma busy
// CHECK-DAG:  product {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{[7-9].%}}
// CHECK-DAG:  blocks {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{[6-9].%}}
// CHECK-DAG:  halves {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{[6-9].%}}
// CHECK-DAG:  narrow {{ *}}16 {{.*}} 2 {{ *}}8 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{[23].%}}
// CHECK-DAG:  select {{ *}}32 {{.*}} 1 {{ *}}32 {{ *}}2 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{[67].%}}
// CHECK-DAG:  cascade {{ *}}32 {{.*}} 1 {{ *}}32 {{ *}}2 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{[67].%}}
// CHECK-DAG:  heads64 {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{6[5-9]%}}
// CHECK-DAG:  heads128 {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{7.%}}
// CHECK-DAG:  heads256 {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}64 {{ *}}{{[0-9]+}} {{ *}}{{6.%}}
// CHECK-DAG:  copy {{ *}}32 {{.*}} 2 {{ *}}16 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{5[5-9]%}}

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<?x4096xbf16>, %w: tensor<16384x4096xbf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xbf16>, tensor<16384x4096xbf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %p : tensor<?x16384xf32>
}

!part = tensor<?xi32>
func.func private @select(%x: tensor<?x4096xf16>, %ids: !part,
    %count: tensor<i32>, %nearest: !part, %weight: !part)
    -> (!part, tensor<i32>, !part, !part) attributes {gist.kernel = #gist.kernel<kind = select, outputs = 4>} {
  %s = gist.gram_select %x, 3.0e-1 against kept causal : tensor<?x4096xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w : !part, tensor<i32>, !part, !part
}

!parts = tensor<8x?xi32>
!counts = tensor<8xi32>
func.func private @cascade(%x: tensor<?x8x128xf16>, %old_ids: !parts, %old_count: !counts, %old_nearest: !parts,
    %old_weight: !parts, %taus: tensor<8xf32>, %ids: !parts, %count: !counts,
    %nearest: !parts, %weight: !parts, %removed: !counts, %added: !counts)
    -> (!parts, !counts, !parts, !parts, !counts, !counts) attributes {gist.kernel = #gist.kernel<kind = select, outputs = 6>} {
  %old = gist.pack_selection %old_ids, %old_count, %old_nearest, %old_weight : !parts, !counts, !parts, !parts
  %s, %r, %a = gist.cascade_update %x, %old, taus(%taus : tensor<8xf32>) rule covering causal
      : tensor<?x8x128xf16>, !gist.selection<8x?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<8x?>
  return %i, %c, %n, %w, %r, %a : !parts, !counts, !parts, !parts, !counts, !counts
}

// Blocks are converted beside the matrix instructions of the step before.
func.func private @blocks(%x: tensor<?x576xf32>, %w: tensor<49152x18x34xi8>, %y: tensor<?x49152xf32>)
    -> tensor<?x49152xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x49152xf32>) -> tensor<?x49152xf32>
  %n = gist.dequantize %w format q8_0 : tensor<49152x18x34xi8>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %n : tensor<?x576xf32>, tensor<49152x576xf32>)
      outs(%z : tensor<?x49152xf32>) -> tensor<?x49152xf32>
  return %p : tensor<?x49152xf32>
}

// The same beside rows in 16 bits: no step waits for its own loads.
func.func private @halves(%x: tensor<?x576xf16>, %w: tensor<49152x18x20xi8>, %y: tensor<?x49152xf32>)
    -> tensor<?x49152xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x49152xf32>) -> tensor<?x49152xf32>
  %n = gist.dequantize %w format q4_1 : tensor<49152x18x20xi8>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %n : tensor<?x576xf16>, tensor<49152x576xf32>)
      outs(%z : tensor<?x49152xf32>) -> tensor<?x49152xf32>
  return %p : tensor<?x49152xf32>
}

func.func private @narrow(%x: tensor<?x576xf16>, %w: tensor<960x18x34xi8>, %y: tensor<?x960xf32>)
    -> tensor<?x960xf32> attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x960xf32>) -> tensor<?x960xf32>
  %n = gist.dequantize %w format q8_0 : tensor<960x18x34xi8>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %n : tensor<?x576xf16>, tensor<960x576xf32>)
      outs(%z : tensor<?x960xf32>) -> tensor<?x960xf32>
  return %p : tensor<?x960xf32>
}

// SmolLM2's, OPT's and GPT-J's heads.
!q64 = tensor<?x9x64xf16>
!k64 = tensor<?x3x64xf16>
func.func private @heads64(%q: !q64, %k: !k64, %v: !k64, %out: !q64) -> !q64
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : !q64, !k64, !k64
  return %r : !q64
}

!x128 = tensor<?x32x128xf16>
func.func private @heads128(%q: !x128, %k: !x128, %v: !x128, %out: !x128) -> !x128
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : !x128, !x128, !x128
  return %r : !x128
}

!x256 = tensor<?x16x256xf16>
func.func private @heads256(%q: !x256, %k: !x256, %v: !x256, %out: !x256) -> !x256
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>} {
  %r = gist.attention %q, %k, %v causal : !x256, !x256, !x256
  return %r : !x256
}

func.func private @copy(%q: !x128, %k: !x128, %v: !x128, %ids: !part, %count: tensor<i32>, %nearest: !part,
    %weight: !part, %out: !x128) -> !x128 attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  %r = gist.attend %q, %k, %v on %s mode copy causal : !x128, !x128, !x128, !gist.selection<?>
  return %r : !x128
}

func.func private @means(%q: !x256, %k: !x256, %v: !x256, %ids: !part, %count: tensor<i32>, %nearest: !part,
    %weight: !part, %out: !x256) -> !x256 attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  %r = gist.attend %q, %k, %v on %s mode keys causal window 128 block 128 : !x256, !x256, !x256, !gist.selection<?>
  return %r : !x256
}
