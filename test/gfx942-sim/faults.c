// Kernels into which test_faults.py plants faults. Each uses what generated
// kernels use: staging through LDS, matrix instructions, lane exchanges, masks.
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))
#define LDS                                                                    \
  __attribute__((loader_uninitialized)) __attribute__((address_space(3)))
#define KERNEL(N)                                                              \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(N, N)))

static void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// C (32 x 32, f32) = A (32 x K) * B (32 x K)^T in f16, two waves, tiles of K
/// through LDS.
KERNEL(128)
void gemm(GLOBAL const f16x4 *a, GLOBAL const f16x4 *b, GLOBAL float *c,
          int k) {
  static LDS f16x4 tileA[32][5], tileB[32][5]; // One of five is padding.
  int id = __builtin_amdgcn_workitem_id_x(), lane = id & 63, wave = id >> 6;
  int row = id >> 2, part = id & 3;
  f32x4 sum[2] = {};
  for (int at = 0; at < k; at += 16) {
    tileA[row][part] = a[(row * k + at) / 4 + part];
    tileB[row][part] = b[(row * k + at) / 4 + part];
    barrier();
    f16x4 left = tileA[16 * wave + (lane & 15)][lane >> 4];
    for (int j = 0; j < 2; ++j)
      sum[j] = __builtin_amdgcn_mfma_f32_16x16x16f16(
          left, tileB[16 * j + (lane & 15)][lane >> 4], sum[j], 0, 0, 0);
    barrier();
  }
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 4; ++i)
      c[(16 * wave + 4 * (lane >> 4) + i) * 32 + 16 * j + (lane & 15)] =
          sum[j][i];
}

/// out[group] = sum of in[group * 256 ...] below n: across the four waves
/// through LDS, then within the wave by lane exchanges.
KERNEL(256) void reduce(GLOBAL const float *in, GLOBAL float *out, int n) {
  static LDS float tile[256];
  int id = __builtin_amdgcn_workitem_id_x();
  int at = __builtin_amdgcn_workgroup_id_x() * 256 + id;
  float x = at < n ? in[at] : 0.0f;
  tile[id] = x;
  barrier();
  x += tile[id ^ 128];
  barrier();
  tile[id] = x;
  barrier();
  x += tile[id ^ 64];
  for (int half = 32; half > 0; half >>= 1)
    x += __builtin_bit_cast(
        float, __builtin_amdgcn_ds_bpermute(4 * ((id ^ half) & 63),
                                            __builtin_bit_cast(int, x)));
  if (id == 0)
    out[__builtin_amdgcn_workgroup_id_x()] = x;
}

/// Inclusive scan of each wave by DPP, then rotated by one lane.
KERNEL(64) void scan(GLOBAL const int *in, GLOBAL int *out, int n) {
  int id = __builtin_amdgcn_workitem_id_x();
  int at = __builtin_amdgcn_workgroup_id_x() * 64 + id;
  int x = at < n ? in[at] : 0;
  x += __builtin_amdgcn_update_dpp(0, x, 0x111, 0xf, 0xf, 0); // row_shr:1
  x += __builtin_amdgcn_update_dpp(0, x, 0x112, 0xf, 0xf, 0); // row_shr:2
  x += __builtin_amdgcn_update_dpp(0, x, 0x114, 0xf, 0xf, 0); // row_shr:4
  x += __builtin_amdgcn_update_dpp(0, x, 0x118, 0xf, 0xf, 0); // row_shr:8
  x += __builtin_amdgcn_update_dpp(0, x, 0x142, 0xa, 0xf, 0); // row_bcast:15
  x += __builtin_amdgcn_update_dpp(0, x, 0x143, 0xc, 0xf, 0); // row_bcast:31
  int rotated = __builtin_amdgcn_ds_bpermute(4 * ((id + 1) & 63), x);
  if (at < n)
    out[at] = rotated;
}
