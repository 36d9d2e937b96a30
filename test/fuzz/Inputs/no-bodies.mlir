func.func private @k(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}
func.func private @product(tensor<?x8xf32>, tensor<4x8xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    attributes {gist.kernel = #gist.kernel<kind = matmul, outputs = 1>, gist.workgroup = array<i64: 64>}
func.func private @attention(memref<?x4x64xf16>, memref<?x2x64xf16>, memref<?x2x64xf16>, memref<?x4x64xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>, gist.workgroup = array<i64: 64>}
func.func private @entry(tensor<4xi32>) -> (tensor<4x8xf32> {gist.name = "logits"})
