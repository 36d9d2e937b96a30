//===- GraphFuzz.cpp - Random graphs through every pipeline ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs are numbered: the graph of a seed is the same everywhere, and
// `gist-graph-fuzz --print SEED` shows it. They are checked in copies of this
// process, some at a time, so that a crash costs one graph and what MLIR keeps
// for the life of a context is given back.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Registration.h"
#include "test/fuzz/CheckGraph.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gist;
using namespace gist::fuzz;

/// Graphs of one copy of the process.
static constexpr uint64_t kBatch = 100;
/// Seconds of processor time after which a graph counts as one that hangs.
static constexpr double kPatience = 120;
/// Seconds without a word, on a machine that does other things too.
static constexpr double kLongPatience = 1800;
/// Memory of a copy.
static constexpr rlim_t kMostBytes = rlim_t(8) << 30;

namespace {
struct Options {
  uint64_t seed = 1, count = 100;
  std::chrono::seconds seconds{0}; ///< 0: until all are done
  bool prints = false;
  CheckOptions check;
};

/// Counts, and prints what was found.
class Summary {
public:
  void add(uint64_t seed, Outcome outcome, const std::string &text) {
    ++counts[outcome];
    if (outcome == Outcome::Finding) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  text.c_str());
      std::fflush(stdout);
    } else if (outcome == Outcome::Refused) {
      ++refusals[text.substr(text.rfind(": ") + 2)];
    } else if (outcome == Outcome::Lowered || outcome == Outcome::Compiled) {
      ++targets[text];
    }
  }
  void print(uint64_t graphs) const {
    // What is compiled to assembly is lowered on the way.
    std::printf("%llu graphs verified: %llu lowered, %llu of them to assembly, "
                "%llu run, %llu simulated, %llu undecided, %llu refused, %llu "
                "findings\n",
                static_cast<unsigned long long>(graphs),
                get(Outcome::Lowered) + get(Outcome::Compiled),
                get(Outcome::Compiled), get(Outcome::Ran),
                get(Outcome::Simulated), get(Outcome::Undecided),
                get(Outcome::Refused), get(Outcome::Finding));
    for (const auto &[name, count] : targets)
      std::printf("  lowered %llu times for %s\n", count, name.c_str());
    for (const auto &[text, count] : refusals)
      std::printf("  refused %llu times: %s\n", count, text.c_str());
  }
  bool isClean() const { return get(Outcome::Finding) == 0; }

private:
  unsigned long long get(Outcome outcome) const {
    auto found = counts.find(outcome);
    return found == counts.end() ? 0 : found->second;
  }
  std::map<Outcome, unsigned long long> counts;
  std::map<std::string, unsigned long long> refusals, targets;
};
} // namespace

using Clock = std::chrono::steady_clock;

/// Checks graphs from `first` on and writes a line for each outcome: its letter
/// and its text. 'B' and a number say which graph is next, 'E' which one would
/// be.
static void runBatch(const Options &options, uint64_t first, uint64_t end,
                     Clock::time_point deadline, int pipe) {
  FILE *out = fdopen(pipe, "w");
  rlimit memory{kMostBytes, kMostBytes}, none{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &none);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  // The reference is translated here, and not by a pass that brings them.
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  uint64_t seed = first;
  for (; seed < end && Clock::now() < deadline; ++seed) {
    std::fprintf(out, "B%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(out);
    checkGraph(
        context, seed, options.check, [&](Outcome outcome, std::string text) {
          std::replace(text.begin(), text.end(), '\n', ' ');
          std::fprintf(out, "%c%s\n", static_cast<char>(outcome), text.c_str());
        });
    std::fflush(out);
  }
  std::fprintf(out, "E%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(out);
}

static double getSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Runs a batch in a copy of the process. Returns the first graph that it did
/// not come to.
static uint64_t checkBatch(const Options &options, uint64_t first, uint64_t end,
                           Clock::time_point deadline, Summary &summary) {
  int ends[2];
  if (pipe(ends) != 0) {
    std::perror("gist-graph-fuzz: pipe");
    std::exit(1);
  }
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    runBatch(options, first, end, deadline, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  uint64_t current = first;
  bool isDone = false, hangs = false;
  clockid_t own = CLOCK_MONOTONIC;
  clock_getcpuclockid(child, &own);
  double lastOwn = 0, lastWord = getSeconds(CLOCK_MONOTONIC);
  std::string line;
  char buffer[4096];
  while (true) {
    pollfd ready{ends[0], POLLIN, 0};
    if (poll(&ready, 1, 5000) == 0) {
      hangs = getSeconds(own) - lastOwn > kPatience ||
              getSeconds(CLOCK_MONOTONIC) - lastWord > kLongPatience;
      if (!hangs)
        continue;
      kill(child, SIGKILL);
      break;
    }
    lastOwn = getSeconds(own);
    lastWord = getSeconds(CLOCK_MONOTONIC);
    ssize_t bytes = read(ends[0], buffer, sizeof(buffer));
    if (bytes <= 0)
      break;
    for (char each : std::string(buffer, static_cast<size_t>(bytes))) {
      if (each != '\n') {
        line += each;
        continue;
      }
      if (line[0] == 'B' || line[0] == 'E') {
        current = std::strtoull(line.c_str() + 1, nullptr, 10);
        isDone = line[0] == 'E';
      } else {
        summary.add(current, static_cast<Outcome>(line[0]), line.substr(1));
      }
      line.clear();
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (isDone)
    return current;
  summary.add(current, Outcome::Finding,
              hangs ? "hangs"
                    : "died of signal " + std::to_string(WTERMSIG(status)));
  return current + 1;
}

static int printUsage() {
  std::fputs(
      "usage: gist-graph-fuzz [--seed N] [--count N] [--seconds N] [--print]\n"
      "         [--large-of N] [--all-of N] [--code-of N] [--run-of N]\n"
      "         [--simulate-of N --simulator LIB]\n"
      "Checks the graphs of COUNT seeds from SEED on, each on the next of the\n"
      "targets: one of N is lowered for all of them, compiled to assembly, "
      "run\n"
      "on this CPU, or run on the simulator. One layer of N (10) is one of "
      "those\n"
      "that become much code; with another N a seed is another graph.\n",
      stderr);
  return 2;
}

static bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--print") {
      options.prints = true;
      continue;
    }
    if (++i == argc)
      return false;
    if (name == "--simulator") {
      options.check.simulator = argv[i];
      continue;
    }
    char *end = nullptr;
    errno = 0;
    uint64_t number = std::strtoull(argv[i], &end, 10);
    if (*argv[i] == '\0' || *end != '\0' || errno != 0)
      return false;
    if (name == "--seed")
      options.seed = number;
    else if (name == "--count")
      options.count = number;
    else if (name == "--seconds")
      options.seconds = std::chrono::seconds(number);
    else if (name == "--large-of" && number != 0)
      options.check.largeOf = number;
    else if (name == "--all-of")
      options.check.allOf = number;
    else if (name == "--code-of")
      options.check.codeOf = number;
    else if (name == "--run-of")
      options.check.runOf = number;
    else if (name == "--simulate-of")
      options.check.simulateOf = number;
    else
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options))
    return printUsage();
  if (options.prints) {
    std::fputs(
        writeRandomGraph(options.seed, options.check.largeOf).text.c_str(),
        stdout);
    return 0;
  }
  char folder[] = "/tmp/gist-graph-fuzz-XXXXXX";
  if (!mkdtemp(folder)) {
    std::perror("gist-graph-fuzz: mkdtemp");
    return 1;
  }
  options.check.folder = folder;
  Summary summary;
  Clock::time_point deadline = options.seconds.count() == 0
                                   ? Clock::time_point::max()
                                   : Clock::now() + options.seconds;
  uint64_t next = options.seed, end = options.seed + options.count;
  while (next < end && Clock::now() < deadline)
    next = checkBatch(options, next, std::min(end, next + kBatch), deadline,
                      summary);
  std::filesystem::remove_all(folder);
  summary.print(next - options.seed);
  return summary.isClean() ? 0 : 1;
}
