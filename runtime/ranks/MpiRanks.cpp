//===- MpiRanks.cpp - Ranks that mpirun has started -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Open MPI, found by name when it is asked for: neither its headers nor its
// library are needed to build. Handles are addresses in its library, as its ABI
// guarantees. No call blocks: waiting loops also check the lifeline.
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/MpiRanks.h"
#include "runtime/ranks/Lifeline.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace gist;
using Clock = std::chrono::steady_clock;

namespace {
/// What is used of MPI. Communicators, types and requests are pointers.
struct MpiFunctions {
  using Handle = void *;
  int (*Init_thread)(int *, char ***, int, int *) = nullptr;
  int (*Finalize)() = nullptr;
  int (*Comm_rank)(Handle, int *) = nullptr;
  int (*Comm_size)(Handle, int *) = nullptr;
  int (*Bcast)(void *, int, Handle, int, Handle) = nullptr;
  int (*Isend)(const void *, int, Handle, int, int, Handle, Handle *) = nullptr;
  int (*Irecv)(void *, int, Handle, int, int, Handle, Handle *) = nullptr;
  int (*Test)(Handle *, int *, void *) = nullptr;
  int (*Testall)(int, Handle *, int *, void *) = nullptr;
  int (*Error_string)(int, char *, int *) = nullptr;
  int (*Comm_set_errhandler)(Handle, Handle) = nullptr;
  Handle world = nullptr, bytes = nullptr, errorsReturn = nullptr;
};
constexpr int kThreadSerialized = 2; ///< MPI_THREAD_SERIALIZED
constexpr int kTag = 20;
/// A poll takes this long only where another process had the core meanwhile.
constexpr std::chrono::milliseconds kSlice(1);
constexpr std::chrono::seconds kCrowded(1);

class MpiRanks final : public Communicator {
public:
  explicit MpiRanks(const MpiOptions &options)
      : Communicator(options.communicator), options(options) {}
  ~MpiRanks() override {
    bool hasFailed = !lifeline || lifeline->hasFailed();
    // Finalize waits for all ranks. After a failure one is missing.
    if (isOpen && !hasFailed)
      mpi.Finalize();
    lifeline.reset();
  }

  Status open();

  uint32_t rank() const override { return number; }
  uint32_t size() const override { return count; }
  uint32_t localRank() const override { return local; }
  uint32_t localSize() const override { return localCount; }

  Status exchange(std::span<const Bytes> to, std::span<const Window> from,
                  Patience patience) override;
  Status check() const override {
    return lifeline->hasFailed() ? lifeline->failure() : Status();
  }
  void fail(const Status &why) override { lifeline->report(why.text); }

private:
  Status load();
  Status check(int code, const char *what) const;
  Status wait(Patience patience);
  /// Says which rank has not come.
  Status timeOut(Clock::time_point begin);

  MpiOptions options;
  MpiFunctions mpi;
  std::unique_ptr<Lifeline> lifeline;
  std::vector<void *> requests;
  std::vector<uint32_t> peerOf;    ///< for each request
  std::atomic<uint64_t> looks = 0; ///< polls of a waiting thread
  /// Until then other processes are taken to want this core.
  Clock::time_point crowdedUntil;
  bool isOpen = false;
  uint32_t number = 0, count = 1, local = 0, localCount = 1;
};
} // namespace

/// A number in the environment of a process that mpirun started; -1: none.
static int64_t numberOf(const char *name) {
  const char *text = std::getenv(name);
  if (!text || *text == '\0')
    return -1;
  char *end = nullptr;
  long long value = std::strtoll(text, &end, 10);
  return *end == '\0' && value >= 0 && value <= INT_MAX ? value : -1;
}

bool gist::isUnderMpi() { return numberOf("OMPI_COMM_WORLD_SIZE") > 1; }

Status MpiRanks::load() {
  std::vector<std::string> names = {"libmpi.so.40", "libmpi.so"};
  if (!options.library.empty())
    names = {options.library};
  void *library = nullptr;
  std::string tried;
  for (const std::string &name : names) {
    // Global: what MPI opens itself looks for its functions there. Never
    // closed: it leaves threads and handlers behind.
    if ((library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)))
      break;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  if (!library)
    return Status::error(Code::NotFound,
                         "mpirun has started this process, but Open MPI's "
                         "library was not found; looked for: %s",
                         tried.c_str());
  std::string missing;
  auto find = [&](auto &place, const char *name) {
    void *symbol = ::dlsym(library, name);
    if (!symbol && missing.empty())
      missing = name;
    place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(symbol);
  };
  find(mpi.Init_thread, "MPI_Init_thread");
  find(mpi.Finalize, "MPI_Finalize");
  find(mpi.Comm_rank, "MPI_Comm_rank");
  find(mpi.Comm_size, "MPI_Comm_size");
  find(mpi.Bcast, "MPI_Bcast");
  find(mpi.Isend, "MPI_Isend");
  find(mpi.Irecv, "MPI_Irecv");
  find(mpi.Test, "MPI_Test");
  find(mpi.Testall, "MPI_Testall");
  find(mpi.Error_string, "MPI_Error_string");
  find(mpi.Comm_set_errhandler, "MPI_Comm_set_errhandler");
  // Open MPI only; in other libraries these are numbers.
  find(mpi.world, "ompi_mpi_comm_world");
  find(mpi.bytes, "ompi_mpi_byte");
  find(mpi.errorsReturn, "ompi_mpi_errors_return");
  if (!missing.empty())
    return Status::error(Code::Unsupported,
                         "the MPI library has no '%s'; expected Open MPI 4 or "
                         "newer",
                         missing.c_str());
  return {};
}

Status MpiRanks::check(int code, const char *what) const {
  if (code == 0)
    return {};
  char text[512] = "";
  int length = 0;
  mpi.Error_string(code, text, &length);
  return Status::error(Code::Io, "MPI: %s: %s", what, text);
}

Status MpiRanks::open() {
  GIST_TRY(load());
  int provided = 0, own = 0, all = 0;
  GIST_TRY(
      check(mpi.Init_thread(nullptr, nullptr, kThreadSerialized, &provided),
            "cannot begin"));
  isOpen = true;
  GIST_TRY(check(mpi.Comm_set_errhandler(mpi.world, mpi.errorsReturn),
                 "cannot set how errors are reported"));
  GIST_TRY(check(mpi.Comm_rank(mpi.world, &own), "has no rank"));
  GIST_TRY(check(mpi.Comm_size(mpi.world, &all), "has no size"));
  number = static_cast<uint32_t>(own);
  count = static_cast<uint32_t>(all);
  local = static_cast<uint32_t>(
      std::max<int64_t>(numberOf("OMPI_COMM_WORLD_LOCAL_RANK"), 0));
  localCount = static_cast<uint32_t>(
      std::max<int64_t>(numberOf("OMPI_COMM_WORLD_LOCAL_SIZE"), 1));

  Meeting meeting;
  if (number == 0)
    GIST_TRY(Lifeline::open(count, localCount == count, meeting, lifeline));
  GIST_TRY(check(mpi.Bcast(&meeting, sizeof meeting, mpi.bytes, 0, mpi.world),
                 "cannot send where rank 0 is"));
  GIST_TRY(number == 0 ? lifeline->accept()
                       : Lifeline::connect(number, meeting, lifeline));
  lifeline->start(options.onFailure, &work);
  return {};
}

Status MpiRanks::timeOut(Clock::time_point begin) {
  auto waited =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
  uint32_t missing = peerOf.front();
  for (size_t i = 0; i < requests.size(); ++i) {
    int isDone = 0;
    GIST_TRY(check(mpi.Test(&requests[i], &isDone, /*status=*/nullptr),
                   "cannot send or receive"));
    if (!isDone) {
      missing = peerOf[i];
      break;
    }
  }
  Status status =
      Status::error(Code::Io, "rank %u has not come to rank %u for %lld s",
                    missing, number, static_cast<long long>(waited.count()));
  lifeline->report(status.text);
  return status;
}

Status MpiRanks::wait(Patience patience) {
  using std::chrono::microseconds;
  Clock::time_point begin = Clock::now();
  // A waiting rank makes progress as long as it polls.
  WorkWatch::Scope scope(
      work, [this] { return looks.load(std::memory_order_relaxed); },
      kStandstill);
  // Between two tokens the other ranks wait for rank 0 only: not worth sleeping
  // yet.
  microseconds awake(patience == Patience::Endless ? 20000 : 5000);
  Clock::time_point last = begin;
  for (unsigned tries = 0;; ++tries) {
    int isDone = 0;
    GIST_TRY(check(mpi.Testall(static_cast<int>(requests.size()),
                               requests.data(), &isDone, /*statuses=*/nullptr),
                   "cannot send or receive"));
    if (isDone)
      return {};
    looks.fetch_add(1, std::memory_order_relaxed);
    Clock::time_point now = Clock::now();
    if (now - last > kSlice)
      crowdedUntil = now + kCrowded;
    last = now;
    bool isCrowded = now < crowdedUntil;
    if (tries < 100 && !isCrowded)
      continue;
    if (lifeline->hasFailed())
      return lifeline->failure();
    Clock::duration waited = now - begin;
    if (patience == Patience::Bounded && waited > limits.timeout)
      return timeOut(begin);
    // Other ranks may need this core. A process that yields waits for a whole
    // slice of each other one; one that sleeps comes before them when it wakes.
    if (waited >= awake)
      std::this_thread::sleep_for(microseconds(200));
    else if (isCrowded)
      std::this_thread::sleep_for(microseconds(20));
    else
      ::sched_yield();
  }
}

Status MpiRanks::exchange(std::span<const Bytes> to,
                          std::span<const Window> from, Patience patience) {
  if (lifeline->hasFailed())
    return lifeline->failure();
  requests.clear();
  peerOf.clear();
  for (uint32_t other = 0; other < count; ++other) {
    if (to[other].size > INT_MAX || from[other].size > INT_MAX)
      return Status::error(Code::Unsupported,
                           "a message between ranks has more than 2 GiB");
    int peer = static_cast<int>(other);
    peerOf.insert(peerOf.end(), (from[other].size != 0) + (to[other].size != 0),
                  other);
    if (from[other].size != 0)
      GIST_TRY(
          check(mpi.Irecv(from[other].data, static_cast<int>(from[other].size),
                          mpi.bytes, peer, kTag, mpi.world,
                          &requests.emplace_back(nullptr)),
                "cannot receive"));
    if (to[other].size != 0)
      GIST_TRY(check(mpi.Isend(to[other].data, static_cast<int>(to[other].size),
                               mpi.bytes, peer, kTag, mpi.world,
                               &requests.emplace_back(nullptr)),
                     "cannot send"));
  }
  return wait(patience);
}

Status gist::openMpiRanks(const MpiOptions &options,
                          std::unique_ptr<Communicator> &result) {
  auto ranks = std::make_unique<MpiRanks>(options);
  GIST_TRY(ranks->open());
  result = std::move(ranks);
  return {};
}
