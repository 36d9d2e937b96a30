// Inputs are called what `gist.name` says; locations are for people, and a module
// without them has the same bytes.
// RUN: mkdir -p %t.a %t.b
// RUN: gist-opt %s -mlir-print-debuginfo -o %t.a/names.mlir
// RUN: gist-opt %s -strip-debuginfo -mlir-print-debuginfo -o %t.b/names.mlir
// RUN: grep 'loc("rows")' %t.a/names.mlir
// RUN: not grep 'loc("rows")' %t.b/names.mlir
// RUN: gist-compile %t.a/names.mlir -o %t.a/names.gist --context=64 --progress=off
// RUN: gist-compile %t.b/names.mlir -o %t.b/names.gist --context=64 --progress=off
// RUN: cmp %t.a/names.gist %t.b/names.gist
// RUN: gist-run info --disassemble %t.a/names.gist | FileCheck %s

// Layers are those that weights say, not the numbers in their names.
// CHECK: %x = input f32[T x 8] size T * 32
// CHECK: %argument1 = input f32[8] size 32
// CHECK: entry @f(%x, %argument1) -> (%f.y)
// CHECK-NEXT: 0: @{{.*}} layer 5
gist.constant_weight @blk.3.norm dense<2.0> : tensor<8xf32>
#row = affine_map<(t, n) -> (t, n)>
#column = affine_map<(t, n) -> (n)>
func.func @f(%x: tensor<?x8xf32> {gist.name = "x"} loc("rows"), %s: tensor<8xf32> loc("scale"))
    -> (tensor<?x8xf32> {gist.name = "y"}) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %w = gist.weight "blk.3.norm" layer 5 : tensor<8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#row, #column, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %w : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.mulf %m, %c : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
