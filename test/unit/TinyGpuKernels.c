//===- TinyGpuKernels.c - Kernels of the test model, by the GPU's ABI -----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TinyKernels.c for gfx942 and sm_90: every argument is an address, numbers are
// words there. A workgroup is 64 threads; its threads share a row.
//
//===----------------------------------------------------------------------===//

typedef long long i64;
#define GLOBAL __attribute__((address_space(1)))
typedef const GLOBAL i64 *Number;
#define KERNEL __attribute__((device_kernel)) void

#if defined(__AMDGCN__)
#define THREAD ((i64)__builtin_amdgcn_workitem_id_x())
#define GROUP_X ((i64)__builtin_amdgcn_workgroup_id_x())
#define GROUP_Y ((i64)__builtin_amdgcn_workgroup_id_y())
#else
#define THREAD ((i64)__nvvm_read_ptx_sreg_tid_x())
#define GROUP_X ((i64)__nvvm_read_ptx_sreg_ctaid_x())
#define GROUP_Y ((i64)__nvvm_read_ptx_sreg_ctaid_y())
#endif
enum { kThreads = 64 };

/// Another build writes where it may not.
#ifndef TINY_OFFSET
#define TINY_OFFSET 0
#endif

KERNEL tiny_embed(const GLOBAL int *tokens, const GLOBAL float *embeddings,
                  GLOBAL float *rows, Number width) {
  for (i64 i = THREAD; i < *width; i += kThreads)
    rows[GROUP_X * *width + i + TINY_OFFSET] =
        embeddings[tokens[GROUP_X] * *width + i];
}

KERNEL tiny_append(const GLOBAL float *rows, GLOBAL float *place,
                   Number width) {
  for (i64 i = THREAD; i < *width; i += kThreads)
    place[GROUP_X * *width + i] = rows[GROUP_X * *width + i];
}

KERNEL tiny_mean(const GLOBAL float *cache, GLOBAL float *means, Number first,
                 Number width) {
  i64 count = *first + GROUP_X;
  for (i64 i = THREAD; i < *width; i += kThreads) {
    float sum = 0;
    for (i64 row = 0; row < count; ++row)
      sum += cache[row * *width + i];
    means[GROUP_X * *width + i] = sum / (float)count;
  }
}

KERNEL tiny_logits(const GLOBAL float *means, const GLOBAL float *embeddings,
                   GLOBAL float *logits, Number vocab, Number width) {
  i64 v = GROUP_X * 16 + THREAD;
  if (THREAD >= 16 || v >= *vocab)
    return;
  float sum = 0;
  for (i64 i = 0; i < *width; ++i)
    sum -= means[GROUP_Y * *width + i] * embeddings[v * *width + i];
  logits[GROUP_Y * *vocab + v] = sum;
}

KERNEL tiny_count(Number past, GLOBAL int *statistic) {
  if (THREAD == 0)
    *statistic = (int)*past + 1000;
}
