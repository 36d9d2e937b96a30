//===- ChatTemplateCosts.cpp - What templates may cost --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every step of a template is counted, by what it takes and not by how it is
// written: a short template may ask for much.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/ChatTemplateEval.h"

#include <algorithm>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

Status Interpreter::charge(size_t amount) {
  steps += amount;
  if (steps > ChatTemplate::kMaxSteps)
    return Status::error(Code::BadArgument,
                         "the template takes more than %zu steps",
                         ChatTemplate::kMaxSteps);
  return {};
}

/// What it costs to make or to go through a value.
/// A text costs a step for each 16 bytes, because copying bytes is cheaper than
/// making values.
Status Interpreter::charge(const Value &value) {
  if (value.is(Kind::String))
    return charge(value.str().size() / 16);
  return charge(value.box ? value.items().size() + value.entries().size() : 0);
}

/// What it costs to go through the items of a value: each character of a text
/// becomes a value of its own.
Status Interpreter::chargeItems(const Value &value) {
  return value.is(Kind::String) ? charge(value.str().size()) : charge(value);
}

/// What it costs to write a value as a text: what is no text itself is looked
/// at byte by byte, because quotes and line ends in it are written otherwise.
Status Interpreter::chargeText(const Value &value) {
  return value.is(Kind::String) ? charge(value) : charge(value.weight());
}

Status Interpreter::chargeFilter(const std::string &name, const Value &input) {
  auto isOneOf = [&](const auto &names) {
    return std::find(std::begin(names), std::end(names), name) !=
           std::end(names);
  };
  static constexpr const char *kTakeApart[] = {
      "first",  "join",       "last",   "list",       "map",
      "min",    "max",        "reject", "rejectattr", "reverse",
      "select", "selectattr", "sort",   "unique"};
  if (input.is(Kind::String) && isOneOf(kTakeApart))
    return chargeItems(input);
  if (name == "join" && input.is(Kind::List)) {
    for (const Value &item : input.items())
      GIST_TRY(chargeText(item));
    return charge(input);
  }
  if (name == "string")
    return chargeText(input);
  if (name == "tojson")
    return charge(input.weight() / 4);
  // Others take the items of a list as they are; these look into them.
  static constexpr const char *kDeep[] = {"sort", "unique", "dictsort",
                                          "min",  "max",    "groupby"};
  return isOneOf(kDeep) ? charge(input.weight() / 16) : charge(input);
}
