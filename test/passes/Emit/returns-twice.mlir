// A value has one output: the second would take the memory of the first, which
// nothing wrote then.
// RUN: not gist-compile %s -o %t.gist --progress=off 2>&1 | FileCheck %s
// CHECK: error: {{.*}}'func.return' op returns one value twice, as result 1 again; a module writes each value once
#row = affine_map<(t, n) -> (t, n)>
func.func @f(%x: tensor<?x8xf32>) -> (tensor<?x8xf32> {gist.name = "a"}, tensor<?x8xf32> {gist.name = "b"}) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
