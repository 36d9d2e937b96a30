//===- Embedding.h - How long a text may be to be embedded ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_EMBEDDING_H
#define GIST_TOOLS_RUNNING_EMBEDDING_H

#include "runtime/session/Session.h"

#include <vector>

namespace gist::run {

/// The most tokens of a text that the module embeds.
Status findEmbedLimit(const Session &session, size_t &limit);

/// In double: a sum of many products in float would lose digits.
double dotProduct(const std::vector<float> &a, const std::vector<float> &b);

/// Scales a vector to length 1, so that a dot product is the cosine; one
/// without a direction stays.
void normalize(std::vector<float> &vector);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_EMBEDDING_H
