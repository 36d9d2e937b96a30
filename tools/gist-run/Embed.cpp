//===- Embed.cpp - gist-run embed -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run embed`: texts to vectors, or texts ranked by similarity.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Embedding.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string file, query;
  bool normalize = false, json = false;
};
} // namespace

/// 0 for a vector without a direction.
static double cosine(const std::vector<float> &a, const std::vector<float> &b) {
  double norms = std::sqrt(dotProduct(a, a) * dotProduct(b, b));
  return norms > 0 ? dotProduct(a, b) / norms : 0;
}

/// With --normalize the length is 1, so that a dot product is the cosine.
static Status embedText(Runner &runner, const std::string &text,
                        bool toLengthOne, std::vector<float> &vector) {
  std::vector<int32_t> tokens;
  runner.tokenizer.encode(text, tokens);
  // Models without tokens around a text have nothing to embed here.
  if (tokens.empty() && text.empty()) {
    auto size = static_cast<size_t>(runner.module->spec().model.embeddingSize);
    vector.assign(size, 0.0f);
    return {};
  }
  // A text longer than the model can take is cut, as the reference does; the
  // last token is the one that ends a text and stays.
  size_t limit = 0;
  GIST_TRY(findEmbedLimit(*runner.session, limit));
  if (tokens.size() > limit) {
    std::fprintf(stderr,
                 "gist-run: note: a text of %zu tokens was cut to %zu\n",
                 tokens.size(), limit);
    std::swap(tokens[limit - 1], tokens.back());
    tokens.resize(limit);
  }
  GIST_TRY(runner.session->embed(tokens, vector));
  if (toLengthOne)
    normalize(vector);
  return {};
}

/// Seven digits give an f32 back nearly as it was, and stay readable.
static void printVector(const std::vector<float> &vector) {
  for (size_t i = 0; i < vector.size(); ++i)
    std::printf(i == 0 ? "%.7g" : " %.7g", static_cast<double>(vector[i]));
  std::printf("\n");
}

/// The texts by similarity to the query, the nearest first.
static void printRanking(const Options &options,
                         const std::vector<std::vector<float>> &vectors,
                         const std::vector<float> &query) {
  std::vector<double> scores;
  scores.reserve(vectors.size());
  for (const std::vector<float> &vector : vectors)
    scores.push_back(cosine(vector, query));
  std::vector<size_t> order(vectors.size());
  std::iota(order.begin(), order.end(), 0);
  // Equal scores keep the order of the texts, so that the output repeats.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  if (!options.json) {
    for (size_t i : order)
      std::printf("%.4f\t%s\n", scores[i], options.texts[i].c_str());
    return;
  }
  nlohmann::json list = nlohmann::json::array();
  for (size_t i : order)
    list.push_back({{"text", options.texts[i]}, {"similarity", scores[i]}});
  nlohmann::json result = {{"query", options.query}, {"ranking", list}};
  std::printf(
      "%s\n",
      result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
          .c_str());
}

/// Every line of a file is a text. All vectors are computed before anything is
/// printed.
static Status runEmbed(Options &options) {
  if (!options.file.empty()) {
    std::string content;
    GIST_TRY(readText(options.file, content));
    std::istringstream lines(content);
    // A blank line is a text too: results stand in the order of the lines.
    for (std::string line; std::getline(lines, line);)
      options.texts.push_back(line);
  }
  if (options.texts.empty())
    return Status::error(Code::BadArgument, "there is no text to embed");
  Runner runner;
  GIST_TRY(runner.openWithTokenizer(options.model));
  std::vector<std::vector<float>> vectors(options.texts.size());
  for (size_t i = 0; i < vectors.size(); ++i)
    GIST_TRY(embedText(runner, options.texts[i], options.normalize, vectors[i])
                 .in("text " + std::to_string(i + 1)));
  if (!options.query.empty()) {
    std::vector<float> query;
    GIST_TRY(embedText(runner, options.query, options.normalize, query));
    printRanking(options, vectors, query);
  } else if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (size_t i = 0; i < vectors.size(); ++i)
      list.push_back({{"text", options.texts[i]}, {"embedding", vectors[i]}});
    std::printf("%s\n", list.dump(2, ' ', false,
                                  nlohmann::json::error_handler_t::replace)
                            .c_str());
  } else {
    for (const std::vector<float> &vector : vectors)
      printVector(vector);
  }
  return runner.finish();
}

void run::addEmbed(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "embed", "Turn texts into vectors, or rank them by similarity");
  addModelOptions(*command, options->model);
  command->add_option("texts", options->texts, "Texts to embed")
      ->type_name("TEXT");
  addSetting(*command, "-f,--file", options->file, "FILE",
             "Embed every line of FILE; - for standard input");
  addSetting(*command, "--similarity", options->query, "TEXT",
             "Print the texts by cosine similarity to TEXT instead of "
             "their vectors");
  command->add_flag("--normalize", options->normalize,
                    "Scale vectors to length 1");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: gist-run embed minilm.gist --similarity 'a fast "
                  "car' 'a quick automobile' 'a slow snail'");
  command->callback([options, &action] {
    action = [options] { return runEmbed(*options); };
  });
}
