//===- Properties.h - Names of a model's properties -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_PROPERTIES_H
#define GIST_RUNTIME_MODULE_PROPERTIES_H

namespace gist {

/// The most tokens of a text that a sentence model was made for, where that is
/// less than it can take. Longer texts are cut to it before they are embedded.
inline constexpr const char *kMaxSentenceProperty = "max_seq_length";

/// Three numbers, such as "4 128 64": tokens at the beginning and at the end of
/// a prompt that are not for the entry `read`, because a plan lets the others
/// walk through fewer layers there, and how many others it takes at least.
/// Without it `read` is exact.
inline constexpr const char *kBulkProperty = "bulk";

/// A hash of the model's weights, in hexadecimal, of a module that maps are
/// fitted with.
inline constexpr const char *kWeightsProperty = "weights";

/// Names of adapters, apart by spaces. Tokens of those that the n-th one is for
/// have n << kAdapterShift added to their ids.
inline constexpr const char *kAdaptersProperty = "adapters";
inline constexpr int kAdapterShift = 24;

} // namespace gist

#endif // GIST_RUNTIME_MODULE_PROPERTIES_H
