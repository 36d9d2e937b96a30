//===- ChatTemplateOperators.cpp - Operators of templates -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Checked.h"
#include "runtime/text/ChatTemplateEval.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

static Status notFor(const Value &a, const std::string &op, const Value &b) {
  for (const Value *value : {&a, &b})
    if (value->is(Kind::Undefined))
      return Status::error(Code::BadArgument, "'%s' is undefined",
                           value->str().c_str());
  return Status::error(Code::BadArgument, "cannot compute '%s' of %s and %s",
                       op.c_str(), a.kindName(), b.kindName());
}

/// The operators on two integers. Python's integers have no bounds; here a
/// result beyond 64 bits is an error.
static Status integerOperation(const std::string &op, int64_t a, int64_t b,
                               Value &out) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "+")
    overflow = addOverflows(a, b, result);
  else if (op == "-")
    overflow = subOverflows(a, b, result);
  else if (op == "*")
    overflow = mulOverflows(a, b, result);
  else if (op == "**") {
    result = 1;
    // Every other base overflows within 64 rounds. Powers of 0, 1 and -1 never
    // do: all that counts is whether `b` is zero, odd or even, so the loop need
    // not run to `b`, which may be huge.
    int64_t rounds = a >= -1 && a <= 1 && b > 2 ? 2 - b % 2 : b;
    for (int64_t i = 0; i < rounds && !overflow; ++i)
      overflow = mulOverflows(result, a, result);
  } else {
    overflow = b == 0 || (a == INT64_MIN && b == -1);
    if (!overflow) { // Rounded down, as in Python.
      bool adjust = a % b != 0 && (a < 0) != (b < 0);
      result = op == "//" ? a / b - adjust : a % b + (adjust ? b : 0);
    }
  }
  if (overflow)
    return Status::error(Code::BadArgument,
                         "the result of '%s' does not fit in 64 bits",
                         op.c_str());
  out = Value::fromInt(result);
  return {};
}

static Status floatOperation(const std::string &op, double a, double b,
                             Value &out) {
  if ((op == "/" || op == "//" || op == "%") && b == 0)
    return Status::error(Code::BadArgument, "cannot divide by zero");
  double result = op == "+"    ? a + b
                  : op == "-"  ? a - b
                  : op == "*"  ? a * b
                  : op == "/"  ? a / b
                  : op == "//" ? std::floor(a / b)
                  : op == "%"  ? a - b * std::floor(a / b)
                               : std::pow(a, b);
  out = Value::fromFloat(result);
  return {};
}

/// text * count; a negative count gives an empty text, as in Python.
static Status repeatText(const Value &text, const Value &count, Value &out) {
  int64_t times = std::max<int64_t>(count.integer, 0);
  int64_t size = static_cast<int64_t>(text.str().size());
  if (size && times > static_cast<int64_t>(kMaxText) / size)
    return Status::error(Code::BadArgument, "a text has more than %zu bytes",
                         kMaxText);
  std::string result;
  for (int64_t i = 0; size && i < times; ++i)
    result += text.str();
  out = Value::string(std::move(result));
  return {};
}

Status Interpreter::evalBinary(const Expr &expr, Value &out) {
  const std::string &op = expr.text;
  Value a, b;
  GIST_TRY(eval(*expr.args[0], a));
  GIST_TRY(eval(*expr.args[1], b));
  bool join =
      op == "~" || (op == "+" && a.is(Kind::String) && b.is(Kind::String));
  if (join) {
    // Texts are charged with the result.
    for (const Value *side : {&a, &b})
      if (!side->is(Kind::String))
        GIST_TRY(budget.chargeText(*side));
    std::string text = toText(a) + toText(b);
    if (text.size() > kMaxText)
      return Status::error(Code::BadArgument, "a text has more than %zu bytes",
                           kMaxText);
    out = Value::string(std::move(text));
    return budget.charge(out);
  }
  if (op == "+" && a.is(Kind::List) && b.is(Kind::List)) {
    // Values are shared, so that `a` itself must stay as it is.
    List items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    GIST_TRY(Value::list(std::move(items), out));
    return budget.charge(out);
  }
  if (op == "*" && a.is(Kind::String) && b.is(Kind::Int)) {
    GIST_TRY(repeatText(a, b, out));
    return budget.charge(out);
  }
  if (!a.isNumber() || !b.isNumber())
    return notFor(a, op, b);
  bool integers = !a.is(Kind::Float) && !b.is(Kind::Float);
  // `/` of integers is a float in Python, and so is a negative power.
  if (integers && op != "/" && !(op == "**" && b.integer < 0))
    return integerOperation(op, a.integer, b.integer, out);
  return floatOperation(op, a.toDouble(), b.toDouble(), out);
}

/// a < b < c holds if a < b and b < c. Each operand is evaluated once, and none
/// after the first comparison that fails.
Status Interpreter::evalCompare(const Expr &expr, Value &out) {
  Value left, right;
  GIST_TRY(eval(*expr.args[0], left));
  for (size_t i = 0; i < expr.names.size(); ++i) {
    const std::string &op = expr.names[i];
    GIST_TRY(eval(*expr.args[i + 1], right));
    bool result = false;
    if (op == "in" || op == "not in") {
      GIST_TRY(contains(right, left, budget, result));
      result = result == (op == "in");
    } else if (op == "==" || op == "!=") {
      GIST_TRY(budget.chargeBoth(left, right));
      result = (left == right) == (op == "==");
    } else {
      if (left.is(Kind::Undefined) || right.is(Kind::Undefined))
        return notFor(left, op, right);
      int order = 0;
      GIST_TRY(budget.chargeBoth(left, right));
      GIST_TRY(compareValues(left, right, order));
      result = op == "<"    ? order < 0
               : op == "<=" ? order <= 0
               : op == ">"  ? order > 0
                            : order >= 0;
    }
    out = Value::boolean(result);
    if (!result)
      return {};
    left = std::move(right);
  }
  return {};
}
