//===- SolveEncoder.cpp - gist-plan solve-encoder -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan solve-encoder`: the same for encoders. The quality is the cosine
// between an embedding and that of the model as it is, the worst of all texts.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/planning/EncoderPlanner.h"

#include "nlohmann/json.hpp"

#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

namespace {
struct Options {
  run::ModelOptions model;
  EncoderOptions planner;
  std::vector<std::string> texts, heldOut;
  std::string output;
  int64_t tokens = 0;
  size_t pieces = 2;
};
} // namespace

/// Five digits: a cosine of .9999 differs from .9998.
static double rounded(double value) { return std::round(value * 1e5) / 1e5; }

/// Without its folder: plans are passed on.
static std::string nameOf(const EncoderText &text) {
  return std::filesystem::path(text.path).filename().string();
}

/// A cosine for each piece, and the worst, which the quality is about.
static void print(const char *title, const std::vector<EncoderText> &texts,
                  const EncoderMeasurement &measured) {
  std::printf("%-24s %7s %9s %7s\n", title, "tokens", "cosine", "work");
  for (size_t i = 0; i < texts.size(); ++i)
    std::printf("%-24s %7zu %9.5f %7.3f\n", nameOf(texts[i]).c_str(),
                texts[i].tokens.size(), 1 - measured.runs[i].loss,
                measured.runs[i].work);
  std::printf("%-24s %7s %9.5f %7.3f (cosine %.5f on average)\n", "worst", "",
              measured.worstCosine(), measured.worstWork(),
              measured.meanCosine());
}

/// A line for each piece of a text.
static std::string printRows(const std::vector<EncoderText> &texts,
                             const EncoderMeasurement &measured) {
  std::string result = "[";
  for (size_t i = 0; i < texts.size(); ++i)
    result += (i == 0 ? "\n    " : ",\n    ") +
              Json({{"text", nameOf(texts[i])},
                    {"tokens", texts[i].tokens.size()},
                    {"cosine", rounded(1 - measured.runs[i].loss)},
                    {"work", rounded(measured.runs[i].work)}})
                  .dump();
  return result + "\n  ]";
}

/// The plan as gist-compile reads it, a line for each layer.
static std::string printPlan(const std::vector<double> &taus, size_t heads,
                             const std::string &contract) {
  std::string text =
      "{\n\"gist_plan\": 1,\n\"contract\": " + contract + ",\n\"layers\": [";
  // `taus` has the heads of one layer after those of the other; 0 leaves a head
  // dense.
  for (size_t first = 0; first < taus.size(); first += heads) {
    Json layer = Json::object();
    std::vector<double> part(taus.begin() + static_cast<ptrdiff_t>(first),
                             taus.begin() +
                                 static_cast<ptrdiff_t>(first + heads));
    // A layer without any is {}, which means: as it is.
    if (std::any_of(part.begin(), part.end(), [](double t) { return t != 0; }))
      layer = {{"selection",
                {{"on", "keys"}, {"tau", part}, {"similarity", "signed"}}},
               {"attend", {{"mode", "keys"}, {"merge", "mean"}}}};
    text += (first == 0 ? "\n  " : ",\n  ") + layer.dump();
  }
  return text + "\n]\n}\n";
}

/// As `solve`, with a cosine for perplexity and without a cache.
static Status runSolveEncoder(const Options &options) {
  GIST_TRY(checkWritable(options.output));
  EncoderProber prober;
  GIST_TRY(prober.open(options.model));
  // All texts are read before the search: a wrong name should not cost it.
  std::vector<EncoderText> texts, heldOut;
  for (const std::string &path : options.texts)
    GIST_TRY(prober.addText(path, options.tokens, options.pieces, texts));
  for (const std::string &path : options.heldOut)
    GIST_TRY(prober.addText(path, options.tokens, options.pieces, heldOut));

  EncoderPlanner planner(options.planner, prober, texts);
  std::vector<double> taus;
  EncoderMeasurement measured, other;
  GIST_TRY(planner.solve(taus, measured));
  print("calibration text", texts, measured);
  std::string contract =
      "{\n  \"cosine\": " + Json(options.planner.quality).dump() +
      ",\n  \"margin\": " + Json(options.planner.margin).dump() +
      ",\n  \"measured\": " + printRows(texts, measured);
  if (!heldOut.empty()) {
    GIST_TRY(planner.measure(taus, heldOut, other));
    print("held-out text", heldOut, other);
    contract += ",\n  \"held_out\": " + printRows(heldOut, other);
  }
  std::string text = printPlan(taus, prober.heads(), contract + "\n}");
  return writeWhole(options.output, text);
}

void plan::addSolveEncoder(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "solve-encoder",
      "Find the least attention that keeps an encoder's embeddings");
  run::addModelOptions(*command, options->model);
  command
      ->add_option("-f,--text", options->texts,
                   "Text to choose on; give several of different kinds")
      ->type_name("FILE")
      ->required()
      ->allow_extra_args(false);
  command
      ->add_option("--held-out", options->heldOut,
                   "Text that the result is measured on, and nothing else")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("-q,--quality", options->planner.quality,
                   "Smallest cosine of an embedding to that of the model as "
                   "it is, for every text")
      ->check(CLI::Range(0.5, 0.99999))
      ->capture_default_str();
  command
      ->add_option("--margin", options->planner.margin,
                   "Share of what is allowed that may be spent on the texts to "
                   "choose on, so that others keep the quality too")
      ->check(CLI::Range(0.05, 1.0))
      ->capture_default_str();
  command
      ->add_option("--taus", options->planner.taus,
                   "What heads may do instead of staying dense")
      ->delimiter(',')
      ->type_name("TAU,...")
      ->check(CLI::Range(0.001, 0.999))
      ->capture_default_str();
  command
      ->add_option("--tokens", options->tokens,
                   "Tokens of a piece of text; 0: as many as the model takes")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--pieces", options->pieces, "Pieces of each text, at most")
      ->type_name("N")
      ->check(CLI::Range(1u, 10000u))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Plan to write")
      ->type_name("FILE")
      ->required();
  command->footer(
      "Example:\n"
      "  gist-compile minilm -o wide.gist --plan=calibration\n"
      "  gist-plan solve-encoder wide.gist --text prose.txt --text code.py "
      "--held-out other.txt -o plan.json\n"
      "  gist-compile minilm -o small.gist --plan plan.json");
  command->callback([options, &action] {
    action = [options] { return runSolveEncoder(*options); };
  });
}
