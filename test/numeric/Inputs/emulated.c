/* Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   Calls a kernel in an emulator: an x86-64 program without a C library. Reads
   from standard input the number of slots, each as (is a buffer, value or size)
   and a buffer's bytes, then the grid; writes all buffers to standard output.
 */

typedef unsigned long word;

void KERNEL(const word *slots, long x, long y, long z);

static char arena[64 << 20] __attribute__((aligned(64)));

void *memset(void *to, int value, word count) {
  char *bytes = to;
  while (count--)
    *bytes++ = (char)value;
  return to;
}

void *memcpy(void *to, const void *from, word count) {
  char *out = to;
  const char *in = from;
  while (count--)
    *out++ = *in++;
  return to;
}

static long call(long number, long a, void *b, word c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}

static void readAll(void *to, word count) {
  char *bytes = to;
  while (count) {
    long got = call(0, 0, bytes, count);
    if (got <= 0)
      call(60, 1, 0, 0);
    bytes += got;
    count -= (word)got;
  }
}

static void writeAll(char *bytes, word count) {
  while (count) {
    long put = call(1, 1, bytes, count);
    if (put <= 0)
      call(60, 1, 0, 0);
    bytes += put;
    count -= (word)put;
  }
}

static word slots[64], sizes[64];

__attribute__((used)) void run(void) {
  word count, header[2], grid[3], used = 0;
  readAll(&count, sizeof count);
  for (word i = 0; i < count; ++i) {
    readAll(header, sizeof header);
    slots[i] = header[1];
    if (!header[0])
      continue;
    slots[i] = (word)(arena + used);
    sizes[i] = header[1];
    readAll(arena + used, header[1]);
    used = (used + header[1] + 63) / 64 * 64;
  }
  readAll(grid, sizeof grid);
  for (word z = 0; z < grid[2]; ++z)
    for (word y = 0; y < grid[1]; ++y)
      for (word x = 0; x < grid[0]; ++x)
        KERNEL(slots, (long)x, (long)y, (long)z);
  for (word i = 0; i < count; ++i)
    writeAll((char *)slots[i], sizes[i]);
  call(60, 0, 0, 0);
}

__asm__(".globl _start\n_start: and $-64, %rsp\n call run\n");
