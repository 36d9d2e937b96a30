//===- Compare.cpp - gist-plan compare ------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan compare`: what a plan that is there gains on this machine. Speed,
// memory and quality beside the model as it is, and a page with plots.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "runtime/format/Devices.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/gist-plan/SideBySide.h"
#include "tools/planning/BuiltInTexts.h"

#include <filesystem>

using namespace gist;
using namespace gist::plan;

/// All texts of this program that plans are judged by, in one: together they
/// are longer than most contexts.
static Status writeHeldOut(const std::string &path) {
  std::string all;
  for (const BuiltInText &text : builtInTexts())
    if (text.isHeldOut)
      all += text.text;
  return writeWhole(path, all);
}

static Status runCompare(SideBySideOptions options) {
  PlanFile plan;
  GIST_TRY(readPlanFile(options.plan, plan));
  GIST_TRY(readPromise(plan, options.promise).in(options.plan + ": contract"));
  GIST_TRY(findCompiler(options.device, options.compiler));
  GIST_TRY(makeFolder(options.folder));
  // One that is there may be of another model or context.
  std::error_code ignored;
  std::filesystem::remove(options.folder + "/dense.gist", ignored);
  options.tokens = options.context;
  if (options.texts.empty()) {
    constexpr int64_t kTokensOfTexts = 8192;
    options.tokens = std::min(options.tokens, kTokensOfTexts);
    options.texts = {options.folder + "/held-out.txt"};
    GIST_TRY(writeHeldOut(options.texts.front()));
  }
  std::string evaluation = options.folder + "/evaluation.json",
              page = options.folder + "/report.html";
  SpeedUp speedUp;
  GIST_TRY(compareSideBySide(options, evaluation, speedUp));
  GIST_TRY(writePage({evaluation}, page));
  if (!speedUp.isThere())
    std::printf("\nThis plan saves no time here.\n");
  std::printf("\nThe page: %s\n", page.c_str());
  return {};
}

void plan::addCompare(CLI::App &app, Action &action) {
  auto options = std::make_shared<SideBySideOptions>();
  options->command = "gist-plan compare";
  options->device = kCpuDevice;
  options->context = 2048;
  CLI::App *command = app.add_subcommand(
      "compare", "What a plan gains on this machine: speed, memory and quality "
                 "beside the model as it is");
  command
      ->add_option("model", options->model,
                   "GGUF file or Hugging Face folder of a decoder")
      ->type_name("MODEL")
      ->required();
  command->add_option("plan", options->plan, "The plan")
      ->type_name("PLAN.json")
      ->required();
  command
      ->add_option("-o,--output", options->folder,
                   "Folder for the page, and for what is compiled and measured")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option("--context", options->context,
                   "Tokens that sessions hold, and that are read")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command
      ->add_option("-f,--text", options->texts,
                   "Text to measure with; default: prose and code that "
                   "gist-plan has with it")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("-r,--repetitions", options->repetitions,
                   "Times to measure speed")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  command->add_flag("--recall", options->wantsRecall,
                    "Measures a second copy of each text too, which takes as "
                    "long again");
  addPlaceOptions(*command, options->device, options->threads,
                  options->compiler);
  command->footer(
      "Example: gist-plan compare model.gguf plan.json --context 8192 -o both");
  command->callback([options, &action] {
    action = [options] { return runCompare(*options); };
  });
}
