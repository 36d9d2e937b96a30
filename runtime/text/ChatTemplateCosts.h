//===- ChatTemplateCosts.h - What templates may cost ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A template comes from a model file and is not trusted. Its work is counted in
// steps, and their number is limited: a short template may ask for much work.
// Every function that walks a value charges for it first.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATECOSTS_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATECOSTS_H

#include "runtime/support/Status.h"
#include "runtime/text/ChatTemplateValue.h"

namespace gist::chat {

/// What one rendering has used. Every function fails when that is too much.
class Budget {
public:
  Status charge(size_t amount);
  /// To make a value or to copy it: its items, which are shared and not copied
  /// themselves, or a step for each 16 bytes of a text, because copying bytes
  /// is cheaper than making values.
  Status charge(const Value &value);
  /// To make each item of a value, and each character of a text, a value of its
  /// own.
  Status chargeItems(const Value &value);
  /// To look at all that is in a value, as comparisons do.
  Status chargeWhole(const Value &value);
  /// To compare two values: as much is looked at as the smaller one has.
  Status chargeBoth(const Value &a, const Value &b);
  /// To write a value as a text: the content of other values than texts is read
  /// byte by byte, because quotes and line ends in it are escaped.
  Status chargeText(const Value &value);

private:
  size_t steps = 0;
};

} // namespace gist::chat

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATECOSTS_H
