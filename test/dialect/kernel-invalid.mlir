// RUN: gist-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'func.func' op expects gist.kernel to be #gist.kernel<…>, got unit}}
func.func private @untyped(tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel}

// -----

// expected-error @+1 {{'builtin.module' op has gist.kernel, which is an attribute of functions}}
module attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {}

// -----

// expected-error @+1 {{'func.func' op says that 2 arguments are outputs, but has 1 arguments}}
func.func private @outputs(tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>}

// -----

// expected-error @+1 {{'func.func' op expects its results to have the types of its last 1 arguments, as gist.kernel says}}
func.func private @types(tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// expected-error @+1 {{'func.func' op expects its results to have the types of its last 1 arguments, as gist.kernel says}}
func.func private @no_results(tensor<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// On buffers, results are in destinations and nowhere else.
func.func private @buffers(memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>}

// -----

// expected-error @+1 {{expects outputs of at least 0, got -1}}
func.func private @negative(tensor<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = -1>}

// -----

// expected-error @+1 {{expects scratch of 0 to 1, the number of outputs, got 2}}
func.func private @scratch(tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1, scratch = 2>}

// -----

// A kernel writes to words of control.
// expected-error @+1 {{'func.func' op has gist.control on argument 0; expects it on memory to work in, which is the last 1 arguments, as gist.kernel says}}
func.func private @control(tensor<4xi32> {gist.control}, tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2, scratch = 1>}

// -----

// expected-error @+2 {{expected one of [rows, matmul, quantized_matmul, guarded_matmul, expert_matmul, quantized_expert_matmul, attention, attend, cluster_attention, cluster_update, select, gated_projection, gated_products, sample] for what a kernel computes, got: column}}
// expected-error @+1 {{failed to parse}}
func.func private @kind(tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = column, outputs = 1>}

// -----

// expected-error @+1 {{unknown attribute `kernels` in dialect `gist`}}
func.func private @name(tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernels<kind = rows, outputs = 1>}
