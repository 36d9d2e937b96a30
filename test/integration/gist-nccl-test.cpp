//===- gist-nccl-test.cpp - One rank of real NCCL on a card ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist-nccl-test [LIBRARY]
//
// Sums and gathers through the library, in a stream of the card, and compares
// what comes out. With one rank both give what they got; that ids, types,
// streams and addresses are right is what it shows. Skips with exit code 77
// where there is no card or no library.
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/CardRanks.h"
#include "runtime/ranks/ThreadRanks.h"

#include <cstdio>
#include <dlfcn.h>
#include <vector>

using namespace gist;

namespace {
/// What is used of CUDA's driver. Codes are 0 for success.
struct Driver {
  int (*Init)(unsigned) = nullptr;
  int (*PrimaryCtxRetain)(void **, int) = nullptr;
  int (*CtxSetCurrent)(void *) = nullptr;
  int (*StreamCreate)(void **, unsigned) = nullptr;
  int (*StreamSynchronize)(void *) = nullptr;
  int (*MemAlloc)(uint64_t *, size_t) = nullptr;
  int (*CopyIn)(uint64_t, const void *, size_t) = nullptr;
  int (*CopyOut)(void *, uint64_t, size_t) = nullptr;

  bool load() {
    void *library = ::dlopen("libcuda.so.1", RTLD_NOW);
    auto find = [&](auto &place, const char *name) {
      place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(
          library ? ::dlsym(library, name) : nullptr);
      return place != nullptr;
    };
    return find(Init, "cuInit") &&
           find(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain") &&
           find(CtxSetCurrent, "cuCtxSetCurrent") &&
           find(StreamCreate, "cuStreamCreate") &&
           find(StreamSynchronize, "cuStreamSynchronize") &&
           find(MemAlloc, "cuMemAlloc_v2") && find(CopyIn, "cuMemcpyHtoD_v2") &&
           find(CopyOut, "cuMemcpyDtoH_v2");
  }
};
} // namespace

static constexpr size_t kCount = 49152;

/// Zero where `what` has put `expected` at `address`.
static int compare(const Driver &cuda, const char *what, uint64_t address,
                   const std::vector<float> &expected) {
  std::vector<float> got(expected.size());
  cuda.CopyOut(got.data(), address, got.size() * sizeof(float));
  bool isSame = got == expected;
  std::printf("%s of %zu numbers: %s\n", what, got.size(),
              isSame ? "equal" : "DIFFERENT");
  return isSame ? 0 : 1;
}

int main(int argc, char **argv) {
  Driver cuda;
  void *context = nullptr, *stream = nullptr;
  if (!cuda.load() || cuda.Init(0) != 0 ||
      cuda.PrimaryCtxRetain(&context, 0) != 0) {
    std::puts("skipped: there is no card");
    return 77;
  }
  cuda.CtxSetCurrent(context);
  cuda.StreamCreate(&stream, 0);
  std::vector<std::unique_ptr<Communicator>> ranks = makeThreadRanks(1);
  ranks[0]->cards = {.areUsed = true, .library = argc > 1 ? argv[1] : ""};
  std::unique_ptr<CardRanks> cards;
  Status status = CardRanks::open("cuda", *ranks[0], cards);
  if (!status.ok()) {
    std::printf("%s: %s\n", status.code == Code::NotFound ? "skipped" : "error",
                status.text.c_str());
    return status.code == Code::NotFound ? 77 : 1;
  }
  std::vector<float> numbers(kCount), zeros(kCount);
  for (size_t i = 0; i < kCount; ++i)
    numbers[i] = static_cast<float>(i % 977) * 0.37F - 100;
  uint64_t from = 0, sum = 0, all = 0;
  constexpr size_t kBytes = kCount * sizeof(float);
  for (uint64_t *place : {&from, &sum, &all}) {
    if (cuda.MemAlloc(place, kBytes) != 0)
      return 1;
    cuda.CopyIn(*place, place == &from ? numbers.data() : zeros.data(), kBytes);
  }
  std::vector<int64_t> columns = {kCount};
  status = cards->allReduce(from, sum, kCount, stream);
  if (status.ok())
    status = cards->allGather(from, columns, all, stream);
  int code = cuda.StreamSynchronize(stream);
  if (!status.ok() || code != 0) {
    std::printf("error: %s (stream: %d)\n", status.text.c_str(), code);
    return 1;
  }
  return compare(cuda, "sum", sum, numbers) |
         compare(cuda, "gather", all, numbers);
}
