// IREE 3.13.0: a tensor is updated in place while slices of it are still read.
//
//   iree-compile iree-slices-in-place.mlir -o slices.vmfb --iree-hal-target-device=local
//       --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic
//   iree-run-module --module=slices.vmfb --function=f --input=1x8xf32=1,2,3,4,10,20,30,40
//
// With h = 2 x, and a and b its halves, f gives a - b and then a + b. Expected:
// -18 -36 -54 -72 22 44 66 88. Found: -18 -36 -54 -72 2 4 6 8, which is
// (a - b) + b. The slices are contiguous, so they are views of h, and the first
// half of h has been overwritten when a is read for the second time.

func.func @f(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %e = tensor.empty() : tensor<1x8xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
  %i = arith.constant dense<[[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]]> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %i : tensor<1x8xf32>, tensor<8x8xf32>) outs(%f : tensor<1x8xf32>) -> tensor<1x8xf32>
  %a = tensor.extract_slice %h[0, 0] [1, 4] [1, 1] : tensor<1x8xf32> to tensor<1x4xf32>
  %b = tensor.extract_slice %h[0, 4] [1, 4] [1, 1] : tensor<1x8xf32> to tensor<1x4xf32>
  %d = arith.subf %a, %b : tensor<1x4xf32>
  %s = arith.addf %a, %b : tensor<1x4xf32>
  %g = tensor.insert_slice %d into %h[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<1x8xf32>
  %r = tensor.insert_slice %s into %g[0, 4] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}
