//===- Auto.cpp - gist-plan auto ------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan auto`: from a model to a plan in one command. The steps are those
// of a user: compile a module to try plans in, calibrate, solve, compile the
// model with and without the plan, compare, draw. They share one limit of time.
// Each leaves its result in a folder, and a second run goes on from there.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelSource.h"
#include "passes/Plan/File/PlannedModule.h"
#include "runtime/format/Devices.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/ReportStep.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/gist-plan/SideBySide.h"
#include "tools/gist-plan/SolveStep.h"
#include "tools/planning/BuiltInTexts.h"
#include "tools/planning/Calibrator.h"
#include "tools/running/Compiler.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {
struct AutoOptions {
  std::string model, folder, compiler;
  std::string device = kCpuDevice;
  unsigned threads = 0;
  PlannerOptions planner; ///< the promise and its confidence
  double seconds = 600;
  int64_t context = 0;
  std::vector<std::string> texts, heldOut;
};

class AutoPlan {
public:
  explicit AutoPlan(AutoOptions &options)
      : options(options), limit(options.seconds) {}

  Status run();

private:
  Status prepare();
  Status readModel();
  Status checkFolder();
  Status writeTexts();
  Status writeMixed();
  Status compileWide();
  /// What a plan could save at most.
  Status boundGain();
  /// How many seconds a token takes, and how many heads there are.
  Status measurePace();
  Status calibrate();
  Status solve();
  Status compare();
  void begin(const char *what);
  void printEnd() const;

  std::string file(const char *name) const {
    return options.folder + "/" + name;
  }
  /// The model and the plan, but for texts.
  SideBySideOptions sides() const {
    SideBySideOptions sides;
    sides.model = options.model;
    sides.plan = file("plan.json");
    sides.compiler = options.compiler;
    sides.folder = options.folder;
    sides.command = "gist-plan auto";
    sides.device = options.device;
    sides.threads = options.threads;
    sides.context = options.context;
    sides.promise = options.planner.promise;
    return sides;
  }
  run::ModelOptions wide() const {
    run::ModelOptions model;
    model.path = file("wide.gist");
    model.device = options.device;
    model.threads = options.threads;
    return model;
  }
  /// Tokens of the sequences that the contract is about.
  int64_t length() const;
  /// Tokens that leave windows at a time: a small context has small ones.
  int64_t block() const {
    auto part =
        static_cast<uint64_t>(std::max<int64_t>(options.context / 8, 1));
    return std::min<int64_t>(128, static_cast<int64_t>(std::bit_floor(part)));
  }
  /// Seconds that the comparison at the end takes, about.
  double secondsOfComparison() const;

  AutoOptions &options;
  run::Limit limit;
  int step = 0;
  double compileSeconds = 0, secondsOfToken = 0;
  double gain = 0; ///< times as fast, at most
  int64_t heads = 0;
  bool hasPlan = true; ///< the time was enough to find one
  bool pays = true;    ///< the plan saves time here
};
} // namespace

void AutoPlan::begin(const char *what) {
  constexpr int kSteps = 4;
  std::fprintf(stderr, "== %d/%d %s\n", ++step, kSteps, what);
}

/// The context is read from the model, so that it is never larger.
Status AutoPlan::readModel() {
  ModelSource source;
  GIST_TRY(openModelSource(options.model, source));
  int64_t known = 0;
  GIST_TRY(
      source.config()
          .read({{"max_position_embeddings", "n_positions"}, "context_length"},
                known)
          .in(options.model));
  constexpr int64_t kDefault = 2048;
  if (options.context == 0)
    options.context = known > 0 ? std::min(known, kDefault) : kDefault;
  constexpr int64_t kFewest = 64;
  if (options.context < kFewest)
    return Status::error(Code::BadArgument,
                         "a context of %" PRId64
                         " tokens is too short for a plan; expected %" PRId64
                         " or more",
                         options.context, kFewest);
  return {};
}

/// Refuses a folder of another model or of other settings.
Status AutoPlan::checkFolder() {
  GIST_TRY(makeFolder(options.folder));
  std::error_code error;
  // The time stands for the content, which would take long to hash.
  auto time = fs::last_write_time(options.model, error);
  Json settings = {{"gist_auto", 1},
                   {"model", fs::absolute(options.model, error).string()},
                   {"time", time.time_since_epoch().count()},
                   {"context", options.context},
                   {"device", options.device},
                   {"texts", options.texts}};
  std::string path = file("settings.json");
  if (fs::is_regular_file(path)) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    if (Json before; parseJson(text, before).ok() && before == settings)
      return {};
    return Status::error(Code::BadArgument,
                         "%s: the folder is of another model, context, device "
                         "or other texts; choose another one with -o",
                         options.folder.c_str());
  }
  return writeWhole(path, settings.dump() + "\n");
}

/// Writes the built-in texts if the user names none.
Status AutoPlan::writeTexts() {
  bool hasTexts = !options.texts.empty();
  bool hasHeldOut = !options.heldOut.empty();
  for (const BuiltInText &text : builtInTexts()) {
    std::vector<std::string> &list =
        text.isHeldOut ? options.heldOut : options.texts;
    if (text.isHeldOut ? hasHeldOut : hasTexts)
      continue;
    std::string path = file(text.name);
    list.push_back(path);
    if (!fs::is_regular_file(path))
      GIST_TRY(writeWhole(path, text.text));
  }
  return {};
}

/// Pieces of all texts in turn, for the calibration: one short sequence then
/// has something of each.
Status AutoPlan::writeMixed() {
  if (fs::is_regular_file(file("mixed.txt")))
    return {};
  constexpr size_t kPiece = 800; // characters, about 200 tokens
  std::vector<std::string> texts(options.texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    GIST_TRY(run::readText(options.texts[i], texts[i]));
  std::string mixed;
  std::vector<size_t> places(texts.size());
  // As long as every text has a piece left.
  for (bool isLeft = true; isLeft;)
    for (size_t i = 0; i < texts.size(); ++i) {
      // A piece ends with a line.
      size_t end = texts[i].find('\n', places[i] + kPiece);
      end = end == std::string::npos ? texts[i].size() : end + 1;
      mixed.append(texts[i], places[i], end - places[i]);
      places[i] = end;
      isLeft &= end < texts[i].size();
    }
  return writeWhole(file("mixed.txt"), mixed);
}

Status AutoPlan::prepare() {
  GIST_TRY(readModel());
  GIST_TRY(findCompiler(options.device, options.compiler));
  if (options.folder.empty())
    options.folder = fs::path(options.model).stem().string() + "-plan";
  GIST_TRY(checkFolder());
  GIST_TRY(writeTexts());
  return writeMixed();
}

Status AutoPlan::compileWide() {
  begin("compiling a module to try plans in");
  // gist-compile writes a module whole or not at all, so that a file that is
  // there is a good one.
  if (fs::is_regular_file(file("wide.gist")))
    return {};
  double before = limit.taken();
  GIST_TRY(compileModel(
      sides(), file("wide.gist"),
      {"--plan=calibration", "--plan-block=" + std::to_string(block())}));
  compileSeconds = limit.taken() - before;
  return {};
}

/// The texts of this program have four thousand tokens of most tokenizers.
int64_t AutoPlan::length() const {
  constexpr int64_t kMost = 4096;
  return std::min(options.context, kMost);
}

/// Plans for less are not searched.
static constexpr double kLeastGain = 1.03;

/// Attention is part of a prompt's work, and the cache part of what a written
/// token reads; a plan of heads changes nothing else.
Status AutoPlan::boundGain() {
  std::shared_ptr<const Module> module;
  GIST_TRY(Module::open(file("wide.gist"), module));
  PlannedModule planned;
  // What is not a decoder is refused by the next step.
  if (!readPlannedModule(*module, planned).ok()) {
    gain = 2;
    return {};
  }
  double products = 0;
  GIST_TRY(run::productFlopsOfToken(*module, products));
  auto tokens = static_cast<double>(options.context);
  double attention =
      2 * countMultiplyAdds(denseWork(options.context), planned.shape) *
      static_cast<double>(planned.shape.heads()) / tokens;
  // The cache is laid out for all tokens.
  auto cache = static_cast<double>(planned.denseBytes()) * tokens /
               static_cast<double>(planned.context);
  auto weights = static_cast<double>(run::weightBytesOfToken(*module));
  double ofPrompt = 1 + attention / products, ofAnswer = 1 + cache / weights;
  gain = std::max(ofPrompt, ofAnswer);
  std::fprintf(stderr,
               "with %" PRId64
               " tokens attention is %.0f %% of a prompt's work, and the "
               "cache %.0f %% of what a written token reads: plans of heads "
               "make prompts at most %.2f and answers at most %.2f times as "
               "fast\n",
               options.context, 100 * (1 - 1 / ofPrompt),
               100 * (1 - 1 / ofAnswer), ofPrompt, ofAnswer);
  return {};
}

Status AutoPlan::measurePace() {
  Prober prober;
  Status opened = prober.open(wide());
  if (!opened.ok())
    return Status::error(opened.code,
                         "%s; gist-plan auto finds plans for decoders, and "
                         "'gist-plan solve-encoder' for encoders",
                         opened.text.c_str());
  heads = prober.module().shape.heads();
  std::vector<int32_t> tokens;
  GIST_TRY(readTokens(prober, options.texts.front(), tokens));
  tokens.resize(std::min(tokens.size(), static_cast<size_t>(2 * block())));
  Plan dense;
  dense.block = prober.module().block;
  dense.layers.assign(static_cast<size_t>(prober.module().shape.layers),
                      std::vector<HeadChoice>(
                          static_cast<size_t>(prober.module().shape.kvHeads)));
  int64_t end[] = {static_cast<int64_t>(tokens.size())};
  ProbeRun ignored;
  double fastest = 0;
  // The first run reads the weights.
  for (int i = 0; i < 2; ++i) {
    double before = limit.taken();
    GIST_TRY(prober.run(dense, tokens, end, ignored));
    fastest = limit.taken() - before;
  }
  secondsOfToken = fastest / static_cast<double>(tokens.size());
  return {};
}

double AutoPlan::secondsOfComparison() const {
  auto texts = static_cast<double>(options.heldOut.size());
  // Of each text windows and recall in two modules, and logits of every token
  // to compare; two tests of speed with one run before, and one after.
  double tokens = static_cast<double>(length()) * (6 * texts + 6);
  // On a slow machine the plan is worth more than its comparison.
  return std::min(2 * compileSeconds + tokens * secondsOfToken,
                  0.3 * std::max(limit.left(), 0.0));
}

/// What heads may do: two of each kind, so that a few minutes are enough.
static std::vector<HeadChoice> makeCandidates(int64_t block) {
  std::vector<HeadChoice> result;
  for (int64_t window : {block, 2 * block})
    result.push_back({.kind = HeadKind::Window,
                      .window = window,
                      .sinks = std::min<int64_t>(4, block)});
  for (double theta : {0.7, 0.9})
    result.push_back({.kind = HeadKind::Clusters,
                      .window = block,
                      .theta = theta,
                      .room = 1});
  return result;
}

Status AutoPlan::calibrate() {
  begin("calibrating: what each head loses alone");
  double share = 0.55 * std::max(0.0, limit.left() - secondsOfComparison());
  CalibratorOptions calibrator;
  calibrator.model = wide();
  calibrator.texts = {file("mixed.txt")};
  calibrator.candidates = makeCandidates(block());
  calibrator.output = file("calibration.json");
  calibrator.wantsSelections = false;
  // As long as sequences may be for half of the candidates to be measured. Half
  // of one is text, of which a window must not be most.
  calibrator.tokens = 8 * block();
  auto runs = static_cast<double>(heads) * 2;
  while (2 * calibrator.tokens <= length() &&
         2 * static_cast<double>(calibrator.tokens) * secondsOfToken * runs <
             share)
    calibrator.tokens *= 2;
  // A second run goes on with the sequences of the first.
  if (Calibration old; fs::is_regular_file(calibrator.output) &&
                       readCalibration(calibrator.output, old).ok())
    // Measurements of another length could not be used together with the old.
    calibrator.tokens = old.tokens;
  // 0 would mean no limit, so that a share that is used up must not be 0.
  run::Limit part(options.seconds > 0 ? std::max(share, 1.0) : 0);
  Calibrator step(calibrator, part);
  GIST_TRY(step.run());
  std::fprintf(stderr, "%zu of %zu measurements%s\n", step.countDone(),
               step.countAll(),
               step.isComplete() ? "" : "; more time would measure more");
  return {};
}

Status AutoPlan::solve() {
  begin("searching the plan that keeps the quality");
  SolveOptions solve;
  solve.model = wide();
  solve.planner = options.planner;
  // Sequences are short, and rows are in 8 bits on CPUs: single means scatter.
  solve.planner.caution = 0.5;
  solve.calibration = file("calibration.json");
  solve.texts = options.texts;
  solve.heldOut = options.heldOut;
  // A question takes as long as a text. There is time to judge by some, and not
  // to search with many: recall stands for them in the search.
  solve.searchSamples = 0;
  solve.heldOutSamples = 9;
  solve.judgesEach = false;
  solve.output = file("plan.json");
  solve.lengths = {length()};
  solve.tokensOfTerm = length();
  solve.keepsTrials = true; // for a run with another quality or more time
  if (options.seconds > 0)
    // 0 would mean no limit.
    solve.seconds = std::max(0.001, limit.left() - secondsOfComparison());
  return runSolve(solve, &hasPlan);
}

Status AutoPlan::compare() {
  begin("comparing the model with and without the plan");
  SideBySideOptions compared = sides();
  compared.texts = options.heldOut;
  compared.tokens = length();
  compared.repetitions = 2;
  compared.wantsRecall = true;
  GIST_TRY(compareSideBySide(compared, file("evaluation.json"), pays));
  return writePage({file("evaluation.json"), file("calibration.json")},
                   file("report.html"));
}

/// A word for a shell.
static std::string quote(const std::string &word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                             "WXYZ0123456789_-./=:,+") == std::string::npos)
    return word;
  std::string result = "'";
  for (char c : word)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void AutoPlan::printEnd() const {
  if (gain <= kLeastGain) {
    std::printf("No plan pays: with %" PRId64
                " tokens it could make the model at most %.2f times as fast. "
                "The model stays as it is.\n",
                options.context, gain);
    return;
  }
  if (!hasPlan) {
    std::printf("No plan was found in %g s, so the model stays as it is. The "
                "same command with more --seconds goes on with what was "
                "measured.\n",
                options.seconds);
    return;
  }
  std::string target =
      options.device == kCpuDevice
          ? ""
          : std::string(" --target=") + targetOfDevice(options.device);
  std::printf("\nThe page: %s\n", file("report.html").c_str());
  if (pays)
    std::printf("To compile with the plan:\n");
  else
    std::printf("With a context of %" PRId64
                " tokens this plan saves no time on this machine: a finding, "
                "and not a plan to compile with.\nTo follow it all the same, "
                "for a smaller cache:\n",
                options.context);
  std::printf("  gist-compile %s -o %s --context %" PRId64 "%s --plan %s%s\n",
              quote(options.model).c_str(),
              quote(fs::path(options.model).stem().string() + ".gist").c_str(),
              options.context, target.c_str(), quote(file("plan.json")).c_str(),
              pays ? "" : " --follow-plan");
}

Status AutoPlan::run() {
  GIST_TRY(prepare());
  GIST_TRY(compileWide());
  GIST_TRY(boundGain());
  if (gain <= kLeastGain) {
    printEnd();
    return {};
  }
  GIST_TRY(measurePace());
  GIST_TRY(calibrate());
  // When the time is over, the steps go on: the search then uses what was
  // measured so far.
  if (limit.isInterrupted())
    return Status::error(Code::Io, "stopped; the same command goes on");
  GIST_TRY(solve());
  if (hasPlan)
    GIST_TRY(compare());
  printEnd();
  std::fprintf(stderr, "%.0f s\n", limit.taken());
  return {};
}

void plan::addAuto(CLI::App &app, Action &action) {
  auto options = std::make_shared<AutoOptions>();
  CLI::App *command = app.add_subcommand(
      "auto", "From a model to a plan: compile, calibrate, solve, compare, "
              "draw; a second run goes on where the first ended");
  command
      ->add_option("model", options->model,
                   "GGUF file or Hugging Face folder of a decoder")
      ->type_name("MODEL")
      ->required();
  addPromiseOptions(*command, options->planner);
  command
      ->add_option("--seconds", options->seconds,
                   "Time for all steps together; 0: no limit. More time finds "
                   "plans that do less work")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--context", options->context,
                   "Tokens that the plan is for; default: 2048, or the model's "
                   "own if it has fewer")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("-f,--text", options->texts,
                   "Text to find the plan on; default: prose and code that "
                   "gist-plan has with it")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--held-out", options->heldOut,
                   "Text to judge the plan by; default: other prose and code")
      ->type_name("FILE")
      ->allow_extra_args(false);
  addPlaceOptions(*command, options->device, options->threads,
                  options->compiler);
  command
      ->add_option("-o,--output", options->folder,
                   "Folder for the plan, its page and what was measured; "
                   "default: the model's name and -plan")
      ->type_name("FOLDER");
  command->footer("Example: gist-plan auto model.gguf --quality 1.01");
  command->callback([options, &action] {
    action = [options] { return AutoPlan(*options).run(); };
  });
}
