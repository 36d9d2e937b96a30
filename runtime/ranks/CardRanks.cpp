//===- CardRanks.cpp - Sums and gathers between cards ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/CardRanks.h"
#include "runtime/ranks/Collectives.h"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <vector>

using namespace gist;

static constexpr int kFloat32 = 7; ///< ncclFloat32
static constexpr int kSum = 0;     ///< ncclSum

/// What is used of NCCL and RCCL. Codes are 0 for success.
struct CardRanks::Functions {
  /// ncclUniqueId: passed by value, as the ABI has it.
  struct UniqueId {
    std::array<char, 128> bytes = {};
  };

  int (*GetUniqueId)(UniqueId *) = nullptr;
  int (*CommInitRank)(void **, int, UniqueId, int) = nullptr;
  int (*CommDestroy)(void *) = nullptr;
  int (*CommAbort)(void *) = nullptr;
  int (*AllReduce)(const void *, void *, size_t, int, int, void *,
                   void *) = nullptr;
  int (*Broadcast)(const void *, void *, size_t, int, int, void *,
                   void *) = nullptr;
  int (*GroupStart)() = nullptr;
  int (*GroupEnd)() = nullptr;
  const char *(*GetErrorString)(int) = nullptr;
};

CardRanks::CardRanks(Communicator &ranks)
    : ranks(ranks), call(std::make_unique<Functions>()) {}

CardRanks::~CardRanks() {
  isEnding = true;
  if (watcher.joinable())
    watcher.join();
  if (handle)
    call->CommDestroy(handle);
}

void CardRanks::watch() {
  while (!isEnding) {
    if (!ranks.check().ok()) {
      std::lock_guard lock(mutex);
      // Ends kernels that wait for a card that is gone, and so those that wait
      // for this one.
      call->CommAbort(handle);
      handle = nullptr;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status CardRanks::load(const std::string &kind, const std::string &library) {
  bool isAmd = kind == "hip";
  std::vector<std::string> names = {isAmd ? "librccl.so.1" : "libnccl.so.2",
                                    isAmd ? "librccl.so" : "libnccl.so"};
  if (!library.empty())
    names = {library};
  void *opened = nullptr;
  std::string tried;
  for (const std::string &name : names) {
    if ((opened = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  if (!opened)
    return Status::error(Code::NotFound, "%s was not found; looked for: %s",
                         isAmd ? "RCCL" : "NCCL", tried.c_str());
  std::string missing;
  auto find = [&](auto &place, const char *name) {
    void *symbol = ::dlsym(opened, name);
    if (!symbol && missing.empty())
      missing = name;
    place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(symbol);
  };
  find(call->GetUniqueId, "ncclGetUniqueId");
  find(call->CommInitRank, "ncclCommInitRank");
  find(call->CommDestroy, "ncclCommDestroy");
  find(call->CommAbort, "ncclCommAbort");
  find(call->AllReduce, "ncclAllReduce");
  find(call->Broadcast, "ncclBroadcast");
  find(call->GroupStart, "ncclGroupStart");
  find(call->GroupEnd, "ncclGroupEnd");
  find(call->GetErrorString, "ncclGetErrorString");
  if (!missing.empty())
    return Status::error(Code::NotFound, "%s has no function '%s'",
                         isAmd ? "RCCL" : "NCCL", missing.c_str());
  return {};
}

Status CardRanks::check(int code, const char *what) const {
  if (code == 0)
    return {};
  return Status::error(Code::Device, "rank %u: cannot %s: %s", ranks.rank(),
                       what, call->GetErrorString(code));
}

Status CardRanks::open(const std::string &kind, Communicator &ranks,
                       std::unique_ptr<CardRanks> &result) {
  std::unique_ptr<CardRanks> cards(new CardRanks(ranks));
  // Either all ranks use the library or none: the id comes with a flag for rank
  // 0, and the other ranks answer.
  Status status = ranks.cards.areUsed
                      ? cards->load(kind, ranks.cards.library)
                      : Status::error(Code::NotFound,
                                      "ranks share a card, or were told not to "
                                      "use cards");
  Functions::UniqueId id;
  if (status.ok() && ranks.rank() == 0)
    status = cards->check(cards->call->GetUniqueId(&id), "make an id");
  std::vector<uint8_t> message(1 + sizeof id);
  message[0] = status.ok();
  std::memcpy(message.data() + 1, &id, sizeof id);
  GIST_TRY(broadcast(ranks, message, Patience::Bounded));
  if (message.size() != 1 + sizeof id)
    return Status::error(Code::Io, "rank 0 sent an id that is damaged");
  std::memcpy(&id, message.data() + 1, sizeof id);
  uint64_t isReady = status.ok() && message[0] != 0;
  // A rank without the library is not an error here.
  std::vector<uint64_t> answers(ranks.size(), isReady);
  std::vector<Bytes> to(
      ranks.size(),
      Bytes{reinterpret_cast<const uint8_t *>(&isReady), sizeof isReady});
  std::vector<Window> from(ranks.size());
  to[ranks.rank()] = {};
  for (uint32_t rank = 0; rank < ranks.size(); ++rank)
    if (rank != ranks.rank())
      from[rank] = {reinterpret_cast<uint8_t *>(&answers[rank]),
                    sizeof isReady};
  GIST_TRY(ranks.exchange(to, from));
  for (uint32_t rank = 0; rank < ranks.size(); ++rank)
    if (answers[rank] == 0)
      return status.ok() ? Status::error(Code::NotFound,
                                         "rank %u cannot use the library", rank)
                         : status;
  GIST_TRY(cards->check(
      cards->call->CommInitRank(&cards->handle, static_cast<int>(ranks.size()),
                                id, static_cast<int>(ranks.rank())),
      "join the cards of the other ranks"));
  cards->watcher = std::thread([own = cards.get()] { own->watch(); });
  result = std::move(cards);
  return {};
}

Status CardRanks::allReduce(uint64_t part, uint64_t sum, uint64_t count,
                            void *stream) {
  std::lock_guard lock(mutex);
  if (!handle)
    return ranks.check();
  return check(call->AllReduce(reinterpret_cast<const void *>(part),
                               reinterpret_cast<void *>(sum), count, kFloat32,
                               kSum, handle, stream),
               "sum");
}

Status CardRanks::allGather(uint64_t part, std::span<const int64_t> columns,
                            uint64_t all, void *stream) {
  std::lock_guard lock(mutex);
  if (!handle)
    return ranks.check();
  // Shares differ, so each rank sends its own in turn; a group is one launch.
  GIST_TRY(check(call->GroupStart(), "begin to gather"));
  Status status;
  uint64_t begin = all;
  for (size_t rank = 0; rank < columns.size() && status.ok(); ++rank) {
    bool isOwn = rank == ranks.rank();
    status = check(
        call->Broadcast(reinterpret_cast<const void *>(isOwn ? part : begin),
                        reinterpret_cast<void *>(begin),
                        static_cast<size_t>(columns[rank]), kFloat32,
                        static_cast<int>(rank), handle, stream),
        "gather");
    begin += static_cast<uint64_t>(columns[rank]) * sizeof(float);
  }
  Status ended = check(call->GroupEnd(), "gather");
  return status.ok() ? ended : status;
}
