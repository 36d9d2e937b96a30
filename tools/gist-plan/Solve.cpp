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
// the plan's file as its contract, and a certificate says what holds on texts
// and seeds that were not searched with.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/planning/CertificateFile.h"
#include "tools/planning/PlanFinder.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

namespace {
struct SolveOptions {
  run::ModelOptions model;
  SearchOptions search;
  HeadMenuOptions heads;
  std::string calibration, output;
  std::string start; ///< a plan to go on from; empty: none
  std::vector<std::string> heldOut;
  std::vector<int64_t> lengths; ///< empty: up to the context
  /// Questions of all tasks to search with, and of each task to judge by; 0:
  /// none. Samples of the search and those of the judgement have other seeds.
  size_t searchSamples = 36, heldOutSamples = 8;
  uint64_t seed = 1;
  bool asksForTasks = false; ///< by name, and not by default
  unsigned sessions = 1;
  double seconds = 0; ///< after which the best plan so far is the plan
};
} // namespace

/// Four digits are as precise as the measurements.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

static const char *fieldOf(TermKind kind) {
  switch (kind) {
  case TermKind::Perplexity:
    return "perplexity_ratio";
  case TermKind::Recall:
    return "recall_ratio";
  case TermKind::Tasks:
    return "answer_perplexity_ratio";
  }
  return "";
}

/// A line for each text and length.
/// Names of files without folders: the plan is passed on to others.
static Json termsToJson(const Contract &contract, const Measurement &measured) {
  Json rows = Json::array();
  for (size_t k = 0; k < contract.terms().size(); ++k) {
    const Term &term = contract.terms()[k];
    // A loss in nats is the logarithm of a ratio of perplexities.
    rows.push_back(
        {{"text", contract.title(term)},
         {"tokens", term.tokens},
         {fieldOf(term.kind), rounded(std::exp(contract.loss(measured, k)))},
         {"dense", rounded(contract.densePerplexity(k))},
         {"work", rounded(measured.terms[k].work)}});
  }
  return rows;
}

/// Prints the table of a measurement on standard output.
static void printTerms(const char *title, const Contract &contract,
                       const Measurement &measured) {
  std::printf("%-24s %7s %-10s %9s %8s %7s\n", title, "tokens", "", "dense",
              "ratio", "work");
  for (size_t k = 0; k < contract.terms().size(); ++k) {
    const Term &term = contract.terms()[k];
    const char *kind = term.kind == TermKind::Perplexity ? "perplexity"
                       : term.kind == TermKind::Recall   ? "recall"
                                                         : "answers";
    std::printf(
        "%-24s %7lld %-10s %9.3f %8.4f %7.3f\n", contract.title(term).c_str(),
        static_cast<long long>(term.tokens), kind, contract.densePerplexity(k),
        std::exp(contract.loss(measured, k)), measured.terms[k].work);
  }
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

/// The plan on texts and seeds that it was not searched with. Without time for
/// it, everything stays empty.
static Status measureHeldOut(ProbePool &pool, const run::Limit &limit,
                             const SolveOptions &options,
                             const TaskTerms &tasks, const Plan &plan,
                             Contract &contract, Json &result) {
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
  result["held_out"] = termsToJson(contract, measured);
  DeviceInfo device = pool.first().model().device->info();
  Certificate found = certify(contract, measured, options.search.promise,
                              options.search.confidence, tasks, device.name);
  print(found);
  addCertificate(found, result);
  return {};
}

/// Questions of both seeds, as long as the sequences. Without a request for
/// them by name, a context that is too short gives no questions instead of an
/// error.
static Status chooseTasks(ProbePool &pool, const SolveOptions &options,
                          int64_t length, TaskTerms &searched,
                          TaskTerms &heldOut) {
  if (options.search.promise.tasks <= 0)
    return {};
  TaskTerms search{options.searchSamples, options.seed, length, false},
      judged{options.heldOutSamples, options.seed + 1, length,
             /*isEach=*/true};
  Contract trial;
  Status fits = trial.addTasks(pool, {1, 1, length, true});
  if (fits.ok()) {
    searched = search;
    heldOut = judged;
    return {};
  }
  if (options.asksForTasks)
    return Status::error(fits.code, "--tasks: %s", fits.text.c_str());
  std::fprintf(stderr, "note: no questions are asked: %s\n", fits.text.c_str());
  return {};
}

/// Searches a plan and writes it. What was measured is in OUTPUT.partial while
/// the search is not done. A search that ended early has a plan, or says how to
/// go on.
static Status solve(const SolveOptions &options) {
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
  const PlannedModule &module = pool.first().module();
  HeadMenu heads(calibration, module, options.heads);
  GIST_TRY(heads.check(pool.first().model().module->spec().model.name)
               .in(options.calibration));
  std::vector<int64_t> lengths = options.lengths.empty()
                                     ? defaultLengths(module.context)
                                     : options.lengths;
  GIST_TRY(checkLengths(lengths, module.context));
  // All texts are read before the search: a wrong name should not cost it.
  // Opened even without texts: it then has no terms.
  Contract heldOut;
  heldOut.trials = &trials;
  GIST_TRY(heldOut.open(pool, options.heldOut, lengths));
  TaskTerms searchedTasks, heldOutTasks;
  int64_t longest = *std::ranges::max_element(lengths);
  GIST_TRY(chooseTasks(pool, options, longest, searchedTasks, heldOutTasks));
  if (heldOutTasks.samples > 0)
    GIST_TRY(heldOut.addTasks(pool, heldOutTasks));
  Contract terms;
  terms.trials = &trials;
  std::vector<std::string> texts;
  for (const CalibrationText &text : calibration.texts)
    texts.push_back(text.path);
  GIST_TRY(terms.open(pool, texts, lengths));
  if (searchedTasks.samples > 0)
    GIST_TRY(terms.addTasks(pool, searchedTasks));

  PlanMenu menu(&heads, nullptr);
  PlanTrier trier(pool, menu, nullptr, nullptr, limit);
  PlanFinder finder(pool, menu, trier, terms, limit);
  if (!options.start.empty()) {
    PlanFile start;
    GIST_TRY(readPlanFile(options.start, start));
    finder.start = std::move(start.heads);
  }
  // The model as it is, and then the plan.
  finder.tokensAfter = 2 * heldOut.countTokens();
  FoundPlan found;
  GIST_TRY(
      finder.find(options.search, JobTime({longest, 0}, module.shape), found));
  if (!finder.isComplete())
    GIST_TRY(trials.write());
  bool isFound = found.work < 1;
  if (!finder.isComplete() && !isFound)
    return Status::error(
        Code::Io,
        "%s before a plan was found; %zu sequences are in %s, and the same "
        "command goes on from there",
        limit.isInterrupted() ? "stopped" : "--seconds: the time was over",
        trials.size(), trials.path().c_str());
  const Plan &plan = found.plan.heads;
  const Measurement &measured = found.measured;
  printTerms("calibration text", terms, measured);
  Json contract = toJson(options.search.promise, options.search.confidence);
  contract["context"] = module.context;
  contract["work_predicted"] = rounded(found.work);
  contract["measured"] = termsToJson(terms, measured);
  if (!heldOut.terms().empty())
    GIST_TRY(measureHeldOut(pool, limit, options, heldOutTasks, plan, heldOut,
                            contract));
  GIST_TRY(writeWhole(options.output, printPlan(plan, contract.dump())));
  if (finder.isComplete() && !limit.hasStopped()) {
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
               "stopped after %g s: %s is the best so far of %zu measured "
               "sequences; the same command goes on from there\n",
               options.seconds, options.output.c_str(), trials.size());
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
  addPromiseOptions(*command, options->search);
  command
      ->add_option("--task-samples", options->searchSamples,
                   "Questions that plans are searched with, of all tasks "
                   "together; 0: none")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--held-out-samples", options->heldOutSamples,
                   "Questions of each task that the plan is judged by; 0: none")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "Of the questions to search with; those to judge by have "
                   "the next one")
      ->capture_default_str();
  command
      ->add_option("--heads", options->heads.kinds,
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
      ->add_option("--tries", options->search.tries,
                   "Plans to try with less work in one head or some, at the "
                   "end")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--start", options->start,
                   "A plan to go on from instead of a search, if it keeps the "
                   "quality; its heads do what the calibration measured")
      ->type_name("PLAN");
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
  addSessionsOption(*command, options->sessions);
  command->add_option("-o,--output", options->output, "The plan's file")
      ->type_name("FILE")
      ->required();
  command->footer("Example: gist-plan solve wide.gist calibration.json "
                  "--quality 1.01 --text other.txt -o plan.json");
  command->callback([options, command, &action] {
    options->asksForTasks = command->count("--tasks") > 0;
    action = [options] { return solve(*options); };
  });
}
