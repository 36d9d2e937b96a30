// A selection runs beside the projections of its layer: only calls that wait
// for it anyway reuse its memory, its scratch above all.
// RUN: gist-compile %s -o %t.gist --target=gfx942 --context=256 --progress=off
// RUN: gist-run info --disassemble %t.gist | FileCheck %s

// CHECK:      entry @layer(
// CHECK-NEXT: [[H:[0-9]+]]: @rows_0{{.*}} after []
// CHECK-NEXT: [[CLEAR:[0-9]+]]: @clear_0{{.*}} after []
// CHECK-NEXT: [[SELECT:[0-9]+]]: @gram_select_0{{.*}} after {{\[}}[[H]], [[CLEAR]]]
// CHECK-NEXT: [[Q:[0-9]+]]: @matmul_0{{.*}} after {{\[}}[[H]]]
// CHECK-NEXT: [[K:[0-9]+]]: @matmul_0{{.*}} after {{\[}}[[H]]]
// CHECK-NEXT: [[V:[0-9]+]]: @matmul_0{{.*}} after {{\[}}[[H]]]
// CHECK-NEXT: @{{.*}} after {{\[}}[[SELECT]], [[Q]], [[K]], [[V]]]
#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (n, k)>
#y = affine_map<(t, n, k) -> (t, n)>
#row = affine_map<(t, n) -> (t, n)>
!q = tensor<?x1x64xf16>
func.func @layer(%x: tensor<?x64xf16>, %wq: tensor<64x64xf16>, %wk: tensor<64x64xf16>,
    %wv: tensor<64x64xf16>) -> !q {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%t) : tensor<?x64xf16>
  %h = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf16>) outs(%e : tensor<?x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    %n = arith.negf %a : f16
    linalg.yield %n : f16
  } -> tensor<?x64xf16>
  %s = gist.gram_select %h, 3.0e-1 causal : tensor<?x64xf16>
  %fq = tensor.empty(%t) : tensor<?x64xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%fq : tensor<?x64xf32>) -> tensor<?x64xf32>
  %pq = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %wq : tensor<?x64xf16>, tensor<64x64xf16>)
      outs(%zq : tensor<?x64xf32>) -> tensor<?x64xf32>
  %qr = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%pq : tensor<?x64xf32>) outs(%e : tensor<?x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %n = arith.truncf %a : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x64xf16>
  %q = tensor.expand_shape %qr [[0], [1, 2]] output_shape [%t, 1, 64] : tensor<?x64xf16> into !q
  %fk = tensor.empty(%t) : tensor<?x64xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%fk : tensor<?x64xf32>) -> tensor<?x64xf32>
  %pk = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %wk : tensor<?x64xf16>, tensor<64x64xf16>)
      outs(%zk : tensor<?x64xf32>) -> tensor<?x64xf32>
  %kr = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%pk : tensor<?x64xf32>) outs(%e : tensor<?x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %n = arith.truncf %a : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x64xf16>
  %k = tensor.expand_shape %kr [[0], [1, 2]] output_shape [%t, 1, 64] : tensor<?x64xf16> into !q
  %fv = tensor.empty(%t) : tensor<?x64xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%fv : tensor<?x64xf32>) -> tensor<?x64xf32>
  %pv = linalg.matmul indexing_maps = [#x, #w, #y] ins(%h, %wv : tensor<?x64xf16>, tensor<64x64xf16>)
      outs(%zv : tensor<?x64xf32>) -> tensor<?x64xf32>
  %vr = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%pv : tensor<?x64xf32>) outs(%e : tensor<?x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %n = arith.truncf %a : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x64xf16>
  %v = tensor.expand_shape %vr [[0], [1, 2]] output_shape [%t, 1, 64] : tensor<?x64xf16> into !q
  %r = gist.attend %q, %k, %v on %s mode copy causal : !q, !q, !q, !gist.selection<?>
  return %r : !q
}
