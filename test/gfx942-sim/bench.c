// Kernels that measure the simulator: ordinary code, and matrix code fed from
// LDS. Run by test_speed.py.
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

static void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// One step of a stencil per iteration, through LDS.
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(256, 256))) void
ordinary(GLOBAL const float *in, GLOBAL float *out, int steps) {
  static __attribute__((loader_uninitialized)) LDS float tile[256];
  int id = __builtin_amdgcn_workitem_id_x();
  int at = __builtin_amdgcn_workgroup_id_x() * 256 + id;
  float value = in[at];
  for (int i = 0; i < steps; ++i) {
    tile[id] = value;
    barrier();
    float left = tile[(id + 255) & 255], right = tile[(id + 1) & 255];
    barrier();
    for (int j = 0; j < 8; ++j)
      value = value * 0.75f + left * 0.125f + (j & 1 ? right : -right) * 0.125f;
  }
  out[at] = value;
}

/// Four accumulators of 32x32; operands stay in registers and are re-read from
/// LDS every few products.
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void
matrix(GLOBAL const float *in, GLOBAL float *out, int steps) {
  static __attribute__((loader_uninitialized)) LDS f16x4 tile[128];
  int id = __builtin_amdgcn_workitem_id_x();
  float value = in[id];
  for (int i = 0; i < 2; ++i)
    tile[id + 64 * i] = (f16x4){(_Float16)value, 1, 2, (_Float16)i};
  barrier();
  f32x16 sum[4] = {};
  for (int i = 0; i < steps; ++i) {
    f16x4 a = tile[id], b = tile[64 + ((id + i) & 63)];
    for (int j = 0; j < 4; ++j)
      sum[j] = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, sum[j], 0, 0, 0);
  }
  float total = 0;
  for (int j = 0; j < 16; ++j)
    total += sum[0][j] + sum[1][j] + sum[2][j] + sum[3][j];
  out[id] = total;
}
