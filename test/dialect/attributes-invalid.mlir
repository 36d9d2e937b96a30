// Attributes that passes add: one of the right name and the wrong type, or in
// the wrong place, is refused wherever it comes from.
// RUN: gist-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has the attribute 'gist.kernal', which the gist dialect does not have}}
func.func private @unknown() attributes {gist.kernal}

// -----

// expected-error @+1 {{has the attribute 'gist.unknown', which the gist dialect does not have}}
func.func private @unknown_argument(tensor<4xf32> {gist.unknown})

// -----

// expected-error @+1 {{has the attribute 'gist.tile', which holds a tile of a CPU or a GPU, such as #gist.cpu_rows, got 4 : i64}}
func.func private @tile() attributes {gist.tile = 4 : i64}

// -----

// expected-error @+1 {{has the attribute 'gist.grid', which holds an array of up to three maps, each of symbols to one size, got ["x"]}}
func.func private @grid_type() attributes {gist.grid = ["x"]}

// -----

// expected-error @+1 {{has the attribute 'gist.grid', which holds an array of up to three maps}}
func.func private @grid_four() attributes {gist.grid = [affine_map<() -> (1)>, affine_map<() -> (1)>, affine_map<() -> (1)>, affine_map<() -> (1)>]}

// -----

// expected-error @+1 {{has the attribute 'gist.grid', which holds an array of up to three maps, each of symbols to one size}}
func.func private @grid_dims() attributes {gist.grid = [affine_map<(d0) -> (d0)>]}

// -----

// expected-error @+1 {{has the attribute 'gist.grid', which holds an array of up to three maps, each of symbols to one size}}
func.func private @grid_two_results() attributes {gist.grid = [affine_map<()[s0] -> (s0, s0)>]}

// -----

// expected-error @+1 {{has the attribute 'gist.workgroup', which holds array<i64: n> with one positive number of threads, got array<i64: 64, 2>}}
func.func private @workgroup() attributes {gist.workgroup = array<i64: 64, 2>}

// -----

// expected-error @+1 {{has the attribute 'gist.shared_memory', which holds an i64 that is not negative, got -1 : i64}}
func.func private @shared_memory() attributes {gist.shared_memory = -1 : i64}

// -----

// expected-error @+1 {{has the attribute 'gist.prefetch', which holds an i64 that is not negative, got -1 : i64}}
func.func private @prefetch() attributes {gist.prefetch = -1 : i64}

// -----

// expected-error @+1 {{has the attribute 'gist.waves_per_simd', which holds an i64 that is not negative, got "two"}}
func.func private @waves() attributes {gist.waves_per_simd = "two"}

// -----

// expected-error @+1 {{has the attribute 'gist.arena_size', which holds a map of three symbols to one size}}
func.func private @arena_size() attributes {gist.arena_size = affine_map<()[s0] -> (s0)>}

// -----

// expected-error @+1 {{has the attribute 'gist.control', which holds nothing (a unit attribute), got true}}
func.func private @control(tensor<4xi32> {gist.control = true})

// -----

// expected-error @+1 {{has the attribute 'gist.control', which belongs on an argument of a function}}
func.func private @control_on_function() attributes {gist.control}

// -----

// expected-error @+1 {{has the attribute 'gist.name', which holds a string that is not empty, got 3 : i64}}
func.func private @argument_name(tensor<4xf32> {gist.name = 3 : i64})

// -----

// expected-error @+1 {{has the attribute 'gist.name', which holds a string that is not empty, got ""}}
func.func private @result_name() -> (tensor<4xf32> {gist.name = ""})

// -----

// expected-error @+1 {{has the attribute 'gist.zero_on_reset', which belongs on an argument of a function}}
func.func private @reset_of_result() -> (tensor<4xf32> {gist.zero_on_reset})

// -----

// expected-error @+1 {{has the attribute 'gist.statistic', which holds nothing (a unit attribute), got "gates"}}
func.func private @statistic(tensor<4xi32> {gist.statistic = "gates"})

// -----

// expected-error @+1 {{has the attribute 'gist.observed', which holds #gist.observed, got "0.qkv:a+b"}}
func.func private @observed() -> (tensor<4xf32> {gist.observed = "0.qkv:a+b"})

// -----

// expected-error @+1 {{has the attribute 'gist.observed', which belongs on a result of a function}}
func.func private @observed_argument(tensor<4xf32> {gist.observed = #gist.observed<keys, layer = 0>})

// -----

// expected-error @+1 {{expects a layer, or -1 for the head, got -2}}
func.func private @observed_layer() -> (tensor<4xf32> {gist.observed = #gist.observed<keys, layer = -2>})

// -----

// expected-error @+1 {{expects a group and weights for linear layers, and neither for anything else}}
func.func private @observed_group() -> (tensor<4xf32> {gist.observed = #gist.observed<input, layer = 0>})

// -----

// expected-error @+1 {{expects one weight for a product, got 2}}
func.func private @observed_product() -> (tensor<4xf32> {gist.observed = #gist.observed<product, layer = 0, group = "o", weights = ["a", "b"]>})

// -----

func.func @packing() {
  // expected-error @+1 {{has the attribute 'gist.packing', which holds #gist.packing, got "8x8"}}
  %w = gist.weight "w" {gist.packing = "8x8"} : tensor<4xf32>
  return
}

// -----

func.func @format() {
  // expected-error @+1 {{has the attribute 'gist.format', which holds #gist.block_format, got "q4_1"}}
  %w = gist.weight "w" {gist.format = "q4_1"} : tensor<4xf32>
  return
}

// -----

func.func @parts() {
  // expected-error @+1 {{has the attribute 'gist.parts', which holds an array of names, got [1]}}
  %w = gist.weight "w" {gist.parts = [1]} : tensor<4xf32>
  return
}

// -----

func.func @parts_of_nothing() {
  // expected-error @+1 {{has the attribute 'gist.parts', which holds an array of names, got []}}
  %w = gist.weight "w" {gist.parts = []} : tensor<4xf32>
  return
}

// -----

func.func @parts_on_another_op() {
  // expected-error @+1 {{has the attribute 'gist.parts', which belongs on gist.weight}}
  %e = tensor.empty() {gist.parts = ["a"]} : tensor<4xf32>
  return
}

// -----

func.func @layer(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{has the attribute 'gist.layer', which holds an i64 that is not negative, got "0"}}
  %s = gist.gram_select %x, 3.0e-1 {gist.layer = "0"} : tensor<8x4xf32>
  return
}

// -----

func.func @weight_layer() {
  // expected-error @+1 {{'gist.weight' op expects a layer that is not negative, got -1}}
  %w = gist.weight "w" layer -1 : tensor<4xf32>
  return
}

// -----

func.func @load_arguments(%c: i1) {
  // expected-error @+1 {{has the attribute 'gist.load_arguments', which holds nothing (a unit attribute), got 1 : i64}}
  cf.cond_br %c, ^a, ^a {gist.load_arguments = 1 : i64}
^a:
  return
}
