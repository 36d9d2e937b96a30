//===- SolveLinears.cpp - gist-plan solve-linears -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan solve-linears`: bits for each linear layer, from what `gist-plan
// linears` found. With --bytes by prediction alone; with --quality plans are
// compiled and measured until one keeps it.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/planning/LinearContract.h"
#include "tools/planning/LinearSolve.h"

#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

namespace {
struct Options {
  std::string calibration, output;
  double share = 0;   ///< of the bytes; 0: not asked for
  double quality = 0; ///< 0: not asked for
  double margin = 0.9;
  int tries = 10;
  LinearContractOptions contract;
};
} // namespace

/// The file of bases beside the calibration.
/// Absolute, because plans that are tried are in a temporary folder.
static std::filesystem::path basesOf(const Options &options) {
  std::error_code failed;
  std::filesystem::path bases =
      std::filesystem::absolute(options.calibration, failed);
  return bases.replace_extension(".safetensors");
}

/// The fewest bytes that keep the quality, measured.
static Status solveForQuality(const Options &options,
                              const std::vector<LinearMenu> &menus,
                              std::vector<size_t> &chosen) {
  LinearContract contract(options.contract);
  GIST_TRY(contract.open());
  std::fprintf(stderr, "%12s %9s  ratio of each text\n", "bytes", "predicted");
  auto measure = [&](const std::vector<size_t> &tried, double &loss) -> Status {
    std::string path = contract.planPath();
    GIST_TRY(writeWhole(
        path,
        printPlanFile({}, {}, makePlan(menus, tried, basesOf(options)), "")));
    GIST_TRY(contract.measure(path, loss));
    std::fprintf(stderr, "%12" PRId64 " %9.4f ", countBytes(menus, tried),
                 std::exp(predictLoss(menus, tried)));
    for (double ratio : contract.ratios())
      std::fprintf(stderr, " %.4f", ratio);
    std::fputc('\n', stderr);
    return {};
  };
  // Losses add up in nats; the ratio is their exponential.
  return chooseForLoss(menus, options.margin * std::log(options.quality),
                       options.tries, measure, chosen);
}

/// The number of bytes is that of the weights which one token reads.
static Status runSolve(const Options &options) {
  GIST_TRY(checkWritable(options.output));
  std::vector<LinearMenu> menus;
  GIST_TRY(readMenus(options.calibration, menus));
  // The first choice of every menu is the weights as they are stored.
  std::vector<size_t> dense(menus.size(), 0), chosen;
  int64_t all = countBytes(menus, dense);
  if (options.quality > 0) {
    GIST_TRY(solveForQuality(options, menus, chosen));
  } else {
    auto budget =
        static_cast<int64_t>(options.share * static_cast<double>(all));
    GIST_TRY(chooseWithin(menus, budget, chosen));
  }
  // The plan names the bases relative to itself, so that both can be moved
  // together.
  std::error_code failed;
  std::filesystem::path folder =
      std::filesystem::absolute(options.output, failed).parent_path();
  std::string relative =
      std::filesystem::proximate(basesOf(options), folder, failed).string();
  std::fprintf(stderr, "%" PRId64 " of %" PRId64 " bytes for a token\n",
               countBytes(menus, chosen), all);
  return writeWhole(
      options.output,
      printPlanFile({}, {}, makePlan(menus, chosen, relative), ""));
}

void gist::plan::addSolveLinears(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "solve-linears", "Choose the bits of linear layers: for a budget of "
                       "bytes what changes least, or the fewest bytes that "
                       "keep a quality, measured");
  command
      ->add_option("calibration", options->calibration,
                   "NAME.json of 'gist-plan linears'")
      ->required()
      ->type_name("FILE");
  CLI::Option *bytes =
      command
          ->add_option("--bytes", options->share,
                       "Weight bytes for a token, as a share of the stored "
                       "ones")
          ->check(CLI::Range(0.0, 1.0))
          ->type_name("SHARE");
  CLI::Option *quality =
      command
          ->add_option("-q,--quality", options->quality,
                       "Largest ratio of perplexities to the model as it is, "
                       "on every --text; plans are compiled and measured")
          ->check(CLI::Range(1.0001, 2.0))
          ->excludes(bytes)
          ->type_name("RATIO");
  CLI::Option *model = command
                           ->add_option("--model", options->contract.model,
                                        "The model, for --quality")
                           ->type_name("PATH");
  CLI::Option *text =
      command
          ->add_option("-f,--text", options->contract.texts,
                       "Text to measure with, for --quality; may be given "
                       "several times")
          ->allow_extra_args(false)
          ->type_name("FILE");
  quality->needs(model, text);
  command
      ->add_option("--margin", options->margin,
                   "Share of the allowance that may be spent on these texts, "
                   "so that others keep the quality too")
      ->check(CLI::Range(0.05, 1.0))
      ->capture_default_str();
  command->add_option("--tries", options->tries, "Plans to measure, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--max-tokens", options->contract.tokens,
                   "Tokens of each text, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--compute", options->contract.compute,
          "What 'gist-compile --compute' gets for every module that is "
          "measured; with f32 the model and its plans differ only by their "
          "weights, not by rows in 8 bits")
      ->type_name("TYPE");
  command
      ->add_option("--compiler", options->contract.compiler,
                   "The program that compiles modules; default: gist-compile "
                   "beside this one or in PATH")
      ->type_name("PATH");
  command
      ->add_option("-t,--threads", options->contract.threads,
                   "CPU threads; 0: all")
      ->type_name("N");
  command->add_option("-o,--output", options->output, "The plan to write")
      ->required()
      ->type_name("FILE");
  command->callback([options, bytes, quality, &action] {
    if (bytes->empty() && quality->empty())
      throw CLI::RequiredError("--bytes or --quality");
    action = [options] { return runSolve(*options); };
  });
}
