//===- ChatTemplateParser.h - Tokens to trees -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parser by recursive descent, one function for each level of precedence, in
// Jinja's order. A template is not trusted: depth is bounded in the recursion
// (`depth`) and in the tree (Expr::depth), because a chain such as a|b|c|…
// makes a deep tree without deep recursion, and the interpreter walks the tree
// by recursion.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATEPARSER_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATEPARSER_H

#include "runtime/text/ChatTemplateSyntax.h"

#include <algorithm>
#include <utility>

namespace gist::chat {

/// Expressions and blocks nest no deeper.
inline constexpr int kMaxTreeDepth = 100;

/// Counts a level of recursion while it lives.
struct Level {
  explicit Level(int &depth) : depth(depth) { ++depth; }
  ~Level() { --depth; }
  Level(const Level &) = delete;
  Level &operator=(const Level &) = delete;
  int &depth;
};

class Parser {
public:
  Parser(std::string_view source, std::vector<Token> tokens)
      : source(source), tokens(std::move(tokens)) {}

  /// Parses until a block whose keyword is one of `ends`, and moves over that
  /// keyword; `end` is which it was. Without ends, until the template ends.
  Status parseBlock(const std::vector<std::string_view> &ends, Block &block,
                    std::string &end);

private:
  // Tokens.
  /// The last token is End, and asking beyond it gives End again.
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(next + ahead, tokens.size() - 1)];
  }
  bool isOperator(std::string_view text) const {
    return peek().kind == Token::Kind::Operator && peek().text == text;
  }
  bool isName(std::string_view text) const {
    return peek().kind == Token::Kind::Name && peek().text == text;
  }
  /// Moves on if the token is this operator. `++next` is never 0, so the result
  /// is that of the first half.
  bool skipOperator(std::string_view text) {
    return isOperator(text) && ++next;
  }
  bool skipName(std::string_view text) { return isName(text) && ++next; }
  Status expect(std::string_view op);
  Status expectName(std::string &name);
  Status expectBlockEnd();
  Status fail(const std::string &what) const {
    return Status::error(Code::BadFile, "%s: %s",
                         positionText(source, peek().offset).c_str(),
                         what.c_str());
  }

  // Statements.
  Status parseStatement(Stmt &stmt);
  Status parseIf(Stmt &stmt);
  Status parseFor(Stmt &stmt);
  Status parseSet(Stmt &stmt);
  Status parseMacro(Stmt &stmt);
  Status parseBody(const std::vector<std::string_view> &ends, Stmt &stmt,
                   std::string &end);

  // Expressions, by falling precedence from the last to the first.
  Status parseExpr(ExprPtr &out, bool conditional = true);
  Status parseTuple(ExprPtr &out);
  Status parseOr(ExprPtr &out);
  Status parseAnd(ExprPtr &out);
  Status parseNot(ExprPtr &out);
  Status parseCompare(ExprPtr &out);
  Status parseSum(ExprPtr &out);
  Status parseConcat(ExprPtr &out);
  Status parseProduct(ExprPtr &out);
  Status parsePower(ExprPtr &out);
  Status parseUnary(ExprPtr &out, bool filters = true);
  Status parsePrimary(ExprPtr &out);
  Status parseDict(ExprPtr &out);
  Status parsePostfix(ExprPtr &out);
  Status parseSubscript(ExprPtr &out);
  Status parseArguments(Expr &call);
  Status parseFilters(ExprPtr &out);
  Status parseTest(ExprPtr &out);

  ExprPtr make(Expr::Kind kind) const {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->offset = peek().offset;
    return expr;
  }
  /// Adds an operand and refuses trees that grow too deep.
  Status add(Expr &parent, ExprPtr child) const {
    if (child)
      parent.depth = std::max(parent.depth, child->depth + 1);
    parent.args.push_back(std::move(child));
    if (parent.depth > kMaxTreeDepth)
      return fail("an expression is nested too deeply");
    return {};
  }
  /// Makes `out` the left operand of a binary operator and parses the right.
  Status binary(ExprPtr &out, Expr::Kind kind,
                Status (Parser::*operand)(ExprPtr &)) {
    ExprPtr expr = make(kind);
    expr->text = peek().text;
    ++next;
    GIST_TRY(add(*expr, std::move(out)));
    ExprPtr right;
    GIST_TRY((this->*operand)(right));
    GIST_TRY(add(*expr, std::move(right)));
    out = std::move(expr);
    return {};
  }

  std::string_view source;
  std::vector<Token> tokens;
  size_t next = 0;
  int depth = 0; ///< Of calls of parseExpr and parseBlock.
};

} // namespace gist::chat

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATEPARSER_H
