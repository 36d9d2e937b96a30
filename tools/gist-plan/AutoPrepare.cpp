//===- AutoPrepare.cpp - Model, texts and modules for `gist-plan auto` ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/gist-plan/AutoPlan.h"
#include "tools/planning/BuiltInTexts.h"

#include "nlohmann/json.hpp"

#include <cinttypes>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
namespace fs = std::filesystem;

/// The context is read from the model, so that it is never larger.
Status AutoPlan::readModel() {
  GIST_TRY(openModelSource(options.model, source));
  int64_t known = 0;
  GIST_TRY(
      source.config()
          .read({{"max_position_embeddings", "n_positions"}, "context_length"},
                known)
          .in(options.model));
  constexpr int64_t kDefault = 4096;
  int64_t &context = options.context, &prompt = options.job.prompt,
          &answer = options.job.answer;
  int64_t most = known > 0 ? known : INT64_MAX;
  if (context == 0)
    context = std::min(most, prompt > 0 ? prompt + answer : kDefault);
  if (prompt == 0) {
    prompt = options.lengths.empty()
                 ? context / 2
                 : *std::ranges::max_element(options.lengths);
    answer = std::min(answer, context - prompt);
  }
  if (options.choices == Choices::Linears && !hasBits())
    return Status::error(Code::BadArgument,
                         "--choices=linears rounds weights for CPUs, which "
                         "saves time and memory and no multiply-adds; got "
                         "--device=%s%s: choose --choices=all",
                         options.device.c_str(),
                         options.least == Objective::Work ? " and --least=work"
                                                          : "");
  if (!hasHeads() && !hasDepths() && !hasBits())
    return Status::error(
        Code::BadArgument,
        "--choices=depths makes prompts of %" PRId64
        " tokens and more faster and keeps the cache as it is; got a prompt of "
        "%" PRId64 " tokens and --least=%s: choose --choices=all",
        kLeastPrompt, prompt,
        options.least == Objective::Memory ? "memory" : "time");
  // Prompt, what is judged behind it, and the copy of as many of its tokens.
  if (hasDepths())
    context = std::min(most, std::max(context, prompt + 2 * judged()));
  if (!options.lengths.empty() &&
      *std::ranges::min_element(options.lengths) < 4)
    return Status::error(Code::BadArgument,
                         "--lengths: a text has at least 4 tokens");
  if (prompt + answer > context)
    return Status::error(Code::BadArgument,
                         "a prompt of %" PRId64
                         " tokens and an answer of %" PRId64
                         " do not fit a context of %" PRId64,
                         prompt, answer, context);
  return {};
}

/// Refuses a folder of another model or of other settings.
Status AutoPlan::checkFolder() {
  GIST_TRY(makeFolder(options.folder));
  std::error_code error;
  // The time stands for the content, which would take long to hash.
  auto time = fs::last_write_time(options.model, error);
  nlohmann::json settings = {
      {"gist_auto", 1},
      {"model", fs::absolute(options.model, error).string()},
      {"time", time.time_since_epoch().count()},
      {"context", options.context},
      {"heads", hasHeads()},
      {"depths", hasDepths()},
      {"bits", hasBits()},
      {"linears", options.choices == Choices::Linears},
      {"compute", options.compute},
      {"device", options.device},
      {"calibration", options.calibration},
      {"texts", options.texts}};
  std::string path = file("settings.json");
  if (fs::is_regular_file(path)) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    if (nlohmann::json before;
        parseJson(text, before).ok() && before == settings)
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

Status AutoPlan::writeMixed() {
  if (fs::is_regular_file(file(kMixedFile)))
    return {};
  std::vector<std::string> texts(options.texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    GIST_TRY(run::readText(options.texts[i], texts[i]));
  return writeWhole(file(kMixedFile), mixTexts(texts));
}

std::string AutoPlan::mixTexts(const std::vector<std::string> &texts) {
  constexpr size_t kPiece = 800; // characters, about 200 tokens
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
  return mixed;
}

Status AutoPlan::prepare() {
  GIST_TRY(readModel());
  GIST_TRY(findCompiler(options.device, options.compiler));
  if (options.folder.empty())
    options.folder = fs::path(options.model).stem().string() + "-plan";
  if (!options.calibration.empty()) {
    GIST_TRY(readCalibration(options.calibration, calibration));
    bool hasTexts = !options.texts.empty();
    for (const CalibrationText &text : calibration.texts)
      if (!hasTexts)
        options.texts.push_back(text.path);
  }
  GIST_TRY(checkFolder());
  GIST_TRY(writeTexts());
  return writeMixed();
}

Status AutoPlan::compileDense() {
  begin("compiling the model as it is, and to try plans in");
  // gist-compile writes a module whole or not at all, so that a file that is
  // there is a good one.
  double before = limit.taken();
  if (!fs::is_regular_file(file(kDenseModule)))
    GIST_TRY(compileModel(sides(), file(kDenseModule), {}));
  compileSeconds = limit.taken() - before;
  run::Runner model;
  GIST_TRY(model.open(moduleOf(kDenseModule)));
  isEncoder = plan::isEncoder(*model.session);
  constexpr int64_t kFewest = 64;
  if (options.context < kFewest && !isEncoder)
    return Status::error(Code::BadArgument,
                         "a context of %" PRId64
                         " tokens is too short for a plan; expected %" PRId64
                         " or more",
                         options.context, kFewest);
  return {};
}

Status AutoPlan::countTexts() {
  if (!hasDepths())
    return {};
  run::Runner model;
  GIST_TRY(model.openWithTokenizer(moduleOf(kDenseModule)));
  int64_t width = model.module->spec().model.embeddingSize, neurons = 4 * width;
  GIST_TRY(source.config()
               .read({{"intermediate_size", "ffn_dim", "n_inner"},
                      "feed_forward_length"},
                     neurons)
               .in(options.model));
  // Least squares are good with several rows for each number that a map reads.
  constexpr double kRows = 8;
  fitTokensWanted = kRows * static_cast<double>(std::max(width, neurons / 2));
  for (const std::string &path : options.texts) {
    std::string text;
    std::vector<int32_t> tokens;
    GIST_TRY(run::readText(path, text));
    model.tokenizer.encode(text, tokens);
    // The other half is to search with.
    fitTokensThere += static_cast<double>(tokens.size()) / 2;
  }
  if (!triesDepths())
    std::fprintf(stderr,
                 "plans of depths need texts of %.0f tokens or more, and there "
                 "are %.0f; they are not searched: --text names more\n",
                 2 * fitTokensWanted, 2 * fitTokensThere);
  return {};
}

Status AutoPlan::compileTrial() {
  if (fs::is_regular_file(file(kTrialModule)))
    return {};
  std::string what;
  auto add = [&](bool isTried, const char *name) {
    if (isTried)
      what += (what.empty() ? "" : "+") + std::string(name);
  };
  add(hasHeads() || isEncoder, kCalibrationPlan);
  add(triesDepths(), kDepthsPlan);
  add(hasBits(), kBitsPlan);
  std::vector<std::string> words = {"--plan=" + what};
  if (!isEncoder)
    words.push_back("--observe");
  if (hasHeads())
    words.push_back("--plan-block=" + std::to_string(block()));
  return compileModel(sides(), file(kTrialModule), words);
}

Status AutoPlan::openTrial() {
  run::ModelOptions model = moduleOf(kTrialModule);
  GIST_TRY(pool.open(model, options.sessions, hasHeads()));
  return triesDepths() ? depthModel.open(*pool.first().model().session, source)
                       : Status();
}

/// A file of another time is another module; rows are laid out by the context,
/// and windows are cut to it.
Status AutoPlan::openTrials() {
  std::error_code ignored;
  auto time = fs::last_write_time(file(kTrialModule), ignored);
  terms.trials = heldOut.trials = &trials;
  return trials.open(file(kTrialsFile),
                     std::to_string(time.time_since_epoch().count()) + " " +
                         options.device + " " +
                         std::to_string(options.context));
}
