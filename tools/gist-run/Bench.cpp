//===- Bench.cpp - gist-run bench -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run bench`: tokens per second of prefill (pp) and decode (tg), under
// the names and in the table that llama.cpp's llama-bench uses, so that numbers
// of both can be put side by side.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/BenchDrafts.h"
#include "tools/gist-run/BenchStreams.h"
#include "tools/gist-run/Commands.h"
#include "tools/running/Compiler.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <random>

using namespace gist;
using namespace gist::run;

namespace {
/// Counts are tokens; several make several tests.
struct Options {
  ModelOptions model;
  std::string text;
  std::vector<int64_t> prefill = {512}, decode = {128}, depths = {0};
  std::vector<std::string> tests;
  int64_t repetitions = 5;
  bool noWarmup = false;
  double seconds = 0;
  std::string format = "text";
  bool randomWeights = false;
  std::string compiler;
  std::vector<int64_t> streams;
  bool fastAlone = false;
  DraftOptions draft;
};

/// What is timed: `tokens` at once or one after the other, after `depth`.
struct Test {
  bool oneByOne = false;
  int64_t tokens = 0, depth = 0;
};

/// One test and the time of each of its runs. Rates are averaged, not times, as
/// llama-bench does.
struct Row {
  /// "pp512", "tg64 @ d2048".
  std::string test;
  int64_t tokens = 0, depth = 0;
  std::vector<double> seconds;

  double mean() const { return average(rates()); }
  double deviation() const {
    // The deviation of a sample: divided by one less than the count.
    std::vector<double> all = rates();
    double center = average(all), sum = 0;
    for (double rate : all)
      sum += (rate - center) * (rate - center);
    return all.size() > 1 ? std::sqrt(sum / static_cast<double>(all.size() - 1))
                          : 0;
  }

  std::vector<double> rates() const {
    std::vector<double> all;
    all.reserve(seconds.size());
    for (double time : seconds)
      all.push_back(static_cast<double>(tokens) / time);
    return all;
  }

private:
  static double average(const std::vector<double> &values) {
    double sum = 0;
    for (double value : values)
      sum += value;
    return sum / static_cast<double>(values.size());
  }
};
} // namespace

/// The least context of a module made for streams, in tokens.
static constexpr int64_t kStreamContext = 1024;

/// Tokens all over the vocabulary, the same in every run.
static std::vector<int32_t> someTokens(const Module &module, size_t count) {
  std::mt19937 random(1); // NOLINT(bugprone-random-generator-seed)
  std::vector<int32_t> tokens(count);
  // A module that does not say how many tokens it knows gets token 0.
  auto vocab = static_cast<uint32_t>(
      std::max<int64_t>(module.spec().model.vocabSize, 1));
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocab);
  return tokens;
}

/// Makes `before` all that the session has seen. All inputs of the session
/// begin with the same tokens, so rewinding may suffice.
static Status prepare(Session &session, std::span<const int32_t> before) {
  auto depth = static_cast<int64_t>(before.size());
  // Rewinding is much cheaper than reading `before` again. It fails where a
  // module's state is more than rows by position.
  if (depth != 0 && session.position() >= depth && session.rewind(depth).ok())
    return {};
  GIST_TRY(session.reset());
  return before.empty() ? Status() : session.feed(before);
}

/// One measurement: `tokens` at once, or one after the other.
static Status measure(Session &session, std::span<const int32_t> tokens,
                      std::span<const int32_t> before, bool oneByOne,
                      double &seconds) {
  GIST_TRY(prepare(session, before));
  // As texts are made: with the choice of the token that follows.
  Sampler greedy;
  GIST_TRY(Sampler::create({}, greedy));
  int32_t chosen = 0;
  int64_t start = Profile::now();
  // The same calls as gist-run generate makes, so that what is measured is what
  // a user gets.
  if (!oneByOne)
    GIST_TRY(session.next(tokens, greedy, chosen));
  else
    for (size_t i = 0; i < tokens.size(); ++i)
      GIST_TRY(session.next(tokens.subspan(i, 1), greedy, chosen));
  seconds = static_cast<double>(Profile::now() - start) / 1e9;
  return {};
}

/// The first `count` tokens of a text.
static Status tokensOf(const Runner &runner, const std::string &path,
                       size_t count, std::vector<int32_t> &tokens) {
  std::string text;
  GIST_TRY(readText(path, text));
  // What looks like a special token in a text stays text.
  runner.tokenizer.encode(text, tokens,
                          {.addSpecial = true, .parseSpecial = false});
  if (tokens.size() < count)
    return Status::error(Code::BadArgument,
                         "%s: the text has %zu tokens, but the tests take %zu",
                         path.c_str(), tokens.size(), count);
  tokens.resize(count);
  return {};
}

/// `all` are tokens enough for the longest test.
static Status runTest(Runner &runner, std::span<const int32_t> all,
                      const Test &test, const Options &options, Row &row) {
  auto [oneByOne, tokens, depth] = test;
  row.test = (oneByOne ? "tg" : "pp") + std::to_string(tokens);
  if (depth != 0)
    row.test += " @ d" + std::to_string(depth);
  row.tokens = tokens;
  row.depth = depth;
  auto before = all.first(static_cast<size_t>(depth));
  auto timed = all.subspan(before.size(), static_cast<size_t>(tokens));
  int64_t start = Profile::now();
  // At least one run counts, however long it took.
  auto isLate = [&] {
    return options.seconds > 0 && !row.seconds.empty() &&
           static_cast<double>(Profile::now() - start) / 1e9 > options.seconds;
  };
  // The first run brings weights into memory and is not counted.
  for (int64_t i = options.noWarmup ? 0 : -1;
       i < options.repetitions && !isLate(); ++i) {
    double seconds = 0;
    GIST_TRY(measure(*runner.session, timed, before, oneByOne, seconds)
                 .in(row.test));
    if (i >= 0)
      row.seconds.push_back(seconds);
  }
  return {};
}

/// Bytes of the module, with those of weights that are not in it.
/// Random weights are in no file, but count as they do in memory.
static uint64_t modelSize(const Module &module) {
  uint64_t size = module.header().fileSize;
  for (const WeightSpec &weight : module.spec().weights)
    if (weight.random)
      size += weight.size;
  return size;
}

/// A Markdown table, so that it can be pasted into a report as it is.
static void printText(const Runner &runner, const std::vector<Row> &rows) {
  const ModelInfo &model = runner.module->spec().model;
  DeviceInfo device = runner.device->info();
  std::string name = model.name.empty() ? model.architecture : model.name;
  std::printf("| %-28s | %10s | %-6s | %7s | %16s | %20s |\n", "model", "size",
              "device", "threads", "test", "tokens/s");
  std::printf("| %s | %s: | %s | %s: | %s: | %s: |\n",
              std::string(28, '-').c_str(), std::string(9, '-').c_str(),
              std::string(6, '-').c_str(), std::string(6, '-').c_str(),
              std::string(15, '-').c_str(), std::string(19, '-').c_str());
  for (const Row &row : rows)
    std::printf("| %-28s | %10s | %-6s | %7u | %16s | %10.2f +- %6.2f |\n",
                name.c_str(), sizeText(modelSize(*runner.module)).c_str(),
                device.kind.c_str(), device.parallelism, row.test.c_str(),
                row.mean(), row.deviation());
}

/// One line for each test, for spreadsheets.
static void printCsv(const Runner &runner, const std::vector<Row> &rows) {
  DeviceInfo device = runner.device->info();
  std::printf("device,threads,test,tokens,depth,repetitions,tokens_per_second,"
              "deviation\n");
  for (const Row &row : rows)
    std::printf("%s,%u,%s,%lld,%lld,%zu,%.4f,%.4f\n", device.kind.c_str(),
                device.parallelism, row.test.c_str(),
                static_cast<long long>(row.tokens),
                static_cast<long long>(row.depth), row.seconds.size(),
                row.mean(), row.deviation());
}

/// Also says how large things are, so that a speed can be put beside the memory
/// it takes.
static void printJson(const Runner &runner, const Options &options,
                      const std::vector<Row> &rows) {
  DeviceInfo device = runner.device->info();
  MemoryUse use = runner.session->memoryUse();
  // All single times are printed, so that a program can compute what it wants
  // of them.
  nlohmann::json tests = nlohmann::json::array();
  for (const Row &row : rows)
    tests.push_back({{"test", row.test},
                     {"tokens", row.tokens},
                     {"depth", row.depth},
                     {"seconds", row.seconds},
                     {"tokens_per_second", row.mean()},
                     {"deviation", row.deviation()}});
  nlohmann::json json = {{"module", options.model.path},
                         {"model", runner.module->spec().model.name},
                         {"file_bytes", runner.module->header().fileSize},
                         {"target", runner.session->target().name},
                         {"device", device.kind},
                         {"device_name", device.name},
                         {"threads", device.parallelism},
                         {"load_seconds", runner.loadSeconds},
                         {"state_bytes", use.state},
                         {"weight_bytes", weightBytesOfToken(*runner.module)},
                         {"scratch_bytes", use.arena},
                         {"peak_resident_bytes", peakMemory()},
                         {"tests", tests}};
  // A model's name may not be UTF-8; the bytes are replaced, because dump would
  // throw.
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                  .c_str());
}

/// "pp512", "tg64@8000".
static bool parseTest(const std::string &text, Test &test) {
  // Also keeps the sum of tokens and depth far from overflow.
  constexpr int64_t kMost = int64_t{1} << 24;
  test.oneByOne = text.starts_with("tg");
  if (!test.oneByOne && !text.starts_with("pp"))
    return false;
  const char *end = text.data() + text.size();
  std::from_chars_result read =
      std::from_chars(text.data() + 2, end, test.tokens);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '@')
    read = std::from_chars(read.ptr + 1, end, test.depth);
  return read.ec == std::errc() && read.ptr == end && test.tokens > 0 &&
         test.tokens <= kMost && test.depth >= 0 && test.depth <= kMost;
}

/// The tests of --tests, or all that the other options name.
static std::vector<Test> listTests(const Options &options) {
  std::vector<Test> tests;
  for (const std::string &text : options.tests)
    parseTest(text, tests.emplace_back());
  if (!tests.empty())
    return tests;
  for (int64_t depth : options.depths)
    // llama-bench lists prompts before single tokens.
    for (bool oneByOne : {false, true})
      for (int64_t count : oneByOne ? options.decode : options.prefill)
        if (count != 0)
          tests.push_back({oneByOne, count, depth});
  return tests;
}

/// Makes a module of a configuration where that was asked for.
static Status makeModule(Options &options, TemporaryModule &made) {
  if (!options.randomWeights)
    return {};
  GIST_TRY(made.make(options.compiler, options.model.path, options.model.device,
                     {"--random-weights",
                      "--context=" + std::to_string(options.model.context)}));
  options.model.path = made.path;
  options.model.trust = true; // It was compiled a moment ago.
  return {};
}

/// Several sequences at once, in place of the other tests.
static Status runStreams(Options &options, const StreamOptions &streams) {
  // A step has rows of all streams besides a chunk of a prompt, which is all
  // that the module is compiled for.
  if (options.model.context == 0)
    options.model.context =
        std::max<int64_t>(streams.prompt + streams.answer,
                          options.randomWeights ? kStreamContext : 0);
  TemporaryModule made; // outlives what maps it
  GIST_TRY(makeModule(options, made));
  return benchStreams(options.model, streams);
}

/// The context and the tokens are sized by the longest test, so that all tests
/// run in one session.
static Status runBench(Options &options) {
  options.model.writes = true;
  if (!options.draft.draft.empty()) {
    BenchDraftOptions drafts;
    drafts.draft = options.draft;
    drafts.text = options.text;
    drafts.tokens = options.decode.front();
    drafts.repetitions = options.repetitions;
    drafts.format = options.format;
    return benchDrafts(options.model, drafts);
  }
  if (!options.streams.empty()) {
    StreamOptions several;
    several.streams = options.streams;
    several.fastAlone = options.fastAlone;
    several.prompt = options.prefill.front();
    several.answer = options.decode.front();
    several.rounds = options.repetitions;
    several.format = options.format;
    return runStreams(options, several);
  }
  std::vector<Test> tests = listTests(options);
  int64_t longest = 0;
  for (const Test &test : tests)
    longest = std::max(longest, test.tokens + test.depth);
  // Enough context for the longest test, unless the user chose.
  if (options.model.context == 0)
    options.model.context = std::max<int64_t>(1, longest);
  // Destroyed after `runner`, which is declared later.
  TemporaryModule made; // outlives what maps it
  GIST_TRY(makeModule(options, made));
  Runner runner;
  auto needed = static_cast<size_t>(longest);
  std::vector<int32_t> tokens;
  if (options.text.empty()) {
    GIST_TRY(runner.open(options.model));
    tokens = someTokens(*runner.module, needed);
  } else {
    GIST_TRY(runner.openWithTokenizer(options.model));
    GIST_TRY(tokensOf(runner, options.text, needed, tokens));
  }
  std::vector<Row> rows;
  for (const Test &test : tests)
    GIST_TRY(runTest(runner, tokens, test, options, rows.emplace_back()));
  if (options.format == "json")
    printJson(runner, options, rows);
  else if (options.format == "csv")
    printCsv(runner, rows);
  else
    printText(runner, rows);
  return runner.finish();
}

void run::addBench(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "bench", "Tokens per second of prefill and decode, with deviation");
  addModelOptions(*command, options->model);
  auto counts = [&](const char *name, std::vector<int64_t> &values,
                    const char *help) {
    addSetting(*command, name, values, "N,...", help)
        ->delimiter(',')
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 24));
  };
  counts("-p,--prefill", options->prefill,
         "Lengths of prompts to time (pp); 0 for none");
  counts("-n,--decode", options->decode,
         "Numbers of single tokens to time (tg); 0 for none");
  counts("-d,--depth", options->depths,
         "Tokens in the context before the timed ones");
  command
      ->add_option("--tests", options->tests,
                   "These tests instead, such as pp512,tg64@8000: 64 single "
                   "tokens after 8000 others")
      ->type_name("TEST,...")
      ->delimiter(',')
      ->check([](const std::string &text) {
        Test test;
        return parseTest(text, test)
                   ? std::string()
                   : "'" + text + "' should be like pp512 or tg64@8000";
      })
      ->excludes("-p")
      ->excludes("-n")
      ->excludes("-d");
  command
      ->add_option(
          "--streams", options->streams,
          "So many sequences at once instead: each reads a prompt of -p tokens "
          "and writes -n, -r times. Tokens per second of all together, and how "
          "long one waits from token to token")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{4096}))
      ->excludes("--tests")
      ->excludes("-d");
  command
      ->add_flag(
          "--fast-alone", options->fastAlone,
          "As in gist-serve: a stream that is alone takes the kernels of "
          "one token")
      ->needs("--streams");
  addDraftOptions(*command, options->draft);
  addSetting(*command, "-f,--text", options->text, "FILE",
             "Use the tokens of this text; how much work a plan leaves "
             "depends on them. Default: tokens drawn at random");
  addSetting(*command, "-r,--repetitions", options->repetitions, "N",
             "Timed runs of each test, after one that is not counted")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}));
  command->add_flag("--no-warmup", options->noWarmup,
                    "Count the first run of a test too");
  addSetting(*command, "--seconds", options->seconds, "S",
             "Stop repeating a test after this time; 0: no limit")
      ->check(CLI::Range(0.0, 1e6));
  addSetting(*command, "-o,--format", options->format, "FORMAT",
             "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  command->add_flag("--random-weights", options->randomWeights,
                    "MODULE is the config.json of a model; compile it for this "
                    "run, with random weights");
  addSetting(*command, "--compiler", options->compiler, "PATH",
             "The program that compiles it; without this option gist-compile "
             "beside gist-run, or in PATH");
  command->footer(
      "Example: gist-run bench smollm2.gist -p 128,512 -n 64 -d 0,2048\n"
      "Many at once: gist-run bench smollm2.gist --streams 1,16 -p 128 -n 64\n"
      "What drafts gain: gist-run bench smollm2.gist --draft lookup -f FILE "
      "-n 256\n"
      "A model is measured without its weights from its config.json:\n"
      "  gist-run bench --random-weights gpt-j-6b/config.json --device cuda");
  command->callback([options, &action] {
    // An option that would have no effect is refused.
    if (!options->compiler.empty() && !options->randomWeights)
      throw CLI::ValidationError("--compiler", "is for --random-weights");
    if (!options->streams.empty() &&
        (!options->text.empty() || options->format == "csv"))
      throw CLI::ValidationError("--streams", "takes no text and no csv");
    if (options->fastAlone &&
        (options->model.profile || !options->model.trace.empty()))
      throw CLI::ValidationError(
          "--fast-alone", "takes no profile: it would miss what is alone");
    if (!options->streams.empty() &&
        (options->prefill.size() != 1 || options->prefill[0] == 0 ||
         options->decode.size() != 1 || options->decode[0] == 0))
      throw CLI::ValidationError("--streams",
                                 "takes one -p and one -n, neither 0");
    if (!options->draft.draft.empty() &&
        (options->text.empty() || options->decode.size() != 1 ||
         options->decode[0] < 2 || options->format == "csv" ||
         !options->streams.empty() || !options->tests.empty() ||
         options->randomWeights))
      throw CLI::ValidationError(
          "--draft", "takes a --text to continue and one -n above 1, no "
                     "--streams, no --tests, no csv and no random weights");
    action = [options] { return runBench(*options); };
  });
}
