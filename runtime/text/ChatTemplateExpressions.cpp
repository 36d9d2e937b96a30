//===- ChatTemplateExpressions.cpp - Tokens to trees: expressions ---------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateParser.h"

#include <charconv>

using namespace gist;
using namespace gist::chat;

/// A filter may call the filter its first argument names, and so on.
static constexpr size_t kMaxArguments = 64;

/// An expression, or several with commas between, which make a list.
Status Parser::parseTuple(ExprPtr &out) {
  ExprPtr tuple = make(Expr::Kind::List);
  tuple->text = "tuple";
  GIST_TRY(parseExpr(out));
  if (!isOperator(","))
    return {};
  GIST_TRY(add(*tuple, std::move(out)));
  while (skipOperator(",")) {
    // A comma at the end is allowed, and makes a tuple of one.
    if (peek().kind == Token::Kind::VariableEnd ||
        peek().kind == Token::Kind::BlockEnd || isOperator(")"))
      break;
    ExprPtr item;
    GIST_TRY(parseExpr(item));
    GIST_TRY(add(*tuple, std::move(item)));
  }
  out = std::move(tuple);
  return {};
}

/// `conditional` is false where an `if` that follows begins the filter of a
/// `for`.
Status Parser::parseExpr(ExprPtr &out, bool conditional) {
  Level level(depth);
  if (depth > kMaxTreeDepth)
    return fail("an expression is nested too deeply");
  GIST_TRY(parseOr(out));
  while (conditional && isName("if")) {
    ExprPtr expr = make(Expr::Kind::Conditional);
    ++next;
    // The order of the operands is value, condition, otherwise; the last may be
    // null.
    ExprPtr condition, otherwise;
    GIST_TRY(parseOr(condition));
    if (skipName("else"))
      GIST_TRY(parseExpr(otherwise));
    GIST_TRY(add(*expr, std::move(out)));
    GIST_TRY(add(*expr, std::move(condition)));
    GIST_TRY(add(*expr, std::move(otherwise)));
    out = std::move(expr);
  }
  return {};
}

Status Parser::parseOr(ExprPtr &out) {
  GIST_TRY(parseAnd(out));
  while (isName("or"))
    GIST_TRY(binary(out, Expr::Kind::Or, &Parser::parseAnd));
  return {};
}

Status Parser::parseAnd(ExprPtr &out) {
  GIST_TRY(parseNot(out));
  while (isName("and"))
    GIST_TRY(binary(out, Expr::Kind::And, &Parser::parseNot));
  return {};
}

Status Parser::parseNot(ExprPtr &out) {
  if (!isName("not"))
    return parseCompare(out);
  Level level(depth);
  if (depth > kMaxTreeDepth)
    return fail("an expression is nested too deeply");
  ExprPtr expr = make(Expr::Kind::Not), operand;
  ++next;
  GIST_TRY(parseNot(operand));
  GIST_TRY(add(*expr, std::move(operand)));
  out = std::move(expr);
  return {};
}

/// One node for a whole chain, because a < b < c compares neighbours.
Status Parser::parseCompare(ExprPtr &out) {
  GIST_TRY(parseSum(out));
  ExprPtr expr = make(Expr::Kind::Compare);
  while (true) {
    static constexpr std::string_view operators[] = {"==", "!=", "<",
                                                     "<=", ">",  ">="};
    bool symbol = peek().kind == Token::Kind::Operator &&
                  std::find(std::begin(operators), std::end(operators),
                            peek().text) != std::end(operators);
    bool notIn = isName("not") && peek(1).kind == Token::Kind::Name &&
                 peek(1).text == "in";
    if (!symbol && !notIn && !isName("in"))
      break;
    expr->names.push_back(notIn ? "not in" : peek().text);
    next += notIn ? 2 : 1;
    // The first operand joins the node when it is known to be needed.
    if (expr->args.empty())
      GIST_TRY(add(*expr, std::move(out)));
    ExprPtr right;
    GIST_TRY(parseSum(right));
    GIST_TRY(add(*expr, std::move(right)));
  }
  if (!expr->args.empty())
    out = std::move(expr);
  return {};
}

Status Parser::parseSum(ExprPtr &out) {
  GIST_TRY(parseConcat(out));
  while (isOperator("+") || isOperator("-"))
    GIST_TRY(binary(out, Expr::Kind::Binary, &Parser::parseConcat));
  return {};
}

/// In Jinja `~` binds tighter than `+` and looser than `*`.
Status Parser::parseConcat(ExprPtr &out) {
  GIST_TRY(parseProduct(out));
  while (isOperator("~"))
    GIST_TRY(binary(out, Expr::Kind::Binary, &Parser::parseProduct));
  return {};
}

Status Parser::parseProduct(ExprPtr &out) {
  GIST_TRY(parsePower(out));
  while (isOperator("*") || isOperator("/") || isOperator("//") ||
         isOperator("%"))
    GIST_TRY(binary(out, Expr::Kind::Binary, &Parser::parsePower));
  return {};
}

/// `**` groups from the left here, as in Jinja.
Status Parser::parsePower(ExprPtr &out) {
  GIST_TRY(parseUnary(out));
  while (isOperator("**")) {
    ExprPtr expr = make(Expr::Kind::Binary), right;
    expr->text = "**";
    ++next;
    GIST_TRY(add(*expr, std::move(out)));
    GIST_TRY(parseUnary(right));
    GIST_TRY(add(*expr, std::move(right)));
    out = std::move(expr);
  }
  return {};
}

/// `filters` is false behind a sign: -x|abs is (-x)|abs.
Status Parser::parseUnary(ExprPtr &out, bool filters) {
  Level level(depth);
  if (depth > kMaxTreeDepth)
    return fail("an expression is nested too deeply");
  if (isOperator("-") || isOperator("+")) {
    out = make(isOperator("-") ? Expr::Kind::Negate : Expr::Kind::Plus);
    ++next;
    ExprPtr operand;
    GIST_TRY(parseUnary(operand, false));
    GIST_TRY(add(*out, std::move(operand)));
  } else {
    GIST_TRY(parsePrimary(out));
  }
  GIST_TRY(parsePostfix(out));
  return filters ? parseFilters(out) : Status();
}

Status Parser::parsePrimary(ExprPtr &out) {
  out = make(Expr::Kind::Literal);
  const Token token = peek();
  ++next;
  const char *end = token.text.data() + token.text.size();
  switch (token.kind) {
  case Token::Kind::Name:
    if (token.text == "true" || token.text == "True")
      out->value = Value::boolean(true);
    else if (token.text == "false" || token.text == "False")
      out->value = Value::boolean(false);
    else if (token.text == "none" || token.text == "None")
      out->value = Value::none();
    else {
      out->kind = Expr::Kind::Name;
      out->text = token.text;
    }
    return {};
  case Token::Kind::String: {
    std::string text = token.text;
    while (peek().kind == Token::Kind::String) // Neighbours join.
      text += tokens[next++].text;
    out->value = Value::string(std::move(text));
    return {};
  }
  case Token::Kind::Int: {
    int64_t value = 0;
    if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
      --next;
      return fail("this number does not fit in 64 bits");
    }
    out->value = Value::fromInt(value);
    return {};
  }
  case Token::Kind::Float: {
    double value = 0;
    std::from_chars(token.text.data(), end, value);
    out->value = Value::fromFloat(value);
    return {};
  }
  default:
    break;
  }
  // Brackets around one expression do not make a tuple; parseTuple knows.
  if (token.kind == Token::Kind::Operator && token.text == "(") {
    if (skipOperator(")")) {
      out->kind = Expr::Kind::List;
      out->text = "tuple";
      return {};
    }
    GIST_TRY(parseTuple(out));
    return expect(")");
  }
  if (token.kind == Token::Kind::Operator && token.text == "[") {
    out->kind = Expr::Kind::List;
    while (!skipOperator("]")) {
      ExprPtr item;
      GIST_TRY(parseExpr(item));
      GIST_TRY(add(*out, std::move(item)));
      if (!isOperator("]"))
        GIST_TRY(expect(","));
    }
    return {};
  }
  if (token.kind == Token::Kind::Operator && token.text == "{")
    return parseDict(out);
  --next;
  return fail("expected an expression, found '" + token.text + "'");
}

Status Parser::parseDict(ExprPtr &out) {
  out->kind = Expr::Kind::Dict;
  while (!skipOperator("}")) {
    ExprPtr key, item;
    GIST_TRY(parseExpr(key));
    GIST_TRY(expect(":"));
    GIST_TRY(parseExpr(item));
    GIST_TRY(add(*out, std::move(key)));
    GIST_TRY(add(*out, std::move(item)));
    if (!isOperator("}"))
      GIST_TRY(expect(","));
  }
  return {};
}

/// .name, [index] and (arguments), as often as they come.
Status Parser::parsePostfix(ExprPtr &out) {
  while (true) {
    if (isOperator(".")) {
      ExprPtr expr = make(Expr::Kind::Attribute);
      ++next;
      if (peek().kind == Token::Kind::Int) { // `list.0` is `list[0]`.
        expr->kind = Expr::Kind::Index;
        ExprPtr index;
        GIST_TRY(add(*expr, std::move(out)));
        GIST_TRY(parsePrimary(index));
        GIST_TRY(add(*expr, std::move(index)));
      } else {
        GIST_TRY(expectName(expr->text));
        GIST_TRY(add(*expr, std::move(out)));
      }
      out = std::move(expr);
    } else if (isOperator("[")) {
      GIST_TRY(parseSubscript(out));
    } else if (isOperator("(")) {
      ExprPtr expr = make(Expr::Kind::Call);
      GIST_TRY(add(*expr, std::move(out)));
      GIST_TRY(parseArguments(*expr));
      out = std::move(expr);
    } else {
      return {};
    }
  }
}

/// [a], [a:b] and [a:b:c] with any part left out. Parts stand between colons,
/// so that a second expression without a colon is an error.
Status Parser::parseSubscript(ExprPtr &out) {
  ExprPtr expr = make(Expr::Kind::Index);
  ++next;
  GIST_TRY(add(*expr, std::move(out)));
  ExprPtr parts[3];
  int part = 0;
  bool slice = false;
  while (!isOperator("]")) {
    if (skipOperator(":")) {
      slice = true;
      if (++part > 2)
        return fail("a slice has more than three parts");
      continue;
    }
    if (parts[part])
      return expect("]");
    GIST_TRY(parseExpr(parts[part]));
  }
  GIST_TRY(expect("]"));
  if (!slice && !parts[0])
    return fail("an index is empty");
  expr->kind = slice ? Expr::Kind::Slice : Expr::Kind::Index;
  for (int i = 0; i < (slice ? 3 : 1); ++i)
    GIST_TRY(add(*expr, std::move(parts[i])));
  out = std::move(expr);
  return {};
}

Status Parser::parseArguments(Expr &call) {
  GIST_TRY(expect("("));
  while (!skipOperator(")")) {
    std::string name;
    // `name=` is a named argument. The lexer made `==` a token of its own, so a
    // comparison is not taken for one.
    bool named = peek().kind == Token::Kind::Name &&
                 peek(1).kind == Token::Kind::Operator && peek(1).text == "=";
    if (named) {
      name = peek().text;
      next += 2;
    }
    ExprPtr value;
    GIST_TRY(parseExpr(value));
    GIST_TRY(add(call, std::move(value)));
    call.names.push_back(std::move(name));
    if (call.names.size() > kMaxArguments)
      return fail("a call has too many arguments");
    if (!isOperator(")"))
      GIST_TRY(expect(","));
  }
  return {};
}

/// Filters and tests have the same level: a|b is c|d is ((a|b) is c)|d.
Status Parser::parseFilters(ExprPtr &out) {
  while (true) {
    if (isOperator("|")) {
      ++next;
      ExprPtr expr = make(Expr::Kind::Filter);
      GIST_TRY(expectName(expr->text));
      GIST_TRY(add(*expr, std::move(out)));
      if (isOperator("("))
        GIST_TRY(parseArguments(*expr));
      out = std::move(expr);
    } else if (isName("is")) {
      GIST_TRY(parseTest(out));
    } else if (isOperator("(")) { // A call of what a filter gives.
      GIST_TRY(parsePostfix(out));
    } else {
      return {};
    }
  }
}

/// x is [not] name, with arguments in brackets or one without.
Status Parser::parseTest(ExprPtr &out) {
  ++next;
  bool negated = skipName("not");
  ExprPtr expr = make(Expr::Kind::Test);
  GIST_TRY(expectName(expr->text));
  GIST_TRY(add(*expr, std::move(out)));
  const Token &token = peek();
  // These words continue the expression around and do not begin an argument: `x
  // is defined and y`.
  bool keyword =
      token.kind == Token::Kind::Name &&
      (token.text == "else" || token.text == "or" || token.text == "and" ||
       token.text == "is" || token.text == "if" || token.text == "not" ||
       token.text == "in");
  bool operand = token.kind == Token::Kind::String ||
                 token.kind == Token::Kind::Int ||
                 token.kind == Token::Kind::Float ||
                 (token.kind == Token::Kind::Name && !keyword) ||
                 isOperator("[") || isOperator("{");
  if (isOperator("(")) {
    GIST_TRY(parseArguments(*expr));
  } else if (operand) {
    ExprPtr argument;
    GIST_TRY(parsePrimary(argument));
    GIST_TRY(parsePostfix(argument));
    GIST_TRY(add(*expr, std::move(argument)));
    // The argument is positional.
    expr->names.emplace_back();
  }
  if (negated) {
    out = make(Expr::Kind::Not);
    return add(*out, std::move(expr));
  }
  out = std::move(expr);
  return {};
}
