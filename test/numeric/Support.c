//===- Support.c - What the compiled tests stand on -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked into every compiled test, in the place of malloc, calloc and free
// (--wrap): a heap that finds mistakes. Fresh memory is filled with large
// numbers, so that a result made of uninitialised memory is wrong every time; a
// mark behind each block finds writes past its end; a count of live blocks
// finds leaks.
//
// And `memrefCopy`, which copies of strided memrefs are lowered to.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>
#include <string.h>

void *__real_malloc(size_t size);
void __real_free(void *pointer);

// In front of a block. 16 bytes, so that the block is aligned as malloc's are.
typedef struct {
  uint64_t size;
  uint64_t mark;
} Header;

static const uint64_t kMark = 0x5a17c0de5a17c0deULL;
static int64_t live;
static const char *error;

void *__wrap_malloc(size_t size) {
  Header *header = __real_malloc(sizeof(Header) + size + sizeof(kMark));
  if (!header)
    return NULL;
  header->size = size;
  header->mark = kMark;
  char *block = (char *)(header + 1);
  memset(block, 0x7f, size); // 3.4e38 in f32 and bf16, NaN in f16.
  memcpy(block + size, &kMark, sizeof(kMark));
  ++live;
  return block;
}

void *__wrap_calloc(size_t count, size_t size) {
  char *block = __wrap_malloc(count * size);
  // A volatile pointer: the compiler would make one call of calloc of the two.
  volatile char *bytes = block;
  for (size_t i = 0; block && i < count * size; ++i)
    bytes[i] = 0;
  return block;
}

void __wrap_free(void *pointer) {
  if (!pointer)
    return;
  Header *header = (Header *)pointer - 1;
  if (header->mark != kMark) {
    error = "a block was freed twice, or was never allocated";
    return;
  }
  if (memcmp((char *)pointer + header->size, &kMark, sizeof(kMark)) != 0)
    error = "something was written past the end of a block";
  header->mark = 0;
  --live;
  __real_free(header);
}

int64_t gist_heap_live(void) { return live; }
void gist_heap_free(void *pointer) { __wrap_free(pointer); }

/// The first thing that went wrong since the last call, or null.
const char *gist_heap_error(void) {
  const char *text = error;
  error = NULL;
  return text;
}

// A memref of any rank as MLIR passes it: its rank and its descriptor.
typedef struct {
  int64_t rank;
  const void *descriptor;
} UnrankedMemref;

typedef struct {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
} Descriptor;

static void copyDims(int64_t elementSize, int64_t rank, const int64_t *sizes,
                     const char *from, const int64_t *fromStrides, char *to,
                     const int64_t *toStrides) {
  if (rank == 0) {
    memmove(to, from, elementSize);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copyDims(elementSize, rank - 1, sizes + 1,
             from + i * fromStrides[0] * elementSize, fromStrides + 1,
             to + i * toStrides[0] * elementSize, toStrides + 1);
}

void memrefCopy(int64_t elementSize, const UnrankedMemref *source,
                const UnrankedMemref *target) {
  const Descriptor *from = source->descriptor;
  const Descriptor *to = target->descriptor;
  int64_t rank = source->rank;
  copyDims(elementSize, rank, from->sizesAndStrides,
           from->aligned + from->offset * elementSize,
           from->sizesAndStrides + rank, to->aligned + to->offset * elementSize,
           to->sizesAndStrides + rank);
}
