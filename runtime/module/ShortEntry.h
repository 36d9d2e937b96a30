//===- ShortEntry.h - The entry for a few tokens ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules for GPUs may have it: what prefill does, for as many tokens as
// EntrySpec::maxTokens says at most. A module without it takes them by prefill.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_MODULE_SHORTENTRY_H
#define GIST_RUNTIME_MODULE_SHORTENTRY_H

namespace gist {

inline constexpr const char *kEntryShort = "short";

} // namespace gist

#endif // GIST_RUNTIME_MODULE_SHORTENTRY_H
