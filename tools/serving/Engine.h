//===- Engine.h - One thread that computes for all --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads of connections submit jobs and wait for their events; the engine's
// own thread owns the models and the device. It goes round: one step of every
// model that has something to do, then what arrived in the meantime. A step
// reads a bounded piece of prompts, so no sequence waits long for a token.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_ENGINE_H
#define GIST_TOOLS_SERVING_ENGINE_H

#include "tools/serving/Answer.h"
#include "tools/serving/FairQueue.h"
#include "tools/serving/Metrics.h"
#include "tools/serving/Models.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace gist::serve {

using Clock = std::chrono::steady_clock;

/// What is to be computed: an answer, or embeddings.
struct Job {
  size_t model = 0;
  std::string client; ///< for fair queueing
  Clock::time_point deadline = Clock::time_point::max();

  PoolRequest request = {}; ///< the model's end tokens are added
  std::vector<std::string> stops = {};
  bool continuesText = false;

  /// Tokens of texts to embed; not empty: this is all.
  std::vector<std::vector<int32_t>> texts = {};
};

/// Why a job ended without being done.
enum class Failure {
  None,
  Rejected, ///< the request cannot be computed
  TimedOut,
  Stopped, ///< the server ends
  Broken,  ///< a device failed
};

/// Something happened to a job.
struct Event {
  size_t job = 0;     ///< of those that were submitted together
  int32_t token = -1; ///< -1: no token, only text that had been held back
  std::string text;   ///< certain now; may be empty
  TokenLogprobs logprobs = {};
  bool isEnd = false; ///< the token ends the answer and has no text
  std::vector<TokenLogprobs> prompt = {}; ///< of prompt tokens, in order
  std::vector<float> embedding = {};      ///< of the next text

  bool finished = false; ///< the last event
  FinishReason reason = FinishReason::MaxTokens;
  Failure failure = Failure::None;
  std::string why = {}; ///< of a failure
};

/// The events of jobs that belong together, from the engine's thread to the one
/// that waits.
class Ticket {
public:
  /// The next event, or false when none comes within `patience`.
  bool wait(Event &event, std::chrono::milliseconds patience);

  /// The client does not wait any more.
  void cancel() { cancelled = true; }
  bool isCancelled() const { return cancelled; }

  void push(Event event);

private:
  std::atomic<bool> cancelled = false;
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Event> events;
};

/// What became of a submission.
enum class Admission { Accepted, Full, Draining };

class Engine {
public:
  struct Limits {
    size_t waiting = 256; ///< jobs that wait at most, of all models
  };

  /// The thread starts. `metrics` outlives this.
  Engine(std::vector<std::unique_ptr<Model>> models, Limits limits,
         Metrics &metrics);
  /// Ends everything at once.
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  const std::vector<std::unique_ptr<Model>> &models() const { return served; }

  Admission submit(Job job, std::shared_ptr<Ticket> &ticket);
  /// Several that belong together: all or none of them.
  Admission submit(std::vector<Job> jobs, std::shared_ptr<Ticket> &ticket);

  /// Seconds after which a client that was refused may come again.
  int retryAfter() const;

  /// Takes no new jobs.
  void drain() { draining = true; }
  bool isDraining() const { return draining; }
  /// Nothing waits and nothing runs.
  bool isIdle() const { return unfinished == 0; }
  /// Ends what waits and runs; its events say so.
  void stopAll();

private:
  /// A job and where its events go.
  struct Entry {
    Job job;
    std::shared_ptr<Ticket> ticket;
    size_t number = 0; ///< among the jobs of the ticket
    Clock::time_point submitted;
  };
  /// A job that has begun.
  struct Running {
    Entry entry;
    Answer answer;
    std::optional<Clock::time_point> lastToken;
  };
  /// One model's share of the work; of the engine's thread alone.
  struct Lane {
    FairQueue<Entry> waiting;
    std::map<SequenceId, Running> running;
    /// Texts are embedded one a step; the number of the next.
    std::optional<Entry> embedding;
    size_t nextText = 0;
    bool mayAdmit = true; ///< room may have become free
  };

  void work();
  bool takeNew();
  void step(Model &model, Lane &lane);
  void dropOver(Model &model, Lane &lane);
  void admit(Model &model, Lane &lane);
  void embedNext(Model &model, Lane &lane);
  void runPool(Model &model, Lane &lane);
  void handle(Model &model, Lane &lane, PoolEvent &event);
  void failAll(Model &model, Lane &lane, Failure failure,
               const std::string &why);
  void tell(const Entry &entry, Event event);
  void finish(Entry &entry, Event event);
  bool isOver(Entry &entry, Clock::time_point now);
  void publish();

  std::vector<std::unique_ptr<Model>> served;
  Limits limits;
  Metrics &metrics;
  std::vector<Lane> lanes; ///< one for each model

  std::mutex mutex; ///< of `arrived`
  std::condition_variable news;
  std::deque<Entry> arrived;
  std::atomic<size_t> unfinished = 0, waitingCount = 0;
  std::atomic<size_t> runningCount = 0;
  std::atomic<double> meanSeconds = 1; ///< of jobs that ended lately
  std::atomic<bool> draining = false, stopping = false, ending = false;
  std::thread thread;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_ENGINE_H
