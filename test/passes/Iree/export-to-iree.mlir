// RUN: gist-opt %s -split-input-file -allow-unregistered-dialect \
// RUN:   -gist-export-to-iree=object=kernels.o | FileCheck %s
// RUN: echo "module {}" | not gist-opt -gist-export-to-iree=object=k.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REGISTERED
// REGISTERED: ops of IREE are not registered: allow unregistered dialects

// A weight that both functions read is one parameter, the cache is one global,
// and numbers have 64 bits. The two caches do not begin alike.
// CHECK:       "util.global"() {initial_value = #stream.parameter.named<"model"::"blk.0.w"> : tensor<8x8xf32>,
// CHECK-SAME:    sym_name = "blk.0.w", sym_visibility = "private", type = tensor<8x8xf32>}
// CHECK:       "util.global"() {initial_value = dense<1.000000e+00> : tensor<16x8xf32>, is_mutable, sym_name = "k_cache"
// CHECK:       "util.global"() {initial_value = dense<2.000000e+00> : tensor<16x8xf32>, is_mutable, sym_name = "v_cache"
// CHECK-NOT:   "util.global"()
// CHECK-LABEL: func.func @prefill(
// CHECK-SAME:    %[[X:.+]]: tensor<?x8xf32>, %[[PAST:.+]]: i64) -> tensor<8x8xf32> {
// CHECK-DAG:     %[[P:.+]] = arith.index_cast %[[PAST]] : i64 to index
// CHECK-DAG:     %[[K:.+]] = "util.global.load"() {global = @k_cache} : () -> tensor<16x8xf32>
// CHECK-DAG:     %[[V:.+]] = "util.global.load"() {global = @v_cache} : () -> tensor<16x8xf32>
// CHECK:         %[[K2:.+]] = tensor.insert_slice %[[X]] into %[[K]][%[[P]], 0]
// CHECK:         %[[V2:.+]] = tensor.insert_slice %[[X]] into %[[V]][%[[P]], 0]
// CHECK:         %[[W:.+]] = "util.global.load"() {global = @blk.0.w} : () -> tensor<8x8xf32>
// CHECK:         "util.global.store"(%[[K2]]) {global = @k_cache}
// CHECK:         "util.global.store"(%[[V2]]) {global = @v_cache}
// CHECK:         return %[[W]] : tensor<8x8xf32>
func.func @prefill(%x: tensor<?x8xf32> {gist.name = "x"}, %past: index {gist.name = "past"},
                   %k: tensor<16x8xf32> {gist.name = "k_cache"},
                   %v: tensor<16x8xf32> {gist.name = "v_cache"})
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x8xf32> {gist.name = "w"}) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %k2 = tensor.insert_slice %x into %k[%past, 0] [%t, 8] [1, 1] : tensor<?x8xf32> into tensor<16x8xf32>
  %v2 = tensor.insert_slice %x into %v[%past, 0] [%t, 8] [1, 1] : tensor<?x8xf32> into tensor<16x8xf32>
  %w = gist.weight "blk.0.w" layer 0 : tensor<8x8xf32>
  return %k2, %v2, %w : tensor<16x8xf32>, tensor<16x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @decode() -> tensor<8x8xf32>
// CHECK:         "util.global.load"() {global = @k_cache}
// CHECK:         "util.global.load"() {global = @blk.0.w}
func.func @decode(%k: tensor<16x8xf32> {gist.name = "k_cache"})
    -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %w = gist.weight "blk.0.w" layer 0 : tensor<8x8xf32>
  return %k, %w : tensor<16x8xf32>, tensor<8x8xf32>
}

// -----

// State that a session begins without is cleared by a function of its own, and
// begins with zeros. The other of its size does not.
// CHECK-DAG:   initial_value = dense<0> : tensor<4xi32>, is_mutable, sym_name = "counts"
// CHECK-DAG:   initial_value = dense<1> : tensor<4xi32>, is_mutable, sym_name = "others"
// CHECK-LABEL: func.func @step()
// CHECK-LABEL: func.func @reset() {
// CHECK:         %[[ZEROS:.+]] = arith.constant dense<0> : tensor<4xi32>
// CHECK:         "util.global.store"(%[[ZEROS]]) {global = @counts}
// CHECK-NOT:     global.store
// CHECK:         return
func.func @step(%a: tensor<4xi32> {gist.name = "counts", gist.zero_on_reset},
                %b: tensor<4xi32> {gist.name = "others"})
    -> (tensor<4xi32>, tensor<4xi32>) {
  return %a, %b : tensor<4xi32>, tensor<4xi32>
}

// -----

// Kernels with a grid are called in the file of code. A destination that is
// empty is memory that IREE gives (binding 2, the last), a destination with
// content is written in place (binding 1).
// CHECK:       "stream.executable"() ({
// CHECK:         "stream.executable.export"() ({
// CHECK:         ^bb0(%[[N:.+]]: index):
// CHECK:           %[[X:.+]] = affine.apply #{{.*}}()[{{.*}}%[[N]]
// CHECK:           "stream.return"(%[[X]], %{{.*}}, %{{.*}}) : (index, index, index) -> ()
// CHECK:         }) {function_ref = @both_0, sym_name = "both_0", sym_visibility = "public"}
// CHECK:         module {
// Slots: an input, a number, a tensor that is updated, a new one, its dynamic size and that of
// the input; then the workgroup.
// CHECK:           func.func private @both(memref<i8>, i64, memref<i8>, memref<i8>, i64, i64, i64, i64, i64)
// CHECK-SAME:        hal.import.static, llvm.bareptr = true
// CHECK:           func.func @both_0(%[[B0:.+]]: !stream.binding, %[[B1:.+]]: !stream.binding, %[[B2:.+]]: !stream.binding, %[[I0:.+]]: index, %[[I1:.+]]: index, %[[I2:.+]]: index)
// CHECK:             %[[M0:.+]] = "stream.binding.subspan"(%[[B0]],
// CHECK:             %[[N0:.+]] = arith.index_cast %[[I0]] : index to i64
// CHECK:             %[[M2:.+]] = "stream.binding.subspan"(%[[B2]],
// CHECK:             %[[M1:.+]] = "stream.binding.subspan"(%[[B1]],
// CHECK:             %[[N1:.+]] = arith.index_cast %[[I1]] : index to i64
// CHECK:             %[[N2:.+]] = arith.index_cast %[[I2]] : index to i64
// CHECK-COUNT-3:     "stream.dispatch.workgroup.id"()
// CHECK:             call @both(%[[M0]], %[[N0]], %[[M2]], %[[M1]], %[[N1]], %[[N2]],
// CHECK:         "stream.executable.end"()
// CHECK:       hal.executable.objects = #hal.executable.objects<{#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64"> = [#hal.executable.object<{path = "kernels.o"}>]}>
// CHECK-SAME:  sym_name = "gist_kernels"
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[T:.+]]: tensor<?x8xf32>, %[[ID:.+]]: i64)
// CHECK-DAG:     %[[NUM:.+]] = arith.index_cast %[[ID]]
// CHECK-DAG:     %[[STATE:.+]] = "util.global.load"() {global = @state}
// CHECK:         %[[R:.+]]:2 = "flow.dispatch"(%[[SIZE:[^,]+]], %[[T]], %[[STATE]], %[[NUM]],
// CHECK-SAME:      entry_points = [@gist_kernels::@both_0]
// One number for the grid; two tensors and three numbers; a size of the input; a size of the
// new output.
// CHECK-SAME:      operandSegmentSizes = array<i32: 1, 5, 1, 1>
// CHECK-SAME:      tied_operands = [-1 : index, 1 : index]
// CHECK:         "util.global.store"(%[[R]]#1) {global = @state}
// CHECK-NOT:   func.func private @both
module attributes {gist.target = #gist.cpu_target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "">} {
func.func @model(%x: tensor<?x8xf32>, %layer: index, %s: tensor<4xf32> {gist.name = "state"})
    -> (tensor<?x8xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y:2 = gist.dispatch @both(%x, %layer : tensor<?x8xf32>, index)
      outs(%e, %s : tensor<?x8xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<?x8xf32>, tensor<4xf32>
}
func.func private @both(%x: tensor<?x8xf32>, %layer: index, %d: tensor<?x8xf32>, %s: tensor<4xf32>)
    -> (tensor<?x8xf32>, tensor<4xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 2>,
                gist.grid = [affine_map<()[s0, s1, s2] -> (s1 ceildiv 4)>]} {
  %0 = linalg.exp ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0, %s : tensor<?x8xf32>, tensor<4xf32>
}
}

// -----

// Halves that are put in the place of both halves begin from an empty tensor.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME:    %[[X:.+]]: tensor<?x24xf32>, %[[A:.+]]: tensor<?x3x4xf32>, %[[N:.+]]: i64)
// CHECK:         %[[T:.+]] = arith.index_cast %[[N]]
// CHECK:         %[[E:.+]] = tensor.empty(%[[T]]) : tensor<?x3x8xf32>
// CHECK:         %[[FIRST:.+]] = tensor.insert_slice %[[A]] into %[[E]][0, 0, 0]
// CHECK:         tensor.insert_slice %[[A]] into %[[FIRST]][0, 0, 4]
func.func @halves(%x: tensor<?x24xf32>, %a: tensor<?x3x4xf32>, %t: index) -> tensor<1xf32> {
  %h = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 3, 8] : tensor<?x24xf32> into tensor<?x3x8xf32>
  %0 = tensor.insert_slice %a into %h[0, 0, 0] [%t, 3, 4] [1, 1, 1] : tensor<?x3x4xf32> into tensor<?x3x8xf32>
  %1 = tensor.insert_slice %a into %0[0, 0, 4] [%t, 3, 4] [1, 1, 1] : tensor<?x3x4xf32> into tensor<?x3x8xf32>
  %2 = "test.use"(%1) : (tensor<?x3x8xf32>) -> tensor<1xf32>
  return %2 : tensor<1xf32>
}

// The rows may be some of the tensor's.
// CHECK-LABEL: func.func @some_rows(
// CHECK-NOT:     tensor.empty
// CHECK:         "test.use"
func.func @some_rows(%x: tensor<?x8xf32>, %a: tensor<?x4xf32>, %t: index) -> tensor<1xf32> {
  %0 = tensor.insert_slice %a into %x[0, 0] [%t, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %1 = tensor.insert_slice %a into %0[0, 4] [%t, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %2 = "test.use"(%1) : (tensor<?x8xf32>) -> tensor<1xf32>
  return %2 : tensor<1xf32>
}

// What leaves a column of the tensor does not begin anew.
// CHECK-LABEL: func.func @quarter(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<5x8xf32>
// CHECK-NOT:     tensor.empty
// CHECK:         tensor.insert_slice %{{.*}} into %[[X]]
func.func @quarter(%x: tensor<5x8xf32>, %a: tensor<5x4xf32>, %b: tensor<5x2xf32>) -> tensor<1xf32> {
  %0 = tensor.insert_slice %a into %x[0, 0] [5, 4] [1, 1] : tensor<5x4xf32> into tensor<5x8xf32>
  %1 = tensor.insert_slice %b into %0[0, 4] [5, 2] [1, 1] : tensor<5x2xf32> into tensor<5x8xf32>
  %2 = "test.use"(%1) : (tensor<5x8xf32>) -> tensor<1xf32>
  return %2 : tensor<1xf32>
}
