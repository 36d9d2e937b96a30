// What every stage promises, and an op that breaks it. Graphs that keep the
// promise pass: all stages end with this check, so every other test of a stage
// says that.

// RUN: split-file %s %t
// RUN: gist-opt %t/import.mlir -gist-check-stage=stage=import -split-input-file -verify-diagnostics
// RUN: gist-opt %t/graph.mlir -gist-check-stage=stage=graph -split-input-file -verify-diagnostics
// RUN: gist-opt %t/kernels.mlir -gist-check-stage=stage=kernels -split-input-file -verify-diagnostics
// RUN: gist-opt %t/memory.mlir -gist-check-stage=stage=memory -split-input-file -verify-diagnostics
// RUN: gist-opt %t/tiles.mlir -gist-check-stage=stage=tiles -split-input-file -verify-diagnostics
// RUN: gist-opt %t/gpu-tiles.mlir -gist-check-stage=stage=gpu-tiles -split-input-file -verify-diagnostics
// RUN: gist-opt %t/cpu.mlir -gist-check-stage=stage=cpu -split-input-file -verify-diagnostics
// RUN: gist-opt %t/gpu.mlir -gist-check-stage=stage=gpu -split-input-file -verify-diagnostics

// The stages run it: what they promise is checked without asking for it.
// RUN: not gist-opt %t/names.mlir -gist-graph 2>&1 | FileCheck %s --check-prefix=GRAPH
// GRAPH: error: has two arguments with the name "x"; a graph promises different names
// RUN: not gist-opt %t/left.mlir -gist-memory 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: error: 'math.exp' op is left in a host function

// RUN: not gist-opt %t/names.mlir -gist-check-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: there is no stage 'tile'; stages are import graph kernels memory tiles gpu-tiles cpu gpu

//--- names.mlir
func.func @f(%x: tensor<4xf32> {gist.name = "x"}, %y: tensor<4xf32> {gist.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- left.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- import.mlir
// expected-error @+1 {{has two arguments with the name "x"; a graph promises different names}}
func.func @arguments(%x: tensor<4xf32> {gist.name = "x"}, %y: tensor<4xf32> {gist.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has two results with the name "y"; a graph promises different names}}
func.func @results(%x: tensor<4xf32> {gist.name = "y"})
    -> (tensor<4xf32> {gist.name = "y"}, tensor<4xf32> {gist.name = "y"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{expects straight-line code, got 2 blocks; a graph promises one block for each function}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @buffer(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{works on a buffer; a graph promises only tensors}}
  %b = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @arena(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'gist.arena' op is in a graph, which promises that nothing is cut into kernels yet}}
  %a = gist.arena() at affine_map<()[s0, s1, s2] -> (0)> : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Nothing is wrong here: an input and an output may have one name, and an index
// is not a tensor.
func.func @fine(%x: tensor<?xf32> {gist.name = "x"}, %i: index) -> (tensor<?xf32> {gist.name = "x"}) {
  return %x : tensor<?xf32>
}

//--- graph.mlir
#packing = #gist.packing<columns = 4, depth = 8, bits = 4, group = 32, scale_bits = 16, zero = 0, is_signed = false, has_min = true>
func.func @packing(%x: tensor<?x32xi8>, %s: tensor<?x1xf32>) -> tensor<?x4xf32> {
  %w = gist.weight "w" {gist.format = #gist<block_format q4_1>, gist.packing = #packing} : tensor<4x1x20xi8>
  // expected-error @+1 {{reads the weight "w" as stored in the model, and it is #gist.packing<}}
  %y = gist.quantized_matmul %x, %s, %w format q4_1 : tensor<?x32xi8>, tensor<?x1xf32>, tensor<4x1x20xi8> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

//--- kernels.mlir
func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'math.exp' op is left in a host function; the stage 'kernels' promises that kernels compute everything on tensors}}
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = gist.dispatch @public(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %y : tensor<4xf32>
}
// expected-error @+1 {{is a kernel that is not private}}
func.func @public(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{is a kernel that nothing calls; the stage 'kernels' promises a call for each}}
func.func private @unused(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = gist.dispatch @a(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %z = gist.dispatch @b(%y : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %z : tensor<4xf32>
}
func.func private @a(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// expected-error @+1 {{is the same kernel as @a; the stage 'kernels' promises that equal kernels are kept once}}
func.func private @b(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has 2 blocks; the stage 'kernels' promises one list of calls}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

//--- memory.mlir
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{writes a 'tensor<4xf32>' that has no place in memory; the stage 'memory' promises one for everything that is not returned}}
  %y = gist.dispatch @a(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %f = tensor.empty() : tensor<4xf32>
  %z = gist.dispatch @a(%y : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %z : tensor<4xf32>
}
func.func private @a(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has tensors in the arena but no attribute 'gist.arena_size'}}
func.func @size(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = gist.arena() at affine_map<()[s0, s1, s2] -> (0)> : tensor<4xf32>
  %y = gist.dispatch @a(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %f = tensor.empty() : tensor<4xf32>
  %z = gist.dispatch @a(%y : tensor<4xf32>) outs(%f : tensor<4xf32>)
  return %z : tensor<4xf32>
}
func.func private @a(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>} {
  %y = linalg.copy ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- tiles.mlir
// expected-error @+1 {{is a kernel with results; the stage 'tiles' promises that kernels write to buffers}}
func.func @results(%x: memref<4xf32>) -> memref<4xf32> attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.grid = []} {
  return %x : memref<4xf32>
}

// -----

// expected-error @+1 {{has an argument of type 'tensor<4xf32>'; the stage 'tiles' promises kernels that use only buffers}}
func.func @argument(%x: tensor<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = []} {
  return
}

// -----

// expected-error @+1 {{is a kernel without 'gist.grid', which the stage 'tiles' promises}}
func.func @grid(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
  return
}

// -----

func.func @tensor(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = []} {
  // expected-error @+1 {{works on 'tensor<4xf32>'; the stage 'tiles' promises kernels that use only buffers}}
  %y = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @alloc(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = []} {
  // expected-error @+1 {{'memref.alloc' op is in a kernel; the stage 'tiles' promises that kernels allocate nothing}}
  %y = memref.alloc() : memref<4xf32>
  return
}

//--- gpu-tiles.mlir
// expected-error @+1 {{is a kernel without 'gist.grid', which the stage 'gpu-tiles' promises}}
func.func @grid(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.workgroup = array<i64: 64>} {
  return
}

// -----

// expected-error @+1 {{is a kernel without 'gist.workgroup', which the stage 'gpu-tiles' promises}}
func.func @workgroup(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = []} {
  return
}

// -----

func.func @loop(%x: memref<4xf32>) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [], gist.workgroup = array<i64: 64>} {
  // expected-error @+1 {{'scf.forall' op is in a kernel; the stage 'gpu-tiles' promises the code of one thread}}
  scf.forall (%i) in (4) {
  }
  return
}

//--- cpu.mlir
// expected-error @+1 {{'func.func' op is left; the stage 'cpu' promises the dialects llvm, arm_neon}}
func.func private @left()

// -----

// expected-error @+1 {{is a kernel of type '!llvm.func<void (ptr)>'; the stage 'cpu' promises the type that the runtime calls}}
llvm.func @type(%slots: !llvm.ptr) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
  llvm.return
}

//--- gpu.mlir
gpu.module @device {
  llvm.func @left(%x: !llvm.ptr) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
    // expected-error @+1 {{'gpu.barrier' op is left; the stage 'gpu' promises the dialects llvm, rocdl, nvvm}}
    gpu.barrier
    llvm.return
  }
}

// -----

gpu.module @device {
  // expected-error @+1 {{is a kernel with an argument of type 'i64'; the stage 'gpu' promises kernels that take only addresses}}
  llvm.func @type(%x: i64) attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>} {
    llvm.return
  }
}
