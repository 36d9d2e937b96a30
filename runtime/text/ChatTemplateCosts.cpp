//===- ChatTemplateCosts.cpp - What templates may cost --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateCosts.h"
#include "runtime/text/ChatTemplate.h"

#include <algorithm>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

Status Budget::charge(size_t amount) {
  steps += amount;
  if (steps > ChatTemplate::kMaxSteps)
    return Status::error(Code::BadArgument,
                         "the template takes more than %zu steps",
                         ChatTemplate::kMaxSteps);
  return {};
}

Status Budget::charge(const Value &value) {
  if (value.is(Kind::String))
    return charge(value.str().size() / 16);
  return charge(value.box ? value.items().size() + value.entries().size() : 0);
}

Status Budget::chargeItems(const Value &value) {
  return value.is(Kind::String) ? charge(value.str().size()) : charge(value);
}

Status Budget::chargeWhole(const Value &value) {
  return charge(value.weight() / 16);
}

Status Budget::chargeBoth(const Value &a, const Value &b) {
  return charge(std::min(a.weight(), b.weight()) / 16);
}

Status Budget::chargeText(const Value &value) {
  return value.is(Kind::String) ? charge(value) : charge(value.weight());
}
