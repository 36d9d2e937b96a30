//===- main.c - Shows which words of a text represent the others ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates a model's activations: every word has a fixed random direction
// and leans towards the words before it, so a repeated word is nearly, not
// exactly, the same row.
//
//===----------------------------------------------------------------------===//

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kDim = 64, kMaxWords = 512, kMaxWord = 24 };

// Tensors at the boundary of a compiled function, as MLIR lays them out.
typedef struct {
  float *allocated, *data;
  int64_t offset, size[2], stride[2];
} Matrix;
typedef struct {
  int32_t *allocated, *data;
  int64_t offset, size[1], stride[1];
} Vector;
typedef struct {
  int32_t *allocated, *data;
  int64_t offset;
} Scalar;
typedef struct {
  Vector ids;
  Scalar count;
  Vector nearest, weight;
} Selection;

extern void _mlir_ciface_select(Selection *result, Matrix *x);

// A number in [-1, 1) that depends on the state alone.
static float nextRandom(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)((int32_t)(*state >> 33) - (1 << 30)) / (float)(1 << 30);
}

static int readWords(char words[kMaxWords][kMaxWord]) {
  int count = 0, length = 0;
  for (int c = getchar(); c != EOF && count < kMaxWords; c = getchar()) {
    int isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (isLetter && length < kMaxWord - 1) {
      words[count][length++] = (char)(c | 32);
    } else if (!isLetter && length > 0) {
      words[count++][length] = '\0';
      length = 0;
    }
  }
  return count;
}

int main(void) {
  static char words[kMaxWords][kMaxWord];
  static float rows[kMaxWords][kDim];
  int count = readWords(words);
  for (int t = 0; t < count; ++t) {
    uint64_t state = 1469598103934665603u;
    for (const char *c = words[t]; *c; ++c)
      state = (state ^ (uint64_t)*c) * 1099511628211u;
    for (int i = 0; i < kDim; ++i)
      rows[t][i] = nextRandom(&state) + (t > 0 ? 0.2f * rows[t - 1][i] : 0.0f);
  }

  Matrix x = {&rows[0][0], &rows[0][0], 0, {count, kDim}, {kDim, 1}};
  Selection s;
  _mlir_ciface_select(&s, &x);

  int r = s.count.data[s.count.offset];
  printf("%d words, %d representatives\n\n", count, r);
  // Words that stand for themselves are written out; the others are in
  // brackets with the position of the word that stands for them.
  int column = 0;
  for (int t = 0; t < count; ++t) {
    int32_t nearest = s.nearest.data[s.nearest.offset + t];
    char text[64];
    snprintf(text, sizeof text, nearest == t ? "%s" : "[%s %d]", words[t],
             nearest);
    column += (int)strlen(text) + 1;
    if (column > 79) {
      printf("\n");
      column = (int)strlen(text) + 1;
    }
    printf("%s ", text);
  }
  printf("\n");
  free(s.ids.allocated);
  free(s.count.allocated);
  free(s.nearest.allocated);
  free(s.weight.allocated);
  return 0;
}
