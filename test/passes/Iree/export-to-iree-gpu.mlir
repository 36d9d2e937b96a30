// RUN: gist-opt %s -allow-unregistered-dialect \
// RUN:   -gist-export-to-iree=object=kernels.hsaco | FileCheck %s

// On a GPU every slot is a buffer, in the order of the slots: the input, a word
// with the number, the destination, and words with the sizes of both tensors.
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[T:.+]]: tensor<?x8xf32>, %[[ID:.+]]: i64)
// CHECK:         %[[NUM:.+]] = "flow.tensor.splat"(%{{.*}}) : (i32) -> tensor<1xi32>
// CHECK:         %[[D:.+]] = "flow.tensor.alloca"(%{{.*}}) : (index) -> tensor<?x8xf32>
// CHECK:         %[[S0:.+]] = "flow.tensor.splat"
// CHECK:         %[[S1:.+]] = "flow.tensor.splat"
// CHECK:         %[[R:.+]] = "hal.dispatch.extern"(%{{[^,]+}}, %[[T]], %[[NUM]], %[[D]], %[[S0]], %[[S1]],
// CHECK:         ^bb0(%{{.*}}: !hal.device, %[[N:.+]]: index):
// CHECK:           affine.apply
// CHECK:           "hal.return"
// CHECK:         export_name = "double"
// CHECK-SAME:    layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>]>
// CHECK-SAME:    operandSegmentSizes = array<i32: 1, 5, 2, 1>
// CHECK-SAME:    target_objects = {{\[\[}}#hal.executable.object<{path = "kernels.hsaco"}>]]
// CHECK-SAME:    targets = [#hal.executable.target<"rocm", "rocm-hsaco-fb">]
// CHECK-SAME:    tied_operands = [2 : index]
// CHECK-SAME:    workgroup_local_memory = 512 : index
// CHECK-SAME:    workgroup_size = [256 : index, 1 : index, 1 : index]
// CHECK:         return %[[R]]
module attributes {gist.target = #gist.gpu_target<"gfx942", gram = exact>} {
func.func @model(%x: tensor<?x8xf32>, %layer: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = gist.dispatch @double(%x, %layer : tensor<?x8xf32>, index) outs(%e : tensor<?x8xf32>)
  return %y : tensor<?x8xf32>
}
func.func private @double(%x: tensor<?x8xf32>, %layer: index, %d: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 1>, gist.workgroup = array<i64: 256>,
                gist.shared_memory = 512 : i64,
                gist.grid = [affine_map<()[s0, s1, s2] -> (s1 ceildiv 4)>]} {
  %0 = linalg.exp ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
}
