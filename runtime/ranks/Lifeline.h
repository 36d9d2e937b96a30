//===- Lifeline.h - Which ranks are still alive -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A connection from rank 0 to every other rank, beside the one that carries
// data: MPI does not report that a process is gone, and its calls do not return
// then. A thread of each rank sends a heartbeat a few times a second. A process
// that ends closes its connection, which the other end sees at once. The same
// thread checks whether its own rank makes progress, and tells the others if it
// does not.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_RANKS_LIFELINE_H
#define GIST_RUNTIME_RANKS_LIFELINE_H

#include "runtime/ranks/WorkWatch.h"
#include "runtime/support/Status.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gist {

/// The address at which rank 0 waits for the others; plain bytes, sent as they
/// are.
struct Meeting {
  static constexpr size_t kMostAddresses = 8;
  std::array<uint32_t, kMostAddresses> addresses = {}; ///< IPv4; 0: none
  uint16_t port = 0;
  /// A connection without it is refused.
  std::array<uint64_t, 2> secret = {};
};

class Lifeline {
public:
  ~Lifeline();

  /// On rank 0: opens the address for the others. `isLocal`: all of them are on
  /// this machine, and others cannot connect.
  static Status open(uint32_t size, bool isLocal, Meeting &meeting,
                     std::unique_ptr<Lifeline> &result);
  /// On rank 0: waits until all have connected.
  Status accept();
  /// On every other rank.
  static Status connect(uint32_t rank, const Meeting &meeting,
                        std::unique_ptr<Lifeline> &result);

  /// Called once, by the thread that watches, when another rank has failed or
  /// this one hangs. `speaks` is true on one rank: rank 0, or the next one
  /// where that is gone.
  using OnFailure = std::function<void(const std::string &why, bool speaks)>;

  /// Begins to watch. `work` is what this rank is at; it must outlive the line.
  void start(OnFailure onFailure = {}, WorkWatch *work = nullptr);

  /// Whether a rank is gone, silent or has reported that it cannot go on.
  bool hasFailed() const { return isFailed.load(std::memory_order_acquire); }
  /// The error message of that.
  Status failure() const;

  /// Says that this rank cannot go on.
  void report(const std::string &why);

private:
  struct Peer {
    uint32_t rank = 0;
    int socket = -1;
    std::vector<uint8_t> unread; ///< of a frame that is not whole yet
    std::chrono::steady_clock::time_point heard;
    bool isOver = false; ///< has said that it ends
  };
  /// What is sent.
  enum class Kind : uint8_t { Alive = 0, Over = 1, Failed = 2 };

  explicit Lifeline(uint32_t rank) : rank(rank) {}
  void watch();
  void readFrom(Peer &peer);
  void takeFrames(Peer &peer);
  void send(Peer &peer, Kind kind, uint32_t about, const std::string &text);
  /// Notes the first failure, and on rank 0 tells the others. `isNews`: no
  /// other rank has said it.
  void note(uint32_t about, const std::string &text, bool isNews = true);
  /// Whether this rank hangs; the others then learn of it.
  void checkWork();

  uint32_t rank;
  int listener = -1;
  Meeting place;
  std::vector<Peer> peers;
  std::atomic<bool> isFailed = false, isEnding = false;
  mutable std::mutex mutex; ///< of `sentence` and of sending
  std::string sentence;
  bool wasStopped = false; ///< so long that the others noticed
  OnFailure onFailure;
  WorkWatch *work = nullptr;
  std::thread watcher;
};

} // namespace gist

#endif // GIST_RUNTIME_RANKS_LIFELINE_H
