//===- Replay.cpp - Runs a fuzz target without libFuzzer ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: GistXFuzz SECONDS [--header=BYTES] FILE-OR-FOLDER... [--once FOLDER]
//
// Gives a target each file as it is, every prefix of it, and every change of
// one bit in its first kilobyte or what --header says; then random changes
// until the time is over. What is in the folder after --once is not taken
// apart like that: it is a corpus, whose files are mutations already. It needs
// no compiler of a kind, so that every build can run it.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)
#define ASAN_UNPOISON_MEMORY_REGION(address, size)
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

using Content = std::vector<uint8_t>;

static uint64_t executions = 0;

/// In memory of its own size, so that a sanitizer sees a read behind the end.
static void execute(const Content &file) {
  Content copy(file.begin(), file.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  ++executions;
}

/// Bytes of a file whose bits are all changed. Headers are in front.
static size_t headerBytes = 1024;

/// Nothing is copied: time would grow with the square of a file's size.
static void executeAll(const Content &content) {
  std::unique_ptr<uint8_t[]> file(new uint8_t[content.size()]);
  std::copy(content.begin(), content.end(), file.get());
  for (size_t bit = 0; bit < 8 * std::min(content.size(), headerBytes); ++bit) {
    auto mask = static_cast<uint8_t>(1 << bit % 8);
    file[bit / 8] ^= mask;
    LLVMFuzzerTestOneInput(file.get(), content.size());
    file[bit / 8] ^= mask;
    ++executions;
  }
  // The longest first. What is behind the end must not be read.
  for (size_t size = content.size() + 1; size-- > 0;) {
    if (size < content.size())
      ASAN_POISON_MEMORY_REGION(file.get() + size, 1);
    LLVMFuzzerTestOneInput(file.get(), size);
    ++executions;
  }
  ASAN_UNPOISON_MEMORY_REGION(file.get(), content.size());
}

/// A few changes of the kinds that readers get wrong: counts that are too
/// large, pieces that are missing or repeated, and pieces of another file.
static Content mutate(const std::vector<Content> &files, std::mt19937_64 &rng) {
  auto below = [&](size_t bound) { return bound ? rng() % bound : 0; };
  Content result = files[below(files.size())];
  for (size_t i = 0, count = 1 + below(4); i < count && !result.empty(); ++i) {
    size_t at = below(result.size());
    size_t length = std::min(result.size() - at, size_t{1} << below(9));
    auto begin = result.begin() + static_cast<ptrdiff_t>(at);
    auto end = begin + static_cast<ptrdiff_t>(length);
    switch (below(6)) {
    case 0:
      *begin = static_cast<uint8_t>(rng());
      break;
    case 1: // A number of eight bytes, often at the edge of what fits.
      for (size_t j = 0; j < std::min<size_t>(length, 8); ++j)
        begin[static_cast<ptrdiff_t>(j)] = below(2) ? 0xff : 0x7f;
      break;
    case 2:
      result.erase(begin, end);
      break;
    case 3: {
      Content piece(begin, end);
      result.insert(begin, piece.begin(), piece.end());
      break;
    }
    case 4: {
      const Content &other = files[below(files.size())];
      size_t from = below(other.size());
      size_t size = std::min(other.size() - from, length);
      result.insert(begin, other.begin() + static_cast<ptrdiff_t>(from),
                    other.begin() + static_cast<ptrdiff_t>(from + size));
      break;
    }
    default: // A digit of a text.
      *begin = static_cast<uint8_t>("0123456789-{}[]\"\\.e"[below(19)]);
    }
  }
  return result;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: %s SECONDS [--header=BYTES] FILE-OR-FOLDER... "
                 "[--once FOLDER]\n",
                 argv[0]);
    return 2;
  }
  std::vector<Content> files;
  auto add = [&](const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in),
                       std::istreambuf_iterator<char>());
  };
  size_t whole = SIZE_MAX;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--once") == 0) {
      whole = files.size();
      continue;
    }
    if (std::sscanf(argv[i], "--header=%zu", &headerBytes) == 1)
      continue;
    if (!std::filesystem::is_directory(argv[i])) {
      add(argv[i]);
      continue;
    }
    for (const auto &entry : std::filesystem::directory_iterator(argv[i]))
      add(entry.path());
  }
  if (files.empty()) {
    std::fprintf(stderr, "%s: no file was found\n", argv[0]);
    return 1;
  }
  for (size_t i = 0; i < files.size(); ++i)
    if (i < whole)
      executeAll(files[i]);
    else
      execute(files[i]);
  uint64_t systematic = executions;
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(
                 std::chrono::duration<double>(std::strtod(argv[1], nullptr)));
  std::mt19937_64 rng(20240229);
  while (Clock::now() < end)
    execute(mutate(files, rng));
  std::printf(
      "%zu files: %llu prefixes and changed bits, %llu random changes\n",
      files.size(), static_cast<unsigned long long>(systematic),
      static_cast<unsigned long long>(executions - systematic));
  return 0;
}
