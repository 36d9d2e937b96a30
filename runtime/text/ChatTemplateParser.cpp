//===- ChatTemplateParser.cpp - Tokens to trees ---------------------------===//
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

#include "runtime/text/ChatTemplateSyntax.h"

#include <algorithm>
#include <charconv>
#include <utility>

using namespace gist;
using namespace gist::chat;

/// Expressions and blocks nest no deeper.
static constexpr int kMaxTreeDepth = 100;
/// A filter may call the filter its first argument names, and so on.
static constexpr size_t kMaxArguments = 64;

namespace {
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

/// Counts a level of recursion while it lives.
struct Level {
  explicit Level(int &depth) : depth(depth) { ++depth; }
  ~Level() { --depth; }
  Level(const Level &) = delete;
  Level &operator=(const Level &) = delete;
  int &depth;
};
} // namespace

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

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

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

/// `conditional` is false where an `if` that follows belongs to somebody else:
/// the filter of a `for`.
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

Status chat::parseTemplate(std::string_view source, std::vector<Token> tokens,
                           Block &block) {
  std::string end;
  return Parser(source, std::move(tokens)).parseBlock({}, block, end);
}
