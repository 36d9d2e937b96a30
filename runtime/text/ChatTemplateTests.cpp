//===- ChatTemplateTests.cpp - Tests of templates -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests of Jinja, `x is name`, that chat templates of published models use.
// What is not here gives an error that names it.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateBuiltins.h"

#include <algorithm>
#include <iterator>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

static Status compareTest(const std::string &name, const Value &in,
                          const Value &other, Budget &budget, bool &out) {
  if (name == "in")
    return contains(other, in, budget, out);
  GIST_TRY(budget.chargeBoth(in, other));
  if (name == "equalto" || name == "eq" || name == "==" || name == "sameas") {
    out = in == other;
    return {};
  }
  if (name == "ne" || name == "!=") {
    out = !(in == other);
    return {};
  }
  if (name == "divisibleby") {
    if (!in.is(Kind::Int) || !other.is(Kind::Int) || other.integer == 0)
      return Status::error(
          Code::BadArgument,
          "divisibleby needs two integers, the second not zero");
    // INT64_MIN % -1 overflows; every number is divisible by -1.
    out = other.integer == -1 || in.integer % other.integer == 0;
    return {};
  }
  int order = 0;
  GIST_TRY(compareValues(in, other, order));
  out = (name == "lt" || name == "lessthan" || name == "<")      ? order < 0
        : (name == "le" || name == "<=")                         ? order <= 0
        : (name == "gt" || name == "greaterthan" || name == ">") ? order > 0
                                                                 : order >= 0;
  return {};
}

Status chat::callTest(const std::string &name, const Value &in,
                      const Arguments &args, Budget &budget, bool &out) {
  static constexpr std::string_view comparisons[] = {
      "in", "equalto",     "eq", "==",       "sameas", "ne",
      "!=", "divisibleby", "lt", "lessthan", "<",      "le",
      "<=", "greaterthan", "gt", ">",        "ge",     ">="};
  if (std::find(std::begin(comparisons), std::end(comparisons), name) !=
      std::end(comparisons)) {
    if (args.positional.size() != 1)
      return Status::error(Code::BadArgument, "test '%s' needs one argument",
                           name.c_str());
    return compareTest(name, in, args.positional[0], budget, out);
  }
  // `true` is a number in Python and in this test, but it is not an integer
  // here.
  bool number = in.is(Kind::Int) || in.is(Kind::Float);
  if (name == "defined")
    out = !in.is(Kind::Undefined);
  else if (name == "undefined")
    out = in.is(Kind::Undefined);
  else if (name == "none")
    out = in.is(Kind::None);
  else if (name == "string")
    out = in.is(Kind::String);
  else if (name == "number")
    out = number || in.is(Kind::Bool);
  else if (name == "integer")
    out = in.is(Kind::Int);
  else if (name == "float")
    out = in.is(Kind::Float);
  else if (name == "boolean")
    out = in.is(Kind::Bool);
  else if (name == "true")
    out = in.is(Kind::Bool) && in.integer;
  else if (name == "false")
    out = in.is(Kind::Bool) && !in.integer;
  else if (name == "mapping")
    out = in.is(Kind::Dict);
  // An undefined value iterates over nothing, so it counts as a sequence.
  else if (name == "sequence" || name == "iterable")
    out = in.is(Kind::List) || in.is(Kind::Dict) || in.is(Kind::String) ||
          in.is(Kind::Undefined);
  else if (name == "callable")
    out = in.is(Kind::Function);
  else if (name == "lower") {
    GIST_TRY(budget.chargeText(in));
    out = toText(in) == lowerText(toText(in));
  } else if ((name == "odd" || name == "even") && in.is(Kind::Int))
    out = (in.integer % 2 != 0) == (name == "odd");
  else
    return Status::error(Code::Unsupported, "test '%s' of %s is not supported",
                         name.c_str(), in.kindName());
  return {};
}
