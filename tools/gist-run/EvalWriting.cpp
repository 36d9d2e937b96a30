//===- EvalWriting.cpp - gist-run eval --generate -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run eval --generate`: whether a text written with a plan stays like one
// of the model without it. Errors of a cache could add up over a long text.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/EvalWriting.h"

#include "tools/running/Progress.h"

#include "nlohmann/json.hpp"

using namespace gist;
using namespace gist::run;

static void printJson(const EvalWritingOptions &options, const Runner &runner,
                      size_t prompt, const Written &written) {
  nlohmann::json parts = nlohmann::json::array();
  size_t first = prompt;
  for (const Comparison &part : written.parts) {
    parts.push_back({{"first", first},
                     {"tokens", part.count},
                     {"kl_mean", part.meanKl()},
                     {"kl_max", part.klMax},
                     {"top1_agreement", part.agreement()},
                     {"nll", part.meanNll()},
                     {"against_nll", std::log(part.referencePerplexity())}});
    first += part.count;
  }
  nlohmann::json json = {{"module", options.model.path},
                         {"against", options.against.path},
                         {"prompt_tokens", prompt},
                         {"seed", options.writing.sampler.seed},
                         {"text", runner.tokenizer.decode(written.tokens)},
                         {"written", written.tokens},
                         {"parts", parts}};
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                  .c_str());
}

static void printWritten(size_t prompt, const Written &written) {
  std::printf("%-15s %12s %12s %12s %8s %10s\n", "tokens", "KL mean", "KL max",
              "same top-1", "nll", "the other");
  size_t first = prompt;
  for (const Comparison &part : written.parts) {
    std::string range =
        std::to_string(first) + "..." + std::to_string(first + part.count - 1);
    std::printf("%-15s %12.6f %12.6f %12.4f %8.4f %10.4f\n", range.c_str(),
                part.meanKl(), part.klMax, part.agreement(), part.meanNll(),
                std::log(part.referencePerplexity()));
    first += part.count;
  }
}

Status run::runWriting(const EvalWritingOptions &options) {
  std::string text;
  GIST_TRY(readText(options.text, text));
  ModelOptions model = options.model;
  model.writes = true;
  model.context =
      std::max(model.context, options.promptTokens +
                                  static_cast<int64_t>(options.writing.tokens));
  Runner runner;
  GIST_TRY(runner.openWithTokenizer(model));
  std::unique_ptr<Runner> other;
  GIST_TRY(openAgainst(options.against, model, runner, other));
  std::vector<int32_t> prompt(runner.tokenizer.spec().prefix.begin(),
                              runner.tokenizer.spec().prefix.end());
  runner.tokenizer.encode(text, prompt,
                          {.addSpecial = false, .parseSpecial = false});
  prompt.resize(
      std::min(prompt.size(), static_cast<size_t>(options.promptTokens)));
  if (prompt.empty())
    return Status::error(Code::BadArgument, "%s: the text is empty",
                         options.text.c_str());
  Written written;
  {
    plan::Progress progress("tokens", options.writing.tokens);
    GIST_TRY(compareWriting(
        runner, *other, prompt, options.writing, [&] { progress.advance(); },
        written));
  }
  if (options.json)
    printJson(options, runner, prompt.size(), written);
  else
    printWritten(prompt.size(), written);
  return runner.finish();
}
