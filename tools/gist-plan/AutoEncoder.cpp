//===- AutoEncoder.cpp - Plans of encoders for `gist-plan auto` -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/AutoPlan.h"

#include <chrono>
#include <cinttypes>

using namespace gist;
using namespace gist::plan;

/// The less of what was measured and one more run.
static Status timeEmbedding(Session &session, std::span<const int32_t> tokens,
                            double &least) {
  std::vector<float> unused;
  auto before = std::chrono::steady_clock::now();
  GIST_TRY(session.embed(tokens, unused));
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - before;
  least = least > 0 ? std::min(least, taken.count()) : taken.count();
  return {};
}

Status AutoPlan::measureSelections() {
  begin("measuring what parts of the model take on this machine");
  options.job.prompt =
      std::min(options.isPromptGiven ? options.job.prompt
                                     : pool.first().module().context,
               pool.first().module().context);
  options.job.answer = 0;
  // Pieces of each text: those that a plan is judged by are more.
  terms.tokensOfTerm = 2 * options.job.prompt;
  heldOut.tokensOfTerm = 4 * options.job.prompt;
  GIST_TRY(terms.open(pool, options.texts, {options.job.prompt}));
  GIST_TRY(heldOut.open(pool, options.heldOut, {options.job.prompt}));
  begin("measuring what each head loses alone");
  run::Limit part(secondsFor(1 - kForSearch));
  pool.stopAt(part);
  selections =
      std::make_unique<SelectionMenu>(pool.first().countTaus(), options.taus);
  Status status = terms.measureDense(pool);
  if (status.ok())
    status = selections->measure(pool, terms, part);
  pool.stopAt(unlimited);
  return part.hasStopped() ? Status() : status;
}

/// Both modules embed the same text in turns.
Status AutoPlan::compareEmbeddings() {
  const char *kPlanned = "planned.gist";
  GIST_TRY(compileModel(sides(), file(kPlanned), {"--plan", file(kPlanFile)}));
  run::Runner dense, planned;
  GIST_TRY(dense.open(moduleOf(kDenseModule)));
  GIST_TRY(planned.open(moduleOf(kPlanned)));
  std::vector<int32_t> tokens;
  GIST_TRY(readTokens(pool.first(), options.heldOut.front(), tokens));
  tokens.resize(
      std::min(tokens.size(), static_cast<size_t>(options.job.prompt)));
  speedTokens = static_cast<int64_t>(tokens.size());
  double before = 0, after = 0;
  constexpr int kTurns = 7;
  for (int i = 0; i < kTurns; ++i) {
    GIST_TRY(timeEmbedding(*dense.session, tokens, before));
    GIST_TRY(timeEmbedding(*planned.session, tokens, after));
  }
  speedUp = {.prompt = before / after,
             .densePrompt = static_cast<double>(speedTokens) / before,
             .denseAnswer = 1,
             .isFollowed = true};
  std::printf("a text of %" PRId64
              " tokens takes %.3g s instead of %.3g s, %.2f times as fast\n",
              speedTokens, after, before, speedUp.prompt);
  return {};
}
