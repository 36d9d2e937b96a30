//===- Metrics.h - Metrics for monitoring -----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counters, levels and histograms in the text format of Prometheus. Any thread
// may count.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_METRICS_H
#define GIST_TOOLS_SERVING_METRICS_H

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace gist::serve {

class Metrics {
public:
  enum class Counter {
    PromptTokens,
    WrittenTokens,
    PrefixTokens,
    DraftedTokens,
    AcceptedTokens,
    Cancelled,
    Refused,
    TimedOut,
    DeviceErrors,
    NumCounters
  };
  enum class Level { Waiting, Running, Connections, StateBytes, NumLevels };
  enum class Time { FirstToken, BetweenTokens, Request, Step, NumTimes };

  void count(Counter what, uint64_t by = 1);
  void set(Level what, double value);
  void observe(Time what, double seconds);
  /// One answer to a request; `path` is one of ours.
  void countRequest(std::string_view path, int status);

  /// The page of /metrics.
  std::string text() const;

private:
  /// Upper ends of a histogram's buckets, in seconds.
  static constexpr std::array kEnds = {0.001, 0.0025, 0.005, 0.01, 0.025,
                                       0.05,  0.1,    0.25,  0.5,  1.0,
                                       2.5,   5.0,    10.0,  30.0, 60.0};
  struct Histogram {
    std::array<uint64_t, kEnds.size() + 1> counts = {};
    double sum = 0;
  };

  mutable std::mutex mutex;
  std::array<uint64_t, static_cast<size_t>(Counter::NumCounters)> counters = {};
  std::array<double, static_cast<size_t>(Level::NumLevels)> levels = {};
  std::array<Histogram, static_cast<size_t>(Time::NumTimes)> times = {};
  std::map<std::pair<std::string, int>, uint64_t> requests;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_METRICS_H
