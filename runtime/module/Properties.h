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

} // namespace gist

#endif // GIST_RUNTIME_MODULE_PROPERTIES_H
