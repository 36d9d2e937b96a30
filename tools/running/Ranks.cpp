//===- Ranks.cpp - Models that several ranks run together -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Ranks.h"

#include "runtime/device/CpuTopology.h"
#include "runtime/ranks/Collectives.h"
#include "runtime/ranks/MpiRanks.h"
#include "runtime/ranks/ThreadRanks.h"
#include "runtime/session/Session.h"
#include "runtime/support/Json.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <climits>
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace gist;
using namespace gist::run;
using nlohmann::json;

namespace {
/// The ranks of this process: MPI can be opened once, so there is one of it.
struct Team {
  std::unique_ptr<Communicator> processes; ///< of mpirun
  // Without mpirun, for one model at a time.
  std::vector<std::unique_ptr<Communicator>> threadRanks;
  std::vector<std::thread> threads;
  bool isLent = false;
};
} // namespace

static Team &team() {
  static Team team;
  return team;
}

//===----------------------------------------------------------------------===//
// What rank 0 says
//===----------------------------------------------------------------------===//

static std::vector<uint8_t> toMessage(const json &content) {
  std::string text = content.dump();
  return {text.begin(), text.end()};
}

static json describe(const RankedModel &model) {
  return {{"path", model.path},       {"device", model.device},
          {"library", model.library}, {"index", model.deviceIndex},
          {"threads", model.threads}, {"context", model.context},
          {"chunk", model.chunk},     {"trust", model.trust},
          {"hash", model.hash}};
}

/// Empty: there is nothing more to do.
static Status readModel(const std::vector<uint8_t> &message,
                        std::optional<RankedModel> &model) {
  json content;
  GIST_TRY(parseJsonObject(
      {reinterpret_cast<const char *>(message.data()), message.size()},
      content));
  if (content.empty()) {
    model.reset();
    return {};
  }
  RankedModel read;
  int64_t index = 0, threads = 0;
  GIST_TRY(readText(content, "path", read.path));
  GIST_TRY(readText(content, "device", read.device));
  GIST_TRY(readText(content, "library", read.library));
  GIST_TRY(readInteger(content, "index", INT_MIN, INT_MAX, index));
  GIST_TRY(readInteger(content, "threads", 0, UINT_MAX, threads));
  GIST_TRY(readInteger(content, "context", 0, INT64_MAX, read.context));
  GIST_TRY(readInteger(content, "chunk", 0, INT64_MAX, read.chunk));
  read.deviceIndex = static_cast<int>(index);
  read.threads = static_cast<unsigned>(threads);
  // A hash has all 64 bits.
  const json *hash = nullptr, *trust = nullptr;
  GIST_TRY(findMember(content, "hash", "an integer", hash));
  GIST_TRY(findMember(content, "trust", "true or false", trust));
  std::optional<uint64_t> bits = bitsOf(*hash);
  if (!bits || !trust->is_boolean())
    return Status::error(Code::Io, "'hash' or 'trust' is of another type");
  read.hash = *bits;
  read.trust = trust->get<bool>();
  model = std::move(read);
  return {};
}

//===----------------------------------------------------------------------===//
// The other ranks
//===----------------------------------------------------------------------===//

/// Cores of this rank: those that mpirun has bound it to, or its share of all.
static unsigned countCores(uint32_t localRanks) {
  std::vector<int> cpus = allowedCpus();
  auto cores = static_cast<unsigned>(readTopology(cpus).cores.size());
  bool isBound =
      static_cast<long>(cpus.size()) < ::sysconf(_SC_NPROCESSORS_ONLN);
  return std::max(1U, isBound ? cores : cores / localRanks);
}

/// Ranks of one machine share out its cores, and take one card after the other.
static void chooseDevice(Communicator &ranks, RankedModel &model) {
  if (model.device == "cpu") {
    if (model.threads == 0)
      model.threads = countCores(ranks.localSize());
    return;
  }
  int count = 0;
  DeviceOptions options;
  options.library = model.library;
  bool isKnown = countDevices(model.device, options, count).ok() && count > 0;
  ranks.cards.areUsed =
      isKnown && ranks.localSize() <= static_cast<uint32_t>(count);
  if (isKnown)
    model.deviceIndex = static_cast<int>(
        (static_cast<uint32_t>(model.deviceIndex) + ranks.localRank()) %
        static_cast<uint32_t>(count));
}

static Status followModel(Communicator &ranks, RankedModel model) {
  chooseDevice(ranks, model);
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(model.path, module));
  // Each machine reads a file of its own.
  if (module->header().hash != model.hash)
    return Status::error(Code::BadFile,
                         "its file '%s' is not the one that rank 0 has",
                         model.path.c_str());
  DeviceOptions options;
  options.threads = model.threads;
  options.index = model.deviceIndex;
  options.library = model.library;
  std::unique_ptr<Device> device;
  GIST_TRY(openDevice(model.device, options, device));
  SessionOptions chosen;
  chosen.context = model.context;
  chosen.chunk = model.chunk;
  chosen.trust = model.trust;
  chosen.ranks = &ranks;
  std::unique_ptr<Session> session;
  GIST_TRY(Session::create(module, *device, chosen, session).in(model.path));
  return session->follow();
}

/// Opens models and follows their sessions until rank 0 has no more.
static Status follow(Communicator &ranks) {
  std::vector<uint8_t> message;
  while (true) {
    std::optional<RankedModel> model;
    GIST_TRY(broadcast(ranks, message, Patience::Endless));
    GIST_TRY(readModel(message, model).in("the message of rank 0"));
    if (!model)
      return {};
    Status status = followModel(ranks, *model);
    if (!status.ok()) {
      ranks.fail(status);
      return status;
    }
  }
}

bool run::mayTellError() {
  static std::atomic<bool> isTold = false;
  return !isTold.exchange(true);
}

/// Ends this process because another rank has failed. Not by the main thread,
/// which may be in a long call or wait for that rank.
static void endForOther(const char *tool, const std::string &why, bool speaks) {
  // Also where another rank speaks: then the main thread must not.
  bool isFirst = run::mayTellError();
  if (speaks && isFirst)
    std::fprintf(stderr, "%s: error: %s\n", tool, why.c_str());
  else // When the first process ends, mpirun kills those that still print.
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
  if (::ftrylockfile(stdout) == 0)
    ::fflush_unlocked(stdout);
  ::_exit(1);
}

std::optional<int> run::followRank0(const char *tool) {
  if (!isUnderMpi())
    return std::nullopt;
  // When a rank is gone mpirun ends the others, a moment before it kills them.
  // In that moment they say which rank it was.
  std::signal(SIGTERM, SIG_IGN);
  MpiOptions options;
  options.onFailure = [tool](const std::string &why, bool speaks) {
    endForOther(tool, why, speaks);
  };
  Status status = openMpiRanks(options, team().processes);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: error: %s\n", tool, status.text.c_str());
    return 1;
  }
  Communicator &ranks = *team().processes;
  if (ranks.rank() == 0)
    return std::nullopt;
  status = follow(ranks);
  // Rank 0 has been told what was wrong, and says it.
  if (!status.ok()) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    ::_exit(1);
  }
  team().processes.reset();
  return 0;
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

/// Tells ranks that there is nothing more to do.
static Status dismiss(Communicator &ranks) {
  std::vector<uint8_t> message = toMessage(json::object());
  return broadcast(ranks, message, Patience::Bounded);
}

static void endThreads() {
  Team &own = team();
  if (own.threadRanks.empty())
    return;
  // A rank that cannot be reached has ended already.
  (void)dismiss(*own.threadRanks[0]).ok();
  for (std::thread &thread : own.threads)
    thread.join();
  own.threads.clear();
  own.threadRanks.clear();
}

int run::endRanks(int exitStatus) {
  endThreads();
  if (!team().processes)
    return exitStatus;
  if (!dismiss(*team().processes).ok()) {
    std::fflush(stdout);
    ::_exit(exitStatus == 0 ? 1 : exitStatus);
  }
  team().processes.reset();
  return exitStatus;
}

Status RankLease::take(const Module &module, RankedModel &model) {
  Team &own = team();
  uint32_t wanted = module.ranks().count;
  if (wanted == 1 && !own.processes)
    return {};
  if (own.processes && own.processes->size() != wanted)
    return Status::error(
        Code::BadArgument,
        "the module is compiled for %" PRIu32 " rank%s, but mpirun has started "
        "%" PRIu32 "; 'gist-compile --ranks %" PRIu32 "' makes one for that",
        wanted, wanted == 1 ? "" : "s", own.processes->size(),
        own.processes->size());
  if (own.isLent)
    return Status::error(Code::Unsupported,
                         "only one module for several ranks can be open at a "
                         "time");
  if (!own.processes) {
    own.threadRanks = makeThreadRanks(wanted);
    for (uint32_t rank = 1; rank < wanted; ++rank)
      own.threads.emplace_back(
          [ranks = own.threadRanks[rank].get()] { (void)follow(*ranks).ok(); });
  }
  Communicator &ranks = own.processes ? *own.processes : *own.threadRanks[0];
  model.hash = module.header().hash;
  std::vector<uint8_t> message = toMessage(describe(model));
  GIST_TRY(broadcast(ranks, message, Patience::Bounded));
  chooseDevice(ranks, model);
  communicator = &ranks;
  own.isLent = true;
  return {};
}

Status RankLease::check() const {
  return communicator ? communicator->check() : Status();
}

RankLease::~RankLease() {
  if (!communicator)
    return;
  team().isLent = false;
  endThreads();
}
