// IREE 3.13.0: two mutable globals of one size that begin with the same bytes
// share one memory.
//
//   iree-compile iree-equal-globals.mlir -o equal.vmfb --iree-hal-target-device=local
//       --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic
//
// In one session, write([1, 2], [3, 4]) and then read(). Expected: [1, 2, 0, 0]
// and [3, 4, 0, 0]. Found: [3, 4, 0, 0] twice. With another initial value of
// @b the result is right.
//
// After --compile-to=stream there is one allocation: the two initial values are
// made equal, and then @b is said to hold always what @a holds.

util.global private mutable @a = dense<0.0> : tensor<4xf32>
util.global private mutable @b = dense<0.0> : tensor<4xf32>

func.func @write(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  %a = util.global.load @a : tensor<4xf32>
  %b = util.global.load @b : tensor<4xf32>
  %a2 = tensor.insert_slice %x into %a[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b2 = tensor.insert_slice %y into %b[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  util.global.store %a2, @a : tensor<4xf32>
  util.global.store %b2, @b : tensor<4xf32>
  return
}

func.func @read() -> (tensor<4xf32>, tensor<4xf32>) {
  %a = util.global.load @a : tensor<4xf32>
  %b = util.global.load @b : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
