//===- roofline.cpp - What this machine can do at most --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the peaks that bound a model on a CPU: multiply-adds of f32 and of
// 8-bit integers out of registers, by vectors and where there are some by tiles
// (AMX), and reading memory: more than caches hold, or as much as a model has.
// Prints JSON. Build with -O2 and -mcpu=native (-march=native on x86-64), so
// that the instructions of this machine are used.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

// A kernel has a vector of inputs, a vector of sums, one step of the best
// instruction there is, and the number of operations (multiply and add are
// two) in a step.

#if defined(__aarch64__)
struct F32 {
  using Input = float32x4_t;
  using Sum = float32x4_t;
  static constexpr const char *kInstruction = "fmla";
  static constexpr double kOperations = 8;
  static Sum step(Sum sum, Input a, Input b) { return vfmaq_f32(sum, a, b); }
};

struct Int8 {
  using Input = int8x16_t;
  using Sum = int32x4_t;
#if defined(__ARM_FEATURE_MATMUL_INT8)
  static constexpr const char *kInstruction = "smmla";
  static constexpr double kOperations = 64;
  static Sum step(Sum sum, Input a, Input b) { return vmmlaq_s32(sum, a, b); }
#elif defined(__ARM_FEATURE_DOTPROD)
  static constexpr const char *kInstruction = "sdot";
  static constexpr double kOperations = 32;
  static Sum step(Sum sum, Input a, Input b) { return vdotq_s32(sum, a, b); }
#else
  static constexpr const char *kInstruction = "smull, sadalp";
  static constexpr double kOperations = 16;
  static Sum step(Sum sum, Input a, Input b) {
    return vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
  }
#endif
};

#elif defined(__x86_64__)
#if defined(__AVX512F__)
struct F32 {
  using Input = __m512;
  using Sum = __m512;
  static constexpr const char *kInstruction = "vfmadd zmm";
  static constexpr double kOperations = 32;
  static Sum step(Sum sum, Input a, Input b) {
    return _mm512_fmadd_ps(a, b, sum);
  }
};
#elif defined(__FMA__)
struct F32 {
  using Input = __m256;
  using Sum = __m256;
  static constexpr const char *kInstruction = "vfmadd ymm";
  static constexpr double kOperations = 16;
  static Sum step(Sum sum, Input a, Input b) {
    return _mm256_fmadd_ps(a, b, sum);
  }
};
#else
struct F32 {
  using Input = __m128;
  using Sum = __m128;
  static constexpr const char *kInstruction = "mulps, addps";
  static constexpr double kOperations = 8;
  static Sum step(Sum sum, Input a, Input b) {
    return _mm_add_ps(sum, _mm_mul_ps(a, b));
  }
};
#endif

#if defined(__AVX512VNNI__)
struct Int8 {
  using Input = __m512i;
  using Sum = __m512i;
  static constexpr const char *kInstruction = "vpdpbusd zmm";
  static constexpr double kOperations = 128;
  static Sum step(Sum sum, Input a, Input b) {
    return _mm512_dpbusd_epi32(sum, a, b);
  }
};
#elif defined(__AVX2__)
struct Int8 {
  using Input = __m256i;
  using Sum = __m256i;
  static constexpr const char *kInstruction = "vpmaddubsw, vpmaddwd, vpaddd";
  static constexpr double kOperations = 64;
  static Sum step(Sum sum, Input a, Input b) {
    // The inputs change with the sum, or products would leave the loop.
    __m256i pairs = _mm256_maddubs_epi16(_mm256_xor_si256(a, sum), b);
    return _mm256_add_epi32(sum,
                            _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};
#else
struct Int8 {
  using Input = __m128i;
  using Sum = __m128i;
  static constexpr const char *kInstruction = "pmaddwd, paddd";
  static constexpr double kOperations = 16;
  static Sum step(Sum sum, Input a, Input b) {
    return _mm_add_epi32(sum, _mm_madd_epi16(_mm_xor_si128(a, sum), b));
  }
};
#endif
#else
#error "roofline.cpp knows aarch64 and x86-64"
#endif

/// Independent sums: more than a multiply-add's latency times the units of the
/// widest cores, and no more than registers.
constexpr int kSums = 20;

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Where results go, so that they are computed.
volatile unsigned char sink;

/// Zeros, but the compiler cannot know: nothing is folded, no two are merged.
template <typename Vector> Vector unknown() {
  Vector vector;
  std::memset(&vector, sink, sizeof(vector));
  return vector;
}

template <typename Kernel> void multiplyAdd(int64_t steps) {
  auto a = unknown<typename Kernel::Input>();
  auto b = unknown<typename Kernel::Input>();
  typename Kernel::Sum sums[kSums];
  for (auto &sum : sums)
    sum = unknown<typename Kernel::Sum>();
  for (int64_t i = 0; i < steps; ++i)
#if defined(__clang__)
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 32
#endif
    for (int k = 0; k < kSums; ++k)
      sums[k] = Kernel::step(sums[k], a, b);
  typename Kernel::Sum all = {};
  for (typename Kernel::Sum sum : sums)
    all += sum;
  unsigned char bytes[sizeof(all)];
  std::memcpy(bytes, &all, sizeof(all));
  sink = bytes[0];
}

/// Adds up 64-bit words in vectors, in as many sums as hide the latency of
/// loads. Asks for lines ahead of their use, as kernels do.
void readAll(const uint64_t *words, size_t count) {
  using Line [[gnu::vector_size(64)]] = uint64_t;
  constexpr size_t kWords = sizeof(Line) / sizeof(uint64_t), kLines = 8;
  constexpr size_t kAhead = 2048 / sizeof(uint64_t);
  Line sums[kLines] = {};
  for (size_t i = 0; i + kLines * kWords <= count; i += kLines * kWords)
    for (size_t k = 0; k < kLines; ++k) {
      __builtin_prefetch(words + i + k * kWords + kAhead);
      Line line;
      std::memcpy(&line, words + i + k * kWords, sizeof(line));
      sums[k] += line;
    }
  uint64_t all = 0;
  for (const Line &sum : sums)
    for (size_t k = 0; k < kWords; ++k)
      all += sum[k];
  sink = static_cast<unsigned char>(all);
}

/// Seconds that all threads need to do `work(index)`.
double timeTogether(unsigned threads,
                    const std::function<void(unsigned)> &work) {
  Clock::time_point start = Clock::now();
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back(work, i);
  work(0);
  for (std::thread &other : others)
    other.join();
  return secondsSince(start);
}

/// The best of several runs: a peak, not an average.
double bestSeconds(unsigned threads,
                   const std::function<void(unsigned)> &work) {
  double best = timeTogether(threads, work);
  for (int i = 0; i < 7; ++i)
    best = std::min(best, timeTogether(threads, work));
  return best;
}

template <typename Kernel> double operationsPerSecond(unsigned threads) {
  constexpr int64_t kSteps = 4'000'000;
  double seconds =
      bestSeconds(threads, [](unsigned) { multiplyAdd<Kernel>(kSteps); });
  return Kernel::kOperations * kSums * kSteps * threads / seconds;
}

#if defined(__AMX_INT8__)
/// Six sums of 16 x 16, of products of 16 x 64 with 64 x 16. Permission is
/// asked of Linux once for all threads.
void multiplyTiles(int64_t steps) {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t columns[16] = {};
    uint8_t rows[16] = {};
  } shape;
  for (int i = 0; i < 8; ++i) {
    shape.columns[i] = 64;
    shape.rows[i] = 16;
  }
  _tile_loadconfig(&shape);
  for (int64_t i = 0; i < steps; ++i) {
    _tile_dpbsud(0, 6, 7);
    _tile_dpbsud(1, 6, 7);
    _tile_dpbsud(2, 6, 7);
    _tile_dpbsud(3, 6, 7);
    _tile_dpbsud(4, 6, 7);
    _tile_dpbsud(5, 6, 7);
  }
  _tile_release();
}

double tileOperationsPerSecond(unsigned threads) {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  constexpr int64_t kSteps = 200'000;
  if (::syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0)
    return 0;
  double seconds =
      bestSeconds(threads, [](unsigned) { multiplyTiles(kSteps); });
  return 2.0 * 16 * 16 * 64 * 6 * kSteps * threads / seconds;
}
#else
double tileOperationsPerSecond(unsigned) { return 0; }
#endif

double bytesPerSecond(unsigned threads, size_t bytes) {
  size_t words = bytes / sizeof(uint64_t) / threads;
  std::vector<std::vector<uint64_t>> parts(threads);
  // Each thread touches its own part first: memory near it, and really there.
  timeTogether(threads, [&](unsigned i) { parts[i].assign(words, i + 1); });
  double seconds = bestSeconds(
      threads, [&](unsigned i) { readAll(parts[i].data(), words); });
  return static_cast<double>(words * sizeof(uint64_t) * threads) / seconds;
}

} // namespace

int main(int argc, char **argv) {
  long threads = std::max(1U, std::thread::hardware_concurrency());
  long bytes = 1L << 30;
  bool isUsed = argc % 2 == 1;
  for (int i = 1; isUsed && i + 1 < argc; i += 2) {
    char *end = nullptr;
    long number = std::strtol(argv[i + 1], &end, 10);
    isUsed = *end == '\0' && number > 0;
    if (std::strcmp(argv[i], "--threads") == 0 && number <= 4096)
      threads = number;
    else if (std::strcmp(argv[i], "--bytes") == 0)
      bytes = number;
    else
      isUsed = false;
  }
  if (!isUsed) {
    std::fputs("usage: gist-roofline [--threads N] [--bytes N]\n"
               "--bytes: memory that is read again and again, 1 GiB if not "
               "given\n",
               stderr);
    return 2;
  }
  auto count = static_cast<unsigned>(threads);
  std::printf("{\"threads\": %u,\n", count);
  std::printf(" \"f32\": {\"instruction\": \"%s\", \"per_second\": %.4e},\n",
              F32::kInstruction, operationsPerSecond<F32>(count));
  std::printf(" \"int8\": {\"instruction\": \"%s\", \"per_second\": %.4e},\n",
              Int8::kInstruction, operationsPerSecond<Int8>(count));
  if (double tiles = tileOperationsPerSecond(count); tiles > 0)
    std::printf(" \"tiles\": {\"instruction\": \"tdpbsud\", "
                "\"per_second\": %.4e},\n",
                tiles);
  std::printf(" \"read_bytes_per_second\": %.4e}\n",
              bytesPerSecond(count, static_cast<size_t>(bytes)));
}
