// The main loops of a wide product and of selections: loads two steps ahead, 32
// matrix instructions between barriers, and by llvm-mca's model of one wave at
// least 60 % of the matrix unit's time. Vector registers do not spill.

// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 "-gist-write-gpu-code=target=gfx942 output=%t.hsaco" -o /dev/null
// RUN: gist-compile %t.hsaco --report=resources | FileCheck %s

// CHECK:      kernel {{ *}}threads{{ .*}}lds  scratch
// CHECK-DAG:  product   256 {{.*}} 49152 {{ *}}0 {{ *}}0 {{ *}}1
// CHECK-DAG:  select    256 {{.*}} {{5....}} {{ *}}0 {{ *}}{{1?[0-9]|2[0-4]}} {{ *}}1
// CHECK:      main loop  mfma {{.*}}barriers  mfma/barrier  ahead {{.*}}mfma busy
// CHECK-DAG:  product {{ *}}32 {{.*}} 1 {{ *}}32 {{ *}}2 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{[67].%}}
// CHECK-DAG:  select {{ *}}32 {{.*}} 1 {{ *}}32 {{ *}}2 {{ *}}32 {{ *}}{{[0-9]+}} {{ *}}{{[67].%}}

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
