// On sm_90 a workgroup has its tiles one after the other. The ids of the next
// tile's tokens are loaded before the loop over the rows, and its first two steps
// are copied before the sums of this one are reduced, so that nothing is waited
// for between two tiles.
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s

// CHECK-LABEL: func.func private @cascade
// The first tile of an item begins on its own, eight copies a thread and step.
// CHECK-COUNT-16: nvgpu.device_async_copy %arg0
// CHECK:          nvvm.cp.async.wait.group 1
// CHECK-COUNT-8:  nvgpu.device_async_copy %arg0
// CHECK-COUNT-4:  nvvm.wgmma.mma_async
// CHECK:          nvvm.wgmma.wait.group.sync.aligned 1
// CHECK-NEXT:     scf.yield
// Every warp has read its last step.
// CHECK:          gpu.barrier
// CHECK-NOT:      llvm.atomicrmw umax
// CHECK:          scf.if
// CHECK-COUNT-16: nvgpu.device_async_copy %arg0
// CHECK-NOT:      nvgpu.device_async_copy
// CHECK:          llvm.atomicrmw umax
// CHECK-NOT:      nvgpu.device_async_copy

!part = tensor<?xi32>
!count = tensor<i32>
func.func private @cascade(%x: tensor<?x256xf16>, %oi: !part, %oc: !count, %on: !part, %ow: !part,
    %ids: !part, %count: !count, %nearest: !part, %weight: !part)
    -> (!part, !count, !part, !part)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 4>} {
  %p = gist.pack_selection %oi, %oc, %on, %ow : !part, !count, !part, !part
  %s, %r, %a = gist.cascade_update %x, %p, 3.0e-1 rule covering causal
      : tensor<?x256xf16>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w : !part, !count, !part, !part
}
