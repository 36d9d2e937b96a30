//===- Metrics.cpp - Metrics for monitoring -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Metrics.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <unistd.h>

using namespace gist::serve;

namespace {
struct Name {
  const char *name, *help;
};
} // namespace

// In the order of the enumerations.
static constexpr Name kCounters[] = {
    {"gist_prompt_tokens_total", "Tokens of prompts that were computed."},
    {"gist_written_tokens_total", "Tokens that were written."},
    {"gist_prefix_tokens_total",
     "Tokens of prompts that were taken over from an earlier sequence."},
    {"gist_drafted_tokens_total", "Tokens that were guessed."},
    {"gist_accepted_tokens_total", "Guessed tokens that were right."},
    {"gist_cancelled_total", "Requests whose client went away."},
    {"gist_refused_total", "Requests that a full queue refused."},
    {"gist_timed_out_total", "Requests that took longer than they may."},
    {"gist_device_errors_total", "Steps that a device failed."},
};
static constexpr Name kLevels[] = {
    {"gist_waiting", "Requests that wait for their turn."},
    {"gist_running", "Sequences that are read or written now."},
    {"gist_connections", "Open connections."},
    {"gist_state_bytes", "Memory reserved for the state of sequences."},
};
static constexpr Name kTimes[] = {
    {"gist_first_token_seconds", "From a request to its first token."},
    {"gist_between_tokens_seconds", "From one token to the next."},
    {"gist_request_seconds", "From a request to the end of its answer."},
    {"gist_step_seconds", "One step of all sequences of a model."},
};

void Metrics::count(Counter what, uint64_t by) {
  std::lock_guard lock(mutex);
  counters[static_cast<size_t>(what)] += by;
}

void Metrics::set(Level what, double value) {
  std::lock_guard lock(mutex);
  levels[static_cast<size_t>(what)] = value;
}

void Metrics::observe(Time what, double seconds) {
  size_t bucket = static_cast<size_t>(
      std::lower_bound(kEnds.begin(), kEnds.end(), seconds) - kEnds.begin());
  std::lock_guard lock(mutex);
  Histogram &histogram = times[static_cast<size_t>(what)];
  ++histogram.counts[bucket];
  histogram.sum += seconds;
}

void Metrics::countRequest(std::string_view path, int status) {
  std::lock_guard lock(mutex);
  ++requests[{std::string(path), status}];
}

static void addHead(std::string &text, const Name &name, const char *type) {
  text += std::string("# HELP ") + name.name + " " + name.help + "\n# TYPE " +
          name.name + " " + type + "\n";
}

static void addLine(std::string &text, const std::string &name, double value) {
  char number[40];
  std::snprintf(number, sizeof number, " %.10g\n", value);
  text += name + number;
}

/// Memory of this process that is in RAM, in bytes.
static double residentBytes() {
  unsigned long long all = 0, resident = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu %llu", &all, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) *
         static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::string Metrics::text() const {
  std::lock_guard lock(mutex);
  std::string text;
  addHead(text, {"gist_requests_total", "Answers by path and status."},
          "counter");
  for (const auto &[key, value] : requests)
    addLine(text,
            "gist_requests_total{path=\"" + key.first + "\",status=\"" +
                std::to_string(key.second) + "\"}",
            static_cast<double>(value));
  for (size_t i = 0; i < counters.size(); ++i) {
    addHead(text, kCounters[i], "counter");
    addLine(text, kCounters[i].name, static_cast<double>(counters[i]));
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    addHead(text, kLevels[i], "gauge");
    addLine(text, kLevels[i].name, levels[i]);
  }
  for (size_t i = 0; i < times.size(); ++i) {
    addHead(text, kTimes[i], "histogram");
    std::string name = kTimes[i].name;
    uint64_t sum = 0;
    for (size_t j = 0; j < kEnds.size(); ++j) {
      sum += times[i].counts[j];
      char end[24];
      std::snprintf(end, sizeof end, "%g", kEnds[j]);
      addLine(text, name + "_bucket{le=\"" + end + "\"}",
              static_cast<double>(sum));
    }
    sum += times[i].counts[kEnds.size()];
    addLine(text, name + "_bucket{le=\"+Inf\"}", static_cast<double>(sum));
    addLine(text, name + "_sum", times[i].sum);
    addLine(text, name + "_count", static_cast<double>(sum));
  }
  addHead(text, {"process_resident_memory_bytes", "Memory that is in RAM."},
          "gauge");
  addLine(text, "process_resident_memory_bytes", residentBytes());
  return text;
}
