// The main loops of wide products and of selections: loads two steps ahead, 32
// matrix instructions between barriers, and by llvm-mca's model of one wave at
// least 60 % of the matrix unit's time. An iteration of a product is two steps.
// No register spills.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=target=gfx942 output=%t.hsaco" -o /dev/null
// RUN: gist-compile %t.hsaco --report=resources | FileCheck %s

// CHECK:      kernel {{ *}}threads{{ .*}}lds  scratch
// CHECK-DAG:  product   256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  blocks    256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  select    256 {{.*}} {{5....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  cascade   256 {{.*}} {{5....}} {{ *}}0 {{ *}}0 {{ *}}1
// CHECK:      main loop  mfma {{.*}}barriers  mfma/barrier  ahead {{.*}}mfma busy
// CHECK-DAG:  product {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{[7-9].%}}
// CHECK-DAG:  blocks {{ *}}64 {{.*}} 2 {{ *}}32 {{ *}}1 {{ *}}{{[0-9]+}} {{ *}}{{[0-9]+}} {{ *}}{{[6-9].%}}
// CHECK-DAG:  select {{ *}}32 {{.*}} 1 {{ *}}32 {{ *}}2 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{[67].%}}
// CHECK-DAG:  cascade {{ *}}32 {{.*}} 1 {{ *}}32 {{ *}}2 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{[67].%}}

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<?x4096xbf16>, %w: tensor<16384x4096xbf16>, %y: tensor<?x16384xf32>)
    -> tensor<?x16384xf32> attributes {gist.kernel, gist.outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %w : tensor<?x4096xbf16>, tensor<16384x4096xbf16>)
      outs(%z : tensor<?x16384xf32>) -> tensor<?x16384xf32>
  return %p : tensor<?x16384xf32>
}

!part = tensor<?xi32>
func.func private @select(%x: tensor<?x4096xf16>, %control: tensor<320xi32> {gist.control}, %ids: !part,
    %count: tensor<i32>, %nearest: !part, %weight: !part, %scratch: !part)
    -> (!part, tensor<i32>, !part, !part, !part) attributes {gist.kernel, gist.outputs = 5} {
  %s = gist.gram_select %x, 3.0e-1 against kept causal : tensor<?x4096xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w, %scratch : !part, tensor<i32>, !part, !part, !part
}

!parts = tensor<8x?xi32>
!counts = tensor<8xi32>
func.func private @cascade(%x: tensor<?x8x128xf16>, %old_ids: !parts, %old_count: !counts, %old_nearest: !parts,
    %old_weight: !parts, %taus: tensor<8xf32>, %control: tensor<2560xi32> {gist.control}, %ids: !parts, %count: !counts,
    %nearest: !parts, %weight: !parts, %removed: !counts, %added: !counts, %scratch: !part)
    -> (!parts, !counts, !parts, !parts, !counts, !counts, !part) attributes {gist.kernel, gist.outputs = 7} {
  %old = gist.pack_selection %old_ids, %old_count, %old_nearest, %old_weight : !parts, !counts, !parts, !parts
  %s, %r, %a = gist.cascade_update %x, %old, 3.0e-1 taus(%taus : tensor<8xf32>) rule covering causal
      : tensor<?x8x128xf16>, !gist.selection<8x?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<8x?>
  return %i, %c, %n, %w, %r, %a, %scratch : !parts, !counts, !parts, !parts, !counts, !counts, !part
}

// Blocks are converted beside the matrix instructions of the step before.
func.func private @blocks(%x: tensor<?x576xf32>, %w: tensor<49152x18x34xi8>, %y: tensor<?x49152xf32>)
    -> tensor<?x49152xf32> attributes {gist.kernel, gist.outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<?x49152xf32>) -> tensor<?x49152xf32>
  %n = gist.dequantize %w format q8_0 : tensor<49152x18x34xi8>
  %p = linalg.matmul indexing_maps = [#x, #w, #y]
      ins(%x, %n : tensor<?x576xf32>, tensor<49152x576xf32>)
      outs(%z : tensor<?x49152xf32>) -> tensor<?x49152xf32>
  return %p : tensor<?x49152xf32>
}
