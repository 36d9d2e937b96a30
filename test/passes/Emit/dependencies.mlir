// RUN: gist-compile %s -o %t.gist --context=64 --progress=off
// RUN: gist-run info --disassemble %t.gist | FileCheck %s

// Both reductions wait for the kernel whose rows they read, not for each other.
// CHECK:       entry @branches(
// CHECK-NEXT:    0: @rows_0<{{.*}}>(%argument0, %branches.arena0, {{.*}}) after []
// CHECK-NEXT:    1: @rows_1<{{.*}}>(%branches.arena0, %branches.result0, {{.*}}) after [0]
// CHECK-NEXT:    2: @rows_2<{{.*}}>(%branches.arena0, %branches.result1, {{.*}}) after [0]
#row = affine_map<(t, n) -> (t, n)>
#sum = affine_map<(t, n) -> (n)>
func.func @branches(%x: tensor<?x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  %b = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<?x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.addf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<?x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}

// The second rows could go where the first were, once the sum of those has been
// taken. They do not wait for that: nothing they are made of does.
// CHECK:       entry @reuse(
// CHECK-NEXT:    0: @rows_0<{{.*}}>(%{{.+}}, %reuse.arena0, {{.*}}) after []
// CHECK-NEXT:    1: @rows_1<{{.*}}>(%reuse.arena0, %reuse.result0, {{.*}}) after [0]
// CHECK-NEXT:    2: @rows_0<{{.*}}>(%{{.+}}, %reuse.arena1, {{.*}}) after []
// CHECK-NEXT:    3: @rows_1<{{.*}}>(%reuse.arena1, %reuse.result1, {{.*}}) after [2]
func.func @reuse(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  %b = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<?x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.addf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  %d = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["reduction", "parallel"]}
      ins(%c : tensor<?x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.addf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %b, %d : tensor<8xf32>, tensor<8xf32>
}
