//===- Verify.cpp - gist-plan verify --------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan verify`: whether plans keep a promise on texts and questions that
// the user names. It runs a module for calibration, in which every plan can be
// tried, so that nothing is compiled, and measures the model as it is once for
// all plans. Where nothing else is promised, each plan is judged by what its
// file promises.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/planning/CertificateFile.h"
#include "tools/planning/DepthMenu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

namespace {
struct VerifyOptions {
  run::ModelOptions model;
  SearchOptions planner;       ///< what is promised, and how sure
  bool isPromiseGiven = false; ///< by options, in place of what files promise
  std::string source;          ///< the model that the module is of, for depths
  std::vector<std::string> plans, texts;
  std::vector<int64_t> lengths;
  int64_t answer = 512; ///< tokens behind the prompts that depths are for
  size_t samples = 8;
  uint64_t seed = 2;
  unsigned sessions = 1;
  std::string output;
};

struct JudgedPlan {
  PlanFile file;
  MapSet maps;
  Promise promise;

  bool hasDepths() const { return file.depths.isNeeded(); }
};

class VerifyCommand {
public:
  explicit VerifyCommand(const VerifyOptions &options) : options(options) {}
  Status run();

private:
  Status readPlans();
  Status checkHeads(const Plan &plan);
  Status openDepths();
  Status judge(const JudgedPlan &plan, const Contract &contract,
               const TaskTerms &tasks, Certificate &certificate);
  bool hasDepths() const {
    return std::ranges::any_of(plans, &JudgedPlan::hasDepths);
  }
  bool hasHeads() const {
    return std::ranges::any_of(
        plans, [](const JudgedPlan &plan) { return plan.file.hasHeads(); });
  }

  const VerifyOptions &options;
  std::vector<JudgedPlan> plans;
  ProbePool pool;
  ModelSource source;
  DepthModel depths;
};
} // namespace

/// Every plan is read before anything is measured.
Status VerifyCommand::readPlans() {
  for (const std::string &path : options.plans) {
    JudgedPlan &plan = plans.emplace_back();
    GIST_TRY(readPlanFile(path, plan.file));
    if (!plan.file.hasHeads() && !plan.hasDepths())
      return Status::error(Code::BadArgument,
                           "%s: expected a plan of heads or depths; it says "
                           "nothing of them",
                           path.c_str());
    if (plan.hasDepths() && plan.file.depths.thinForAll)
      return Status::error(Code::BadArgument,
                           "%s: thin layers are for written tokens too, which "
                           "a module to try plans in does not do; compile the "
                           "plan and use gist-run eval",
                           path.c_str());
    plan.promise = options.planner.promise;
    if (!options.isPromiseGiven)
      GIST_TRY(readPromise(plan.file, plan.promise).in(path + ": contract"));
  }
  return {};
}

Status VerifyCommand::checkHeads(const Plan &plan) {
  const PlannedModule &module = pool.first().module();
  // Windows move by blocks: at another size it would be another plan.
  if (plan.block != module.block)
    return Status::error(Code::BadArgument,
                         "the plan has blocks of %lld tokens, the module of "
                         "%lld; compile it with --plan-block=%lld",
                         static_cast<long long>(plan.block),
                         static_cast<long long>(module.block),
                         static_cast<long long>(plan.block));
  std::vector<float> table;
  return fitPlan(plan, module.table, module.context, table);
}

Status VerifyCommand::openDepths() {
  if (options.source.empty())
    return Status::error(Code::BadArgument,
                         "a plan has depths, and its maps are put beside "
                         "weights of the model: name it with --model");
  // Weights that maps stand in for are set in one session.
  if (options.sessions > 1)
    return Status::error(Code::BadArgument,
                         "--sessions: plans of depths are tried in one "
                         "session, got %u",
                         options.sessions);
  GIST_TRY(openModelSource(options.source, source));
  GIST_TRY(depths.open(*pool.first().model().session, source));
  for (size_t i = 0; i < plans.size(); ++i) {
    DepthPlan &plan = plans[i].file.depths;
    if (!plan.isNeeded())
      continue;
    GIST_TRY(depths.check(plan).in(options.plans[i]));
    GIST_TRY(readMaps(plan.maps, depths, plan, plans[i].maps));
  }
  return {};
}

Status VerifyCommand::judge(const JudgedPlan &plan, const Contract &contract,
                            const TaskTerms &tasks, Certificate &certificate) {
  const DepthPlan &depthPlan = plan.file.depths;
  Plan heads =
      plan.file.hasHeads() ? plan.file.heads : makeDense(pool.first().module());
  if (plan.hasDepths())
    GIST_TRY(depths.follow(depthPlan, plan.maps));
  Measurement measured;
  GIST_TRY(contract.measure(pool, Attempt(heads, /*isWhole=*/!plan.hasDepths()),
                            measured));
  certificate =
      certify(contract, measured, plan.promise, options.planner.confidence,
              tasks, pool.first().model().device->info().name);
  if (plan.hasDepths()) {
    certificate.work = countWork(depths, depthPlan, tasks.length);
    certificate.workOf = plan.file.hasHeads()
                             ? "a prompt, without what its heads save"
                             : "a prompt";
  }
  return {};
}

Status VerifyCommand::run() {
  if (!options.output.empty())
    GIST_TRY(checkWritable(options.output));
  GIST_TRY(readPlans());
  GIST_TRY(pool.open(options.model, options.sessions, hasHeads()));
  for (size_t i = 0; i < plans.size(); ++i)
    if (plans[i].file.hasHeads())
      GIST_TRY(checkHeads(plans[i].file.heads).in(options.plans[i]));
  Contract contract;
  std::vector<int64_t> lengths = options.lengths;
  if (lengths.empty())
    lengths.push_back(pool.first().model().session->capacity());
  if (hasDepths()) {
    GIST_TRY(openDepths());
    contract.answer = static_cast<size_t>(options.answer);
    constexpr int64_t kPrompts = 4; // of each text
    contract.tokensOfTerm = kPrompts * options.answer;
    // A prompt, its answer, and as many tokens of the prompt again.
    if (options.lengths.empty())
      lengths.front() =
          std::max<int64_t>(lengths.front() - 2 * options.answer, 1);
  }
  GIST_TRY(contract.open(pool, options.texts, lengths));
  TaskTerms tasks{options.samples, options.seed,
                  *std::max_element(lengths.begin(), lengths.end()), true};
  // Only --tasks can leave questions out, and it does so for all plans.
  if (options.planner.promise.tasks > 0 && options.samples > 0)
    GIST_TRY(contract.addTasks(pool, tasks));
  else
    tasks.samples = 0;
  if (contract.terms().empty())
    return Status::error(
        Code::BadArgument,
        "there is nothing to verify with: give --text, --held-out-samples");
  GIST_TRY(contract.measureDense(pool));
  std::vector<Certificate> list;
  for (size_t i = 0; i < plans.size(); ++i) {
    Certificate found;
    GIST_TRY(judge(plans[i], contract, tasks, found));
    found.plan = std::filesystem::path(options.plans[i]).filename().string();
    std::printf("%s%s\n", i == 0 ? "" : "\n", found.plan.c_str());
    print(found);
    std::fflush(stdout);
    list.push_back(std::move(found));
    // After each plan: what was measured is not lost when the next fails.
    if (!options.output.empty())
      GIST_TRY(writeWhole(options.output, printCertificates(list)));
  }
  return {};
}

void plan::addVerify(CLI::App &app, Action &action) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *command = app.add_subcommand(
      "verify", "Measure whether plans of heads, depths or both keep a promise "
                "on texts and questions: that of the options, or without any "
                "what each file promises");
  run::addModelOptions(*command, options->model);
  command->add_option("plans", options->plans, "Plans to judge")
      ->type_name("PLAN...")
      ->required();
  addPromiseOptions(*command, options->planner);
  command
      ->add_option("-f,--text", options->texts,
                   "Text that the plans were not searched on")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--held-out-samples", options->samples,
                   "Questions of each task; 0: none")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "Of the questions; a search with the default seed never saw "
                   "this one's")
      ->capture_default_str();
  command
      ->add_option("--lengths", options->lengths,
                   "Tokens of the sequences; default: the context")
      ->delimiter(',')
      ->type_name("N,...");
  command
      ->add_option("--model", options->source,
                   "The model that the module is of, GGUF file or folder: for "
                   "plans with depths")
      ->type_name("MODEL");
  command
      ->add_option("--answer", options->answer,
                   "With plans of depths --lengths are those of prompts, and "
                   "so many tokens behind them are judged, and the prompt's "
                   "first again")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  addSessionsOption(*command, options->sessions);
  command
      ->add_option("-o,--output", options->output,
                   "File to write the certificates to (JSON)")
      ->type_name("FILE");
  command->footer("Example: gist-plan verify wide.gist plan.json --quality "
                  "1.01 --text other.txt --held-out-samples 200");
  command->callback([options, command, &action] {
    for (const char *name : {"--quality", "--recall", "--tasks"})
      options->isPromiseGiven |= command->count(name) > 0;
    action = [options] { return VerifyCommand(*options).run(); };
  });
}
