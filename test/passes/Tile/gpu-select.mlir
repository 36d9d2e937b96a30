// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefixes=CHECK,NV
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 \
// RUN:   "-gist-write-gpu-code=target=gfx942 assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA < %t.s

// A fixed number of workgroups draws tickets until all rounds are over.

// AMD:         #[[GRID:.*]] = affine_map<{{.*}} -> (608)>
// NV:          #[[GRID:.*]] = affine_map<{{.*}} -> (132)>
// CHECK:       func.func private @select
// CHECK-SAME:    gist.grid = [#[[GRID]],
// AMD-SAME:      instruction = mfma_32x32x8
// NV-SAME:       instruction = wgmma_64x128x16
// CHECK:         scf.while
// AMD:             llvm.atomicrmw add {{.*}} syncscope("agent") monotonic
// NV:              llvm.atomicrmw add {{.*}} syncscope("device") monotonic

// The loop over the row: the next step is loaded before this one is multiplied,
// and stored after it, one barrier for a step. On sm_90 copies do not pass
// through registers, two steps are on their way, and the products of one step
// run while the next one is prepared.
// AMD:             scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// AMD:               vector.load %arg0
// AMD:               amdgpu.mfma
// AMD-NOT:           gpu.barrier
// AMD:               vector.store {{.*}}#gpu.address_space<workgroup>
// AMD:               gpu.barrier
// AMD-NEXT:          scf.yield
// NV:              scf.for
// NV:                nvvm.cp.async.wait.group 1
// NV:                gpu.barrier
// NV:                nvgpu.device_async_copy %arg0
// NV:                nvvm.wgmma.mma_async
// NV-NOT:            gpu.barrier
// NV:                nvvm.wgmma.wait.group.sync.aligned 1
// NV-NEXT:           scf.yield

// Nothing of the products is written but the best of a row.
// CHECK:           llvm.atomicrmw umax {{.*}} i64

// ISA-LABEL:   select:
// ISA:           global_atomic_umax_x2
// ISA:           .private_segment_fixed_size: 0
// ISA:           .vgpr_spill_count: 0
func.func private @select(%x: tensor<?x256xf16>, %control: tensor<320xi32> {gist.control},
    %ids: tensor<?xi32>, %count: tensor<i32>, %nearest: tensor<?xi32>, %weight: tensor<?xi32>,
    %scratch: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
    attributes {gist.kernel, gist.outputs = 5} {
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x256xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w, %scratch
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}
