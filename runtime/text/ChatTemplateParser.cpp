//===- ChatTemplateParser.cpp - Tokens to trees: statements ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateParser.h"

using namespace gist;
using namespace gist::chat;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Status Parser::expect(std::string_view op) {
  if (skipOperator(op))
    return {};
  return fail("expected '" + std::string(op) + "', found '" + peek().text +
              "'");
}

Status Parser::expectName(std::string &name) {
  if (peek().kind != Token::Kind::Name)
    return fail("expected a name, found '" + peek().text + "'");
  name = tokens[next++].text;
  return {};
}

Status Parser::expectBlockEnd() {
  if (peek().kind != Token::Kind::BlockEnd)
    return fail("expected the end of the tag, found '" + peek().text + "'");
  ++next;
  return {};
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// A block's own text is a statement of kind Text, which is the kind that a
/// Stmt has from the start.
Status Parser::parseBlock(const std::vector<std::string_view> &ends,
                          Block &block, std::string &end) {
  Level level(depth);
  if (depth > kMaxTreeDepth)
    return fail("blocks are nested too deeply");
  while (true) {
    auto stmt = std::make_unique<Stmt>();
    stmt->offset = peek().offset;
    switch (peek().kind) {
    case Token::Kind::End:
      if (!ends.empty())
        return fail("expected {% " + std::string(ends.back()) + " %}");
      return {};
    case Token::Kind::Data:
      stmt->text = tokens[next++].text;
      break;
    case Token::Kind::VariableBegin:
      ++next;
      stmt->kind = Stmt::Kind::Print;
      stmt->exprs.emplace_back();
      GIST_TRY(parseTuple(stmt->exprs[0]));
      if (peek().kind != Token::Kind::VariableEnd)
        return fail("expected '}}', found '" + peek().text + "'");
      ++next;
      break;
    default:
      ++next; // BlockBegin: the lexer lets nothing else stand here.
      if (std::find(ends.begin(), ends.end(), peek().text) != ends.end()) {
        end = tokens[next++].text;
        return {};
      }
      GIST_TRY(parseStatement(*stmt));
    }
    block.push_back(std::move(stmt));
  }
}

/// The end of the tag that begins a body, then the body.
Status Parser::parseBody(const std::vector<std::string_view> &ends, Stmt &stmt,
                         std::string &end) {
  GIST_TRY(expectBlockEnd());
  stmt.blocks.emplace_back();
  return parseBlock(ends, stmt.blocks.back(), end);
}

Status Parser::parseStatement(Stmt &stmt) {
  std::string keyword, end;
  GIST_TRY(expectName(keyword));
  if (keyword == "if")
    return parseIf(stmt);
  if (keyword == "for")
    return parseFor(stmt);
  if (keyword == "set")
    return parseSet(stmt);
  if (keyword == "macro")
    return parseMacro(stmt);
  if (keyword == "break" || keyword == "continue") {
    stmt.kind = keyword == "break" ? Stmt::Kind::Break : Stmt::Kind::Continue;
    return expectBlockEnd();
  }
  if (keyword == "generation") { // Marks the assistant's part for training.
    stmt.kind = Stmt::Kind::Scope;
    GIST_TRY(parseBody({"endgeneration"}, stmt, end));
    return expectBlockEnd();
  }
  // The error is placed at the keyword, not behind it.
  --next;
  return fail("{% " + keyword + " %} is not supported here");
}

Status Parser::parseIf(Stmt &stmt) {
  stmt.kind = Stmt::Kind::If;
  std::string end = "elif";
  while (end == "elif") {
    stmt.exprs.emplace_back();
    GIST_TRY(parseExpr(stmt.exprs.back()));
    GIST_TRY(parseBody({"elif", "else", "endif"}, stmt, end));
  }
  if (end == "else")
    GIST_TRY(parseBody({"endif"}, stmt, end));
  return expectBlockEnd();
}

Status Parser::parseFor(Stmt &stmt) {
  stmt.kind = Stmt::Kind::For;
  bool parenthesis = skipOperator("(");
  do {
    stmt.names.emplace_back();
    GIST_TRY(expectName(stmt.names.back()));
  } while (skipOperator(","));
  if (parenthesis)
    GIST_TRY(expect(")"));
  if (!skipName("in"))
    return fail("expected 'in', found '" + peek().text + "'");
  stmt.exprs.resize(2);
  GIST_TRY(parseExpr(stmt.exprs[0], false)); // `if` begins the filter.
  if (skipName("if"))
    GIST_TRY(parseExpr(stmt.exprs[1]));
  std::string end;
  GIST_TRY(parseBody({"else", "endfor"}, stmt, end));
  if (end == "else")
    GIST_TRY(parseBody({"endfor"}, stmt, end));
  return expectBlockEnd();
}

Status Parser::parseSet(Stmt &stmt) {
  stmt.kind = Stmt::Kind::Set;
  do {
    stmt.names.emplace_back();
    GIST_TRY(expectName(stmt.names.back()));
  } while (skipOperator(","));
  if (stmt.names.size() == 1 && skipOperator("."))
    GIST_TRY(expectName(stmt.text));
  stmt.exprs.emplace_back();
  if (skipOperator("=")) {
    GIST_TRY(parseTuple(stmt.exprs[0]));
    return expectBlockEnd();
  }
  stmt.kind = Stmt::Kind::SetBlock;
  if (isOperator("|")) {
    // The filters act on a name that stands for the block's text.
    stmt.exprs[0] = make(Expr::Kind::Name);
    GIST_TRY(parseFilters(stmt.exprs[0]));
  }
  std::string end;
  GIST_TRY(parseBody({"endset"}, stmt, end));
  return expectBlockEnd();
}

/// Parameters without a default have a null expression.
Status Parser::parseMacro(Stmt &stmt) {
  stmt.kind = Stmt::Kind::Macro;
  GIST_TRY(expectName(stmt.text));
  GIST_TRY(expect("("));
  while (!skipOperator(")")) {
    stmt.names.emplace_back();
    stmt.exprs.emplace_back();
    GIST_TRY(expectName(stmt.names.back()));
    if (skipOperator("="))
      GIST_TRY(parseExpr(stmt.exprs.back()));
    if (!isOperator(")"))
      GIST_TRY(expect(","));
  }
  std::string end;
  GIST_TRY(parseBody({"endmacro"}, stmt, end));
  // {% endmacro name %} may repeat the name.
  skipName(stmt.text);
  return expectBlockEnd();
}

Status chat::parseTemplate(std::string_view source, std::vector<Token> tokens,
                           Block &block) {
  std::string end;
  return Parser(source, std::move(tokens)).parseBlock({}, block, end);
}
