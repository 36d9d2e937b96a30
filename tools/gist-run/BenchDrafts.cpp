//===- BenchDrafts.cpp - What drafts gain ---------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/BenchDrafts.h"

#include "nlohmann/json.hpp"

#include <algorithm>

using namespace gist;
using namespace gist::run;

namespace {
/// The answers of one kind: all have the same tokens.
struct Answers {
  std::vector<double> rates; ///< tokens per second after the first
  GenerateResult last;

  double median() const {
    std::vector<double> sorted = rates;
    std::sort(sorted.begin(), sorted.end());
    size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half]
                             : (sorted[half - 1] + sorted[half]) / 2;
  }
};
} // namespace

static Status writeOnce(Runner &runner, const std::vector<int32_t> &prompt,
                        const GenerateOptions &options, bool isCounted,
                        Answers &answers) {
  GIST_TRY(runner.session->reset());
  GIST_TRY(generate(*runner.session, runner.tokenizer, prompt, options, nullptr,
                    answers.last));
  const GenerateResult &result = answers.last;
  if (isCounted && result.decodeNanoseconds > 0)
    answers.rates.push_back(static_cast<double>(result.decodedTokens) * 1e9 /
                            static_cast<double>(result.decodeNanoseconds));
  return {};
}

/// `costs` are those of calls by their rows, in nanoseconds.
static void print(const Answers &plain, const Answers &drafted, size_t same,
                  const std::vector<std::pair<size_t, double>> &costs,
                  const std::string &format) {
  const DraftCounts &drafts = drafted.last.drafts;
  // The calls that drew one token each are not among those of drafts.
  int64_t calls = drafted.last.decodedTokens - drafts.accepted;
  double perCall = calls > 0 ? static_cast<double>(drafted.last.decodedTokens) /
                                   static_cast<double>(calls)
                             : 0.0;
  double gain = drafted.median() / plain.median();
  if (format == "json") {
    nlohmann::ordered_json body = {{"plain_tokens_per_second", plain.rates},
                                   {"draft_tokens_per_second", drafted.rates},
                                   {"gain", gain},
                                   {"tokens", plain.last.tokens.size()},
                                   {"same_tokens", same},
                                   {"drafted", drafts.drafted},
                                   {"accepted", drafts.accepted},
                                   {"tokens_per_call", perCall}};
    for (auto [rows, nanoseconds] : costs)
      body["call_ms"][std::to_string(rows)] = nanoseconds / 1e6;
    std::printf("%s\n", body.dump(2).c_str());
    return;
  }
  std::printf("without drafts %9.2f tokens/s\n"
              "with drafts    %9.2f tokens/s, %.2f times\n"
              "guessed        %9lld tokens, %lld were right; %.2f tokens per "
              "call\n"
              "the same       %9zu of %zu tokens\n",
              plain.median(), drafted.median(), gain,
              static_cast<long long>(drafts.drafted),
              static_cast<long long>(drafts.accepted), perCall, same,
              plain.last.tokens.size());
  for (auto [rows, nanoseconds] : costs)
    std::printf("call of %2zu row%s %9.3f ms\n", rows, rows == 1 ? " " : "s",
                nanoseconds / 1e6);
}

Status run::benchDrafts(const ModelOptions &model,
                        const BenchDraftOptions &options) {
  Runner runner;
  GIST_TRY(runner.openWithTokenizer(model));
  std::string text;
  GIST_TRY(readText(options.text, text));
  std::vector<int32_t> prompt;
  runner.tokenizer.encode(text, prompt);
  if (prompt.empty())
    return Status::error(Code::BadArgument, "%s: the text is empty",
                         options.text.c_str());
  GenerateOptions plain;
  plain.maxTokens = options.tokens;
  GenerateOptions drafted = plain;
  GIST_TRY(chooseDrafter(options.draft, runner, model.trust, drafted));
  Answers without, with;
  for (int64_t i = 0; i <= options.repetitions; ++i) {
    GIST_TRY(writeOnce(runner, prompt, plain, i > 0, without));
    GIST_TRY(writeOnce(runner, prompt, drafted, i > 0, with));
  }
  if (without.rates.empty() || with.rates.empty())
    return Status::error(Code::BadArgument,
                         "the model ended its text at once; expected a text "
                         "that it continues by some tokens");
  const std::vector<int32_t> &a = without.last.tokens, &b = with.last.tokens;
  auto same = static_cast<size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  print(without, with, same, runner.session->draftGovernor().knownCosts(),
        options.format);
  return runner.finish();
}
