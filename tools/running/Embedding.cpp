//===- Embedding.cpp - How long a text may be to be embedded --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Embedding.h"

#include "runtime/module/Properties.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

using namespace gist;

Status run::findEmbedLimit(const Session &session, size_t &limit) {
  limit = static_cast<size_t>(session.maxTokens(kEntryEmbed));
  const auto &properties = session.module().spec().model.properties;
  auto found = properties.find(kMaxSentenceProperty);
  if (found == properties.end())
    return {};
  const std::string &text = found->second;
  size_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    return Status::error(Code::BadFile,
                         "the module's property '%s' is '%s'; expected a "
                         "positive integer",
                         kMaxSentenceProperty, text.c_str());
  limit = std::min(limit, number);
  return {};
}

double run::dotProduct(const std::vector<float> &a,
                       const std::vector<float> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void run::normalize(std::vector<float> &vector) {
  double norm = std::sqrt(dotProduct(vector, vector));
  if (norm > 0)
    for (float &value : vector)
      value = static_cast<float>(value / norm);
}
