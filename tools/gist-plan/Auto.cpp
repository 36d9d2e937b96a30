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
                   "GGUF file or Hugging Face folder of a decoder")
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
      {"depths", Choices::Depths}};
  command
      ->add_option("--choices", options->choices,
                   "What a plan may change: heads, depths of prompts, or all")
      ->transform(CLI::CheckedTransformer(kChoices).description(""))
      ->type_name("all|heads|depths");
  static const std::map<std::string, Objective> kObjectives = {
      {"time", Objective::Time}, {"memory", Objective::Memory}};
  command
      ->add_option("--least", options->least,
                   "What a plan is to have least of: the time of a prompt and "
                   "its answer, or memory of the cache")
      ->transform(CLI::CheckedTransformer(kObjectives).description(""))
      ->type_name("time|memory");
  command
      ->add_option("--candidates", options->candidates,
                   "What heads may do instead of staying dense: a list of "
                   "heads in JSON; default: two windows and two kinds of "
                   "clusters")
      ->type_name("FILE");
  command
      ->add_option("--task-samples", options->questions,
                   "Questions to search with, and as many others to judge by; "
                   "0: a few to judge by, where there is time for them")
      ->type_name("N")
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
