//===- Writing.cpp - Two models along a text that one writes --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Writing.h"

using namespace gist;
using namespace gist::run;

Status run::compareWriting(Runner &model, Runner &reference,
                           std::span<const int32_t> prompt,
                           const WritingOptions &options,
                           const std::function<void()> &afterToken,
                           Written &result) {
  Sampler sampler;
  GIST_TRY(Sampler::create(options.sampler, sampler));
  sampler.see(prompt);
  GIST_TRY(model.session->reset());
  GIST_TRY(reference.session->reset());
  GIST_TRY(model.session->feed(prompt));
  GIST_TRY(reference.session->feed(prompt));
  Written written;
  written.parts.resize(std::min(options.parts, options.tokens));
  for (size_t i = 0; i < options.tokens; ++i) {
    std::span<const float> logits = model.session->logits(),
                           other = reference.session->logits();
    if (logits.size() != other.size())
      return Status::error(Code::BadArgument,
                           "the modules have different vocabularies");
    int32_t token = 0;
    GIST_TRY(sampler.sample(logits, token));
    written.parts[i * written.parts.size() / options.tokens].add(logits, other,
                                                                 token);
    written.tokens.push_back(token);
    if (afterToken)
      afterToken();
    // What would follow the last token is not asked.
    if (i + 1 == options.tokens)
      break;
    GIST_TRY(model.session->feed({&token, 1}));
    GIST_TRY(reference.session->feed({&token, 1}));
  }
  result = std::move(written);
  return {};
}
