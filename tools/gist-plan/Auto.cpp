//===- Auto.cpp - gist-plan auto ------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan auto`: from a model to a plan in one command. It compiles a module
// to try plans in, measures what parts of the model take on this machine and
// what each head and layer loses alone, chooses what saves the most time of a
// job, certifies it, and compares the model with and without the plan. All
// steps share one limit of time. What heads lose stays in a folder, and a
// second run goes on from there.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Status.h"
#include "tools/gist-plan/AutoPlan.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SharedOptions.h"

#include <map>

using namespace gist;
using namespace gist::plan;

void plan::addAuto(CLI::App &app, Action &action) {
  auto options = std::make_shared<AutoOptions>();
  CLI::App *command = app.add_subcommand(
      "auto", "From a model to a plan: compile, calibrate, solve, compare, "
              "draw; a second run goes on where the first ended");
  command
      ->add_option("model", options->model,
                   "GGUF file or Hugging Face folder of a decoder, or of an "
                   "encoder")
      ->type_name("MODEL")
      ->required();
  addPromiseOptions(*command, options->search);
  command
      ->add_option("--seconds", options->seconds,
                   "Time for all steps together; 0: no limit. More time finds "
                   "plans that do less work")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--prompt", options->job.prompt,
                   "Tokens of the prompts that the plan is for; default: half "
                   "of the context")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("--answer", options->job.answer,
                   "Tokens of the answers behind them")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command
      ->add_option("--context", options->context,
                   "Tokens that sessions hold; default: prompt and answer, or "
                   "4096, or the model's own if it has fewer")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  static const std::map<std::string, Choices> kChoices = {
      {"all", Choices::All},
      {"heads", Choices::Heads},
      {"depths", Choices::Depths},
      {"linears", Choices::Linears}};
  command
      ->add_option("--choices", options->choices,
                   "What a plan may change: heads, depths of prompts, bits of "
                   "all linear layers; or all, with the bits of the output "
                   "weight alone")
      ->transform(CLI::CheckedTransformer(kChoices).description(""))
      ->type_name("all|heads|depths|linears");
  static const std::map<std::string, Objective> kObjectives = {
      {"time", Objective::Time},
      {"memory", Objective::Memory},
      {"work", Objective::Work}};
  command
      ->add_option("--least", options->least,
                   "What a plan is to have least of: the time of a prompt and "
                   "its answer, memory (of the cache, or with "
                   "--choices=linears of weights), or multiply-adds of a "
                   "prompt")
      ->transform(CLI::CheckedTransformer(kObjectives).description(""))
      ->type_name("time|memory|work");
  command
      ->add_option("--candidates", options->candidates,
                   "What heads may do instead of staying dense: a list of "
                   "heads in JSON; default: two windows and two kinds of "
                   "clusters")
      ->type_name("FILE");
  command
      ->add_option("--cosine", options->search.promise.cosine,
                   "Of an encoder, in place of --quality: smallest cosine of "
                   "an embedding to that of the model as it is")
      ->check(CLI::Range(0.5, 0.99999))
      ->capture_default_str();
  command
      ->add_option("--taus", options->taus,
                   "What heads of an encoder may do instead of staying dense: "
                   "how far keys may be from the one that stands for them")
      ->delimiter(',')
      ->type_name("TAU,...")
      ->check(CLI::Range(0.001, 0.999))
      ->capture_default_str();
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
  command
      ->add_option("--max-tokens", options->maxTokens,
                   "Tokens of all texts to fit maps and to round weights with")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command
      ->add_option("--max-k", options->maxK,
                   "Dimensions of bases of linear layers, for gates, at most; "
                   "0: no bases")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  command
      ->add_option("--inheritance", options->inheritance,
                   "Share of the energy that a basis of the layer before may "
                   "miss; 0: every basis is fresh")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--compute", options->compute,
                   "What 'gist-compile --compute' gets; with f32 the model and "
                   "its plans differ by their weights, and not by rows in 8 "
                   "bits")
      ->type_name("TYPE");
  static const std::map<std::string, HeadKinds> kKinds = {
      {"all", HeadKinds::All},
      {"windows", HeadKinds::Windows},
      {"representatives", HeadKinds::Representatives}};
  command
      ->add_option("--heads", options->kinds,
                   "What heads may do instead of staying dense")
      ->transform(CLI::CheckedTransformer(kKinds).description(""))
      ->type_name("all|windows|representatives");
  command
      ->add_option("--calibration", options->calibration,
                   "What 'gist-plan calibrate' wrote, in place of a quicker "
                   "measurement of heads; its texts are those of the search")
      ->type_name("FILE");
  command
      ->add_option("--start", options->start,
                   "A plan to go on from instead of a search, if it keeps the "
                   "quality; its heads do what was measured")
      ->type_name("PLAN");
  command
      ->add_option("--lengths", options->lengths,
                   "Tokens of the texts to search with and to judge by; "
                   "default: one length, by the job and the time")
      ->delimiter(',')
      ->type_name("N,...");
  command
      ->add_option("--task-samples", options->taskSamples,
                   "Questions that plans are searched with, of all tasks "
                   "together; 0: none")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--held-out-samples", options->heldOutSamples,
                   "Questions of each task that the plan is judged by; 0: some "
                   "of all tasks together, where there is time")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "Of the questions to search with; those to judge by have "
                   "the next one")
      ->capture_default_str();
  command
      ->add_option("--tries", options->search.tries,
                   "Plans to try with less work in one place or some, at the "
                   "end")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  addSessionsOption(*command, options->sessions);
  command
      ->add_option("--chunk", options->chunk,
                   "Tokens of a call; default: as the module has it")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  addPlaceOptions(*command, options->device, options->threads,
                  options->compiler);
  command
      ->add_option("-o,--output", options->folder,
                   "Folder for the plan, its page and what was measured; "
                   "default: the model's name and -plan")
      ->type_name("FOLDER");
  command->footer("Example: gist-plan auto model.gguf --quality 1.01");
  command->callback([options, command, &action] {
    options->isPromptGiven = command->count("--prompt") > 0;
    options->asksForTasks = command->count("--tasks") > 0;
    action = [options] { return AutoPlan(*options).run(); };
  });
}
