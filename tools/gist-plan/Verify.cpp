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
  std::vector<std::string> plans, texts;
  std::vector<int64_t> lengths;
  size_t samples = 8;
  uint64_t seed = 2;
  unsigned sessions = 1;
  std::string output;
};

struct JudgedPlan {
  Plan plan;
  Promise promise;
};
} // namespace

/// Every plan is read before anything is measured.
static Status readPlans(const VerifyOptions &options, const Prober &prober,
                        std::vector<JudgedPlan> &plans) {
  for (const std::string &path : options.plans) {
    PlanFile file;
    GIST_TRY(readPlanFile(path, file));
    if (!file.hasHeads())
      return Status::error(Code::BadArgument,
                           "%s: expected a plan of heads; it says nothing of "
                           "them",
                           path.c_str());
    Promise promise = options.planner.promise;
    if (!options.isPromiseGiven)
      GIST_TRY(readPromise(file, promise).in(path + ": contract"));
    plans.push_back({std::move(file.heads), promise});
    const Plan &plan = plans.back().plan;
    // Windows move by blocks: at another size it would be another plan.
    if (plan.block != prober.module().block)
      return Status::error(Code::BadArgument,
                           "%s: the plan has blocks of %lld tokens, the module "
                           "of %lld; compile it with --plan-block=%lld",
                           path.c_str(), static_cast<long long>(plan.block),
                           static_cast<long long>(prober.module().block),
                           static_cast<long long>(plan.block));
    std::vector<float> table;
    GIST_TRY(
        fitPlan(plan, prober.module().table, prober.module().context, table)
            .in(path));
  }
  return {};
}

static Status runVerify(const VerifyOptions &options) {
  if (!options.output.empty())
    GIST_TRY(checkWritable(options.output));
  ProbePool pool;
  GIST_TRY(pool.open(options.model, options.sessions));
  std::vector<JudgedPlan> plans;
  GIST_TRY(readPlans(options, pool.first(), plans));
  Contract contract;
  std::vector<int64_t> lengths = options.lengths;
  if (lengths.empty())
    lengths.push_back(pool.first().module().context);
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
    Measurement measured;
    GIST_TRY(contract.measure(pool, plans[i].plan, measured));
    Certificate found = certify(contract, measured, plans[i].promise,
                                options.planner.confidence, tasks,
                                pool.first().model().device->info().name);
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
      "verify", "Measure whether plans keep a promise on texts and questions: "
                "that of the options, or without any what each file promises");
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
    action = [options] { return runVerify(*options); };
  });
}
