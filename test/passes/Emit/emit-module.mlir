// RUN: gist-compile %s -o %t.gist --context=64 --progress=off
// RUN: gist-run info --disassemble %t.gist | FileCheck %s

// A state that two layers update in place: one kernel, two calls that differ in
// the layer. Slots are the operands in order, then the dynamic sizes of tensors:
// x, P, T, the layer, the state, and the T rows of x. The result is memory of
// the caller, what is between the kernels lies in the arena: rows of 8 f32 take
// 32 bytes and are given 64. The second call of cache_0 waits for the first, whose
// state it goes on with; rows_0 reads only the input and waits for nothing.

// CHECK:       buffers:
// CHECK-NEXT:    %argument0 = input f32[T x 8] size T * 32
// CHECK-NEXT:    %argument2 = state f32[2 x 64 x 8] size 4096
// CHECK-NEXT:    %remember.result0 = output f32[8] size 32
// CHECK-NEXT:    %remember.arena0 = arena f32[T x 8] offset 0 size T * 32
// CHECK:       entry @remember(%argument0) -> (%remember.result0) arena T * 64 {
// CHECK-NEXT:    0: @cache_0<{{.*}}>(%argument0, P, T, 0, %argument2, T) after []
// CHECK-NEXT:    1: @cache_0<{{.*}}>(%argument0, P, T, 1, %argument2, T) after [0]
// CHECK-NEXT:    2: @rows_0<{{.*}}>(%argument0, %remember.arena0, T, T) after []
// CHECK-NEXT:    3: @rows_1<{{.*}}>(%remember.arena0, %remember.result0, T) after [2]
// CHECK-NEXT:  }
#row = affine_map<(t, n) -> (t, n)>
#column = affine_map<(t, n) -> (n)>
func.func @remember(%x: tensor<?x8xf32>, %past: index, %state: tensor<2x64x8xf32>)
    -> (tensor<8xf32>, tensor<2x64x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %a = tensor.insert_slice %x into %state[0, %past, 0] [1, %t, 8] [1, 1, 1]
      : tensor<?x8xf32> into tensor<2x64x8xf32>
  %b = tensor.insert_slice %x into %a[1, %past, 0] [1, %t, 8] [1, 1, 1]
      : tensor<?x8xf32> into tensor<2x64x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["reduction", "parallel"]}
      ins(%n : tensor<?x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.addf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %s, %b : tensor<8xf32>, tensor<2x64x8xf32>
}
