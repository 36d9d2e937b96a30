//===- Solve.cpp - gist-plan solve ----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan solve`: the least work that keeps a quality. The calibration
// predicts, the planner searches, and the result is measured: on the texts of
// the calibration, and on others if they are given. The measurements go into
// the plan's file as its contract.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SolveStep.h"

#include "nlohmann/json.hpp"

#include <cmath>
#include <filesystem>
#include <map>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

/// Four digits are what a person reads and a measurement gives.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// A line for each text and length.
/// Names of files without folders: the plan is passed on to others.
static Json toJson(const Contract &contract, const Measurement &measured) {
  Json rows = Json::array();
  for (size_t k = 0; k < contract.terms().size(); ++k) {
    const Term &term = contract.terms()[k];
    // A loss in nats is the logarithm of a ratio of perplexities.
    rows.push_back({{"text", std::filesystem::path(contract.texts()[term.text])
                                 .filename()
                                 .string()},
                    {"tokens", term.tokens},
                    {term.isRecall ? "recall_ratio" : "perplexity_ratio",
                     rounded(std::exp(contract.loss(measured, k)))},
                    {"dense", rounded(contract.densePerplexity(k))},
                    {"work", rounded(measured.terms[k].work)}});
  }
  return rows;
}

/// The table that a person reads while waiting.
static void print(const char *title, const Contract &contract,
                  const Measurement &measured) {
  std::printf("%-24s %7s %-10s %9s %8s %7s\n", title, "tokens", "", "dense",
              "ratio", "work");
  for (size_t k = 0; k < contract.terms().size(); ++k) {
    const Term &term = contract.terms()[k];
    std::printf(
        "%-24s %7lld %-10s %9.3f %8.4f %7.3f\n",
        std::filesystem::path(contract.texts()[term.text]).filename().c_str(),
        static_cast<long long>(term.tokens),
        term.isRecall ? "recall" : "perplexity", contract.densePerplexity(k),
        std::exp(contract.loss(measured, k)), measured.terms[k].work);
  }
}

/// The contract stands inside of another object.
static std::string indent(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return result;
}

/// The contract as it stands in the plan: a line for each measurement.
static std::string printContract(const SolveOptions &options,
                                 const Planner &planner, const Json &measured,
                                 const Json &heldOut) {
  auto rows = [](const Json &list) {
    std::string text = "[";
    for (size_t i = 0; i < list.size(); ++i)
      text += (i == 0 ? "\n    " : ",\n    ") + list[i].dump();
    return text + "\n  ]";
  };
  // Recall may lose five times what perplexity may; see --quality.
  std::string text =
      "{\n  \"quality\": " + Json(options.planner.quality).dump() +
      ",\n  \"recall\": " +
      Json(rounded(Contract::recallQuality(options.planner.quality))).dump() +
      ",\n  \"margin\": " + Json(options.planner.margin).dump() +
      ",\n  \"context\": " + std::to_string(planner.context()) +
      ",\n  \"work_predicted\": " +
      Json(rounded(planner.predictedWork())).dump() +
      ",\n  \"measured\": " + rows(measured);
  if (!heldOut.empty())
    text += ",\n  \"held_out\": " + rows(heldOut);
  return indent(text + "\n}");
}

/// 512, 2048, 4096, 8192 and so on up to the context, and the context.
static std::vector<int64_t> defaultLengths(int64_t context) {
  std::vector<int64_t> lengths;
  if (context > 512)
    lengths.push_back(512);
  for (int64_t length = 2048; length < context; length *= 2)
    lengths.push_back(length);
  lengths.push_back(context);
  return lengths;
}

/// What measurements in a module depend on: a file of another time is another
/// module.
/// The context is part of it: rows are laid out by it, and windows are cut to
/// it.
static std::string identify(const Prober &prober, const std::string &path,
                            const std::string &device) {
  std::error_code ignored;
  auto time = std::filesystem::last_write_time(path, ignored);
  return path + " " + std::to_string(time.time_since_epoch().count()) + " " +
         device + " " + std::to_string(prober.module().context);
}

/// Every length fits the context.
static Status checkLengths(const std::vector<int64_t> &lengths,
                           int64_t context) {
  for (int64_t length : lengths)
    if (length > context || length < 4)
      return Status::error(
          Code::BadArgument,
          "--lengths: %lld is outside the range from 4 to the context, %lld",
          static_cast<long long>(length), static_cast<long long>(context));
  return {};
}

/// The plan on texts that it was not searched on; rows stay empty where there
/// is no time for it.
static Status measureHeldOut(ProbePool &pool, const run::Limit &limit,
                             const Plan &plan, Contract &contract, Json &rows) {
  // After the search, so that its time is not spent when the search fails.
  Measurement measured;
  Status status = contract.measureDense(pool);
  if (status.ok())
    status = contract.measure(pool, plan, measured);
  if (!status.ok() && limit.hasStopped()) {
    std::fprintf(stderr, "there was no time to measure the plan on text that "
                         "it was not searched on\n");
    return {};
  }
  GIST_TRY(std::move(status));
  print("held-out text", contract, measured);
  rows = toJson(contract, measured);
  return {};
}

/// A search that ended early has a plan, or says how to go on.
Status plan::runSolve(const SolveOptions &options) {
  // Found now, not after the whole search.
  GIST_TRY(checkWritable(options.output));
  run::Limit limit(options.seconds);
  Calibration calibration;
  GIST_TRY(readCalibration(options.calibration, calibration));
  ProbePool pool;
  GIST_TRY(pool.open(options.model, options.sessions));
  Trials trials;
  GIST_TRY(trials.open(
      options.output + ".partial",
      identify(pool.first(), options.model.path, options.model.device)));
  Planner planner(options.planner, calibration, pool, limit, trials);
  GIST_TRY(planner.check().in(options.calibration));
  std::vector<int64_t> lengths = options.lengths.empty()
                                     ? defaultLengths(planner.context())
                                     : options.lengths;
  GIST_TRY(checkLengths(lengths, planner.context()));
  // All texts are read before the search: a wrong name should not cost it.
  // Opened even without texts: it then has no terms.
  Contract heldOut;
  heldOut.trials = &trials;
  heldOut.tokensOfTerm = options.tokensOfTerm;
  GIST_TRY(heldOut.open(pool, options.heldOut, lengths));
  planner.texts = options.texts;
  planner.measureTermsOn(options.tokensOfTerm);
  // The model as it is, and then the plan.
  planner.tokensAfter = 2 * heldOut.countTokens();

  Plan plan;
  Measurement measured;
  GIST_TRY(planner.solve(lengths, plan, measured));
  if (!planner.isComplete())
    GIST_TRY(trials.write());
  if (!planner.isComplete() && !planner.hasPlan())
    return Status::error(
        Code::Io,
        "%s before a plan was found; %zu sequences are in %s, and the same "
        "command goes on from there",
        limit.isInterrupted() ? "stopped" : "--seconds: the time was over",
        trials.size(), trials.path().c_str());
  print("calibration text", planner.contract(), measured);
  Json heldOutRows = Json::array();
  if (!options.heldOut.empty())
    GIST_TRY(measureHeldOut(pool, limit, plan, heldOut, heldOutRows));
  std::string text = printPlan(
      plan, printContract(options, planner,
                          toJson(planner.contract(), measured), heldOutRows));
  GIST_TRY(writeWhole(options.output, text));
  if (planner.isComplete() && !limit.hasStopped()) {
    if (options.keepsTrials)
      return trials.write();
    // A plan that is complete needs no file to go on from.
    trials.remove();
    return {};
  }
  GIST_TRY(trials.write());
  // Control-C is an error for scripts; a limit that the user set is not.
  if (limit.isInterrupted())
    return Status::error(Code::Io,
                         "stopped; the best plan so far is in %s, and the same "
                         "command goes on from there",
                         options.output.c_str());
  std::fprintf(stderr,
               "stopped after %g s: %s is the best of %zu plans; the same "
               "command goes on from there\n",
               options.seconds, options.output.c_str(), planner.countTrials());
  return {};
}

void plan::addSolve(CLI::App &app, Action &action) {
  static const std::map<std::string, HeadKinds> kKinds = {
      {"all", HeadKinds::All},
      {"windows", HeadKinds::Windows},
      {"representatives", HeadKinds::Representatives}};
  auto options = std::make_shared<SolveOptions>();
  CLI::App *command = app.add_subcommand(
      "solve", "Find the least work that keeps a quality, and measure it");
  run::addModelOptions(*command, options->model);
  command
      ->add_option("calibration", options->calibration,
                   "What 'gist-plan calibrate' wrote")
      ->type_name("CALIBRATION")
      ->required();
  command
      ->add_option("-q,--quality", options->planner.quality,
                   "Largest ratio of perplexities to the model as it is; "
                   "recall may lose five times as much")
      ->check(CLI::Range(1.0001, 2.0))
      ->capture_default_str();
  command
      ->add_option("--margin", options->planner.margin,
                   "Share of the allowance that may be spent on calibration "
                   "texts, so that other texts keep the contract too")
      ->check(CLI::Range(0.05, 1.0))
      ->capture_default_str();
  command
      ->add_option("--heads", options->planner.kinds,
                   "What heads may do instead of staying dense: all, windows, "
                   "representatives")
      ->transform(CLI::CheckedTransformer(kKinds).description(""))
      ->type_name("all|windows|representatives");
  command
      ->add_option("--lengths", options->lengths,
                   "Tokens of the sequences that the contract is about; "
                   "default: 512, 2048, 4096, ... up to the context")
      ->delimiter(',')
      ->type_name("N,...");
  command
      ->add_option("--rounds", options->planner.rounds,
                   "Rounds in which every head is measured again, in the plan "
                   "so far: better plans for more time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--tries", options->planner.tries,
                   "Single heads to try with less work at the end")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--seconds", options->seconds,
                   "Stop after this time with the best plan so far; 0: no "
                   "limit. The same command goes on from there. With a limit "
                   "the plan depends on the machine's speed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("-f,--text", options->heldOut,
                   "Text that the plan is not searched on, to measure it with")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--sessions", options->sessions,
                   "Measurements at once, each with --threads threads")
      ->type_name("N")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "The plan's file")
      ->type_name("FILE")
      ->required();
  command->footer("Example: gist-plan solve wide.gist calibration.json "
                  "--quality 1.01 --text other.txt -o plan.json");
  command->callback([options, &action] {
    action = [options] { return runSolve(*options); };
  });
}
