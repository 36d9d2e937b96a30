//===- TinyKernels.c - Kernels of the test model, by the CPU's ABI --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler will emit, written by hand: a "language model" whose logits
// are how little every embedding points along the mean of the embeddings so
// far, so that a greedy text never repeats itself for long. Small enough to be
// checked by a loop, with everything a real one has: weights, a cache, scratch
// memory and sizes that depend on the call.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

/// Another library with the same symbols scales its logits by another number.
#ifndef TINY_SCALE
#define TINY_SCALE 1.0f
#endif

/// tokens, embeddings, rows, D: one row per workgroup. With the n-th adapter a
/// token has the row of the n-th one behind it.
void tiny_embed(const uint64_t *args, int64_t x, int64_t y, int64_t z) {
  const int32_t *tokens = (const int32_t *)args[0];
  const float *embeddings = (const float *)args[1];
  float *rows = (float *)args[2];
  int64_t width = (int64_t)args[3];
  int64_t row = (tokens[x] & 0xffffff) + (tokens[x] >> 24);
  (void)y, (void)z;
  for (int64_t i = 0; i < width; ++i)
    rows[x * width + i] = embeddings[row * width + i];
}

/// rows, the place in the cache, D: one row per workgroup.
void tiny_append(const uint64_t *args, int64_t x, int64_t y, int64_t z) {
  const float *rows = (const float *)args[0];
  float *place = (float *)args[1];
  int64_t width = (int64_t)args[2];
  (void)y, (void)z;
  for (int64_t i = 0; i < width; ++i)
    place[x * width + i] = rows[x * width + i];
}

/// cache, means, number of rows of the first mean, D: one mean per workgroup.
void tiny_mean(const uint64_t *args, int64_t x, int64_t y, int64_t z) {
  const float *cache = (const float *)args[0];
  float *means = (float *)args[1];
  int64_t count = (int64_t)args[2] + x;
  int64_t width = (int64_t)args[3];
  (void)y, (void)z;
  for (int64_t i = 0; i < width; ++i) {
    float sum = 0;
    for (int64_t row = 0; row < count; ++row)
      sum += cache[row * width + i];
    means[x * width + i] = sum / (float)count;
  }
}

/// means, embeddings, logits, V, D: 16 logits of one mean per workgroup.
void tiny_logits(const uint64_t *args, int64_t x, int64_t y, int64_t z) {
  const float *means = (const float *)args[0] + y * (int64_t)args[4];
  const float *embeddings = (const float *)args[1];
  float *logits = (float *)args[2] + y * (int64_t)args[3];
  int64_t vocab = (int64_t)args[3], width = (int64_t)args[4];
  int64_t end = x * 16 + 16 < vocab ? x * 16 + 16 : vocab;
  (void)z;
  for (int64_t v = x * 16; v < end; ++v) {
    float sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum -= means[i] * embeddings[v * width + i];
    logits[v] = sum * TINY_SCALE;
  }
}

/// settings, token, V: the random number of the settings, modulo V.
void tiny_next(const uint64_t *args, int64_t x, int64_t y, int64_t z) {
  const int64_t *settings = (const int64_t *)args[0];
  (void)x, (void)y, (void)z;
  *(int32_t *)args[1] = (int32_t)(settings[4] % (int64_t)args[2]);
}

/// P, statistic: a device word read back.
void tiny_count(const uint64_t *args, int64_t x, int64_t y, int64_t z) {
  (void)x, (void)y, (void)z;
  *(int32_t *)args[1] = (int32_t)args[0] + 1000;
}
