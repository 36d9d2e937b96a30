// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: gist-opt %s -gist-gpu-tile=target=sm_90 | FileCheck %s --check-prefixes=CHECK,NV
// RUN: gist-opt %s -gist-gpu-tile=target=gfx942 -gist-gpu=target=gfx942 \
// RUN:   "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA < %t.s
// RUN: gist-opt %s "-gist-gpu-tile=target=gfx942 gram=fp8" | FileCheck %s --check-prefix=FP8
// RUN: gist-opt %s "-gist-gpu-tile=target=gfx942 gram=fp8" -gist-gpu=target=gfx942 \
// RUN:   "-gist-write-gpu-code=assembly output=%t.fp8.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=FP8-ISA < %t.fp8.s
// RUN: not gist-opt %s "-gist-gpu-tile=target=sm_90 gram=fp8" 2>&1 | FileCheck %s --check-prefix=NO-FP8
// NO-FP8: error: gram=fp8 is for GPUs that multiply f8E4M3FNUZ; sm_90 does not

// A fixed number of workgroups draws tickets until all rounds are over.

// AMD:         #[[GRID:.*]] = affine_map<{{.*}} -> (304)>
// NV:          #[[GRID:.*]] = affine_map<{{.*}} -> (132)>
// CHECK:       func.func private @select
// CHECK-SAME:    gist.grid = [#[[GRID]],
// AMD-SAME:      instruction = mfma_32x32x8
// NV-SAME:       instruction = wgmma_64x128x16
// CHECK:         scf.while
// AMD:             llvm.atomicrmw add {{.*}} syncscope("agent") monotonic
// NV:              llvm.atomicrmw add {{.*}} syncscope("device") monotonic

// The loop over the row, one barrier for a step. On gfx942 the next step, loaded
// in the last one, is stored, the one after it is loaded, and this one is
// multiplied: a wave has 64 x 128 of the tile, 2 x 4 fragments, each of which is
// four instructions for 32 numbers of a row. On sm_90 copies do not pass through
// registers, two steps are in flight, and the products of one step run while
// the next one is prepared.
// AMD:             scf.for {{.*}}vector<16xf32>
// AMD-NEXT:          gpu.barrier
// AMD-COUNT-6:       vector.store {{.*}}#gpu.address_space<workgroup>>, vector<8xf16>
// AMD:               amdgpu.sched_barrier
// AMD-COUNT-6:       vector.load %arg0{{.*}} vector<8xf16>
// AMD:               amdgpu.sched_barrier
// AMD-COUNT-32:      amdgpu.mfma 32x32x8
// AMD-NOT:           amdgpu.mfma
// AMD-NOT:           gpu.barrier
// AMD:               scf.yield
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

// With gram=fp8 rows are multiplied by a power of two and rounded, for their norms
// and in flight into workgroup memory. As many instructions as before then
// multiply 64 numbers of a row.
// FP8:         func.func private @select
// FP8-SAME:      instruction = mfma_32x32x16, element = f8E4M3FNUZ
// FP8:           arith.truncf {{.*}} : vector<8xf32> to vector<8xf8E4M3FNUZ>
// FP8:           arith.extf {{.*}} : vector<8xf8E4M3FNUZ> to vector<8xf32>
// FP8:             scf.for {{.*}}vector<16xf32>
// FP8-NEXT:          gpu.barrier
// FP8:               arith.mulf
// FP8:               arith.truncf {{.*}} : vector<16xf32> to vector<16xf8E4M3FNUZ>
// FP8:               vector.store {{.*}}#gpu.address_space<workgroup>>, vector<16xf8E4M3FNUZ>
// FP8:               amdgpu.sched_barrier
// FP8-COUNT-6:       vector.load %arg0{{.*}} vector<16xf16>
// FP8-COUNT-32:      amdgpu.mfma 32x32x16 {{.*}} vector<8xf8E4M3FNUZ>
// FP8-NOT:           amdgpu.mfma
// FP8:               scf.yield

// FP8-ISA-LABEL: select:
// FP8-ISA-DAG:     v_cvt_pk_fp8_f32
// FP8-ISA-DAG:     v_cvt_pk_f32_fp8
// FP8-ISA-DAG:     v_mfma_f32_32x32x16_fp8_fp8
// FP8-ISA:         .private_segment_fixed_size: 0
// FP8-ISA:         .vgpr_spill_count: 0

// ISA-LABEL:   select:
// ISA:           global_atomic_umax_x2
// ISA:           .private_segment_fixed_size: 0
// ISA:           .vgpr_spill_count: 0
func.func private @select(%x: tensor<?x256xf16>,
    %ids: tensor<?xi32>, %count: tensor<i32>, %nearest: tensor<?xi32>, %weight: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 4>} {
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x256xf16>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %c, %n, %w : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
}
