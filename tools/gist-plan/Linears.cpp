//===- Linears.cpp - gist-plan linears ------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan linears`: what linear layers could do without. A module with the
// entry `observe` shows what they read; weights and bases are computed from
// that and from the model's own weights.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Generator.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/planning/LinearCalibration.h"
#include "tools/running/Options.h"

#include <cinttypes>
#include <fstream>
#include <sstream>

using namespace gist;
using namespace gist::plan;

namespace {
struct CalibrateOptions {
  std::string module, model, output;
  std::vector<std::string> texts;
  unsigned threads = 0;
  bool trust = false;
  CalibrationOptions calibration;
};
} // namespace

/// An empty file is a text too, and not an error here.
static Status readFile(const std::string &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || (file.peek() != EOF && !(content << file.rdbuf())))
    return Status::error(Code::NotFound, "%s: the file cannot be read",
                         path.c_str());
  text = content.str();
  return {};
}

/// Windows of all texts, one text after the other as they come.
/// Each text gives the same number of tokens at most, so that a long one does
/// not outweigh the others.
static Status readTokens(const CalibrateOptions &options, const Module &module,
                         std::vector<int32_t> &tokens) {
  Tokenizer tokenizer;
  GIST_TRY(loadTokenizer(module, tokenizer).in(options.module));
  size_t most = options.calibration.maxTokens / options.texts.size();
  for (const std::string &path : options.texts) {
    std::string text;
    GIST_TRY(readFile(path, text));
    std::vector<int32_t> ids;
    tokenizer.encode(text, ids);
    ids.resize(std::min(ids.size(), most));
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return {};
}

static Status runCalibrate(const CalibrateOptions &options) {
  GIST_TRY(checkWritable(options.output + ".json"));
  std::shared_ptr<const Module> module;
  std::unique_ptr<Device> device;
  std::unique_ptr<Session> session;
  GIST_TRY(Module::open(options.module, module));
  DeviceOptions chosen;
  chosen.threads = options.threads;
  GIST_TRY(openDevice("cpu", chosen, device));
  GIST_TRY(Session::create(module, *device, {.trust = options.trust}, session)
               .in(options.module));
  ModelSource model;
  GIST_TRY(openModelSource(options.model, model));
  std::vector<int32_t> tokens;
  GIST_TRY(readTokens(options, *module, tokens));
  LinearCalibration result;
  GIST_TRY(calibrateLinears(*session, model, tokens, options.calibration,
                            options.output + ".safetensors",
                            showLinearProgress(), result));
  // A basis may be taken over from the layer before, so there are fewer
  // decompositions than bases.
  if (options.calibration.maxK > 0)
    std::fprintf(stderr, "%zu bases by %" PRId64 " decompositions\n",
                 result.inputs.size(), result.decompositions);
  // The matrices are in the .safetensors file, the numbers in this one.
  return writeWhole(options.output + ".json", result.print());
}

void gist::plan::addLinears(CLI::App &app, Action &action) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App *command =
      app.add_subcommand("linears", "Measure what linear layers lose with "
                                    "bases and with weights in few bits");
  command
      ->add_option("module", options->module,
                   "Module made by gist-compile --observe")
      ->required()
      ->type_name("MODULE");
  command->add_option("--model", options->model, "The model it was made from")
      ->required()
      ->type_name("PATH");
  command
      ->add_option("--text", options->texts,
                   "Text to calibrate with; may be given several times")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->output,
                   "Writes NAME.json and NAME.safetensors")
      ->required()
      ->type_name("NAME");
  command->add_option("-t,--threads", options->threads, "CPU threads; 0: all")
      ->type_name("N");
  run::addTrustOption(*command, options->trust);
  command
      ->add_option("--max-tokens", options->calibration.maxTokens,
                   "Tokens of all texts together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--probe-tokens", options->calibration.probeTokens,
                   "Tokens on which the cost of rounding each layer is "
                   "measured; 0: errors of all layers count alike")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--max-k", options->calibration.maxK,
                   "Dimensions of bases, at most; 0: no bases")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--inheritance", options->calibration.inheritance,
                   "Share of the energy that a basis of the layer before may "
                   "miss; 0: every basis is fresh")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->callback([options, &action] {
    action = [options] { return runCalibrate(*options); };
  });
}
