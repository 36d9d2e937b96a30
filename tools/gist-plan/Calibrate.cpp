//===- Calibrate.cpp - gist-plan calibrate --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan calibrate`: what each head would cost and lose if it alone did
// less (tools/planning/Calibrator.h).
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/planning/Calibrator.h"

using namespace gist;
using namespace gist::plan;

namespace {
struct CalibrateCommand {
  CalibratorOptions calibrator;
  std::string candidates;
  double seconds = 0;
};
} // namespace

/// Windows with sinks and clusters of several thresholds; of each kind the
/// cheapest first.
static std::vector<HeadChoice> defaultCandidates() {
  std::vector<HeadChoice> result;
  for (int64_t window : {128, 512, 1024})
    result.push_back({.kind = HeadKind::Window, .window = window, .sinks = 4});
  struct Clusters {
    double theta;
    int64_t window;
  };
  for (auto [theta, window] : std::initializer_list<Clusters>{{0.5, 128},
                                                              {0.7, 128},
                                                              {0.8, 128},
                                                              {0.8, 512},
                                                              {0.9, 128},
                                                              {0.9, 512},
                                                              {0.95, 256}})
    result.push_back({.kind = HeadKind::Clusters,
                      .window = window,
                      .theta = theta,
                      .room = 1});
  return result;
}

static Status runCalibrate(CalibrateCommand &command) {
  CalibratorOptions &options = command.calibrator;
  run::Limit limit(command.seconds);
  options.candidates = defaultCandidates();
  if (!command.candidates.empty())
    GIST_TRY(readCandidates(command.candidates, options.candidates));
  Calibrator calibrator(options, limit);
  GIST_TRY(calibrator.run());
  if (!calibrator.isComplete())
    std::fprintf(stderr,
                 "stopped after %g s: %zu of %zu measurements are in %s; the "
                 "same command goes on from there\n",
                 command.seconds, calibrator.countDone(), calibrator.countAll(),
                 options.output.c_str());
  return {};
}

void plan::addCalibrate(CLI::App &app, Action &action) {
  auto options = std::make_shared<CalibrateCommand>();
  CLI::App *command = app.add_subcommand(
      "calibrate",
      "Measure what each head costs and loses, one head at a time");
  run::addModelOptions(*command, options->calibrator.model);
  command
      ->add_option("-f,--text", options->calibrator.texts,
                   "Text to measure on; give several of different kinds")
      ->type_name("FILE")
      ->required()
      ->allow_extra_args(false);
  command
      ->add_option("--tokens", options->calibrator.tokens,
                   "Tokens of a sequence: half of them text, half the same "
                   "again; 0: the context")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--candidates", options->candidates,
                   "List of what heads may do (JSON, heads as in a plan, of "
                   "each kind the cheapest first); default: windows of 128 to "
                   "1024 tokens and thetas of 0.5 to 0.95")
      ->type_name("FILE");
  addSessionsOption(*command, options->calibrator.sessions);
  command
      ->add_option("--negligible", options->calibrator.negligible,
                   "A loss in nats per token below which dearer candidates of "
                   "a kind are not measured (five times it for recall)")
      ->capture_default_str();
  command
      ->add_option("--seconds", options->seconds,
                   "Stop after this time with what was measured until then; 0: "
                   "no limit. The same command goes on from there")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("-o,--output", options->calibrator.output,
                   "File to write; if it is there already, of the same texts, "
                   "the measurements go on where they ended")
      ->type_name("FILE")
      ->required();
  command->footer("Example: gist-plan calibrate wide.gist --text prose.txt "
                  "--text code.py --tokens 4096 -o calibration.json");
  command->callback([options, &action] {
    action = [options] { return runCalibrate(*options); };
  });
}
