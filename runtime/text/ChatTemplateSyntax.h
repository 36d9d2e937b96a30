//===- ChatTemplateSyntax.h - Templates as trees ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens and trees of a chat template. Trees are bounded in depth when they are
// built, so that everything after may recurse over them.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATESYNTAX_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATESYNTAX_H

#include "runtime/support/Status.h"
#include "runtime/text/ChatTemplateValue.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gist::chat {

struct Token {
  enum class Kind : uint8_t {
    Data, ///< Text outside of tags.
    VariableBegin,
    VariableEnd,
    BlockBegin,
    BlockEnd,
    Name,
    String, ///< With its escapes resolved.
    Int,
    Float,
    Operator,
    End,
  };
  Kind kind = Kind::End;
  std::string text;
  uint32_t offset = 0; ///< Into the source after newlines are normalised.
};

/// "line 3, column 7" of an offset.
std::string positionText(std::string_view source, uint32_t offset);

/// Newlines as the reference reads them: \n alone, and one at the end dropped.
std::string normalizeNewlines(std::string_view source);

/// Cuts a normalised source into tokens; white space around tags is dealt with
/// here. The last token is End.
Status lexTemplate(std::string_view source, std::vector<Token> &tokens);

struct Expr {
  enum class Kind : uint8_t {
    Literal,   ///< `value`
    Name,      ///< `text`
    List,      ///< `args`; `text` is "tuple" for one
    Dict,      ///< `args`: key, value, …
    Attribute, ///< args[0].text
    Index,     ///< args[0][args[1]]
    Slice,     ///< args[0][args[1]:args[2]:args[3]], null where left out
    Call,      ///< args[0](args[1], …); `names` of the keyword arguments
    Filter,    ///< args[0] | text(args[1], …)
    Test,      ///< args[0] is text(args[1], …)
    Not,
    Negate,
    Plus,
    And,
    Or,
    Binary,      ///< `text` is the operator.
    Compare,     ///< args[0] ops[0] args[1] ops[1] args[2] …
    Conditional, ///< args[0] if args[1] else args[2], which may be null
  };
  Kind kind = Kind::Literal;
  uint32_t offset = 0;
  int depth = 1;
  std::string text;
  Value value;
  std::vector<std::unique_ptr<Expr>> args;
  /// Call, Filter, Test: the name of each argument after the first, empty for
  /// positional ones. Compare: the operators.
  std::vector<std::string> names;
};
using ExprPtr = std::unique_ptr<Expr>;

struct Stmt;
using Block = std::vector<std::unique_ptr<Stmt>>;

struct Stmt {
  enum class Kind : uint8_t {
    Text,  ///< `text`
    Print, ///< exprs[0]
    If,    ///< exprs[i] guards blocks[i]; a last block without is `else`.
    For,   ///< names in exprs[0], exprs[1] filters if not null; blocks: body,
           ///< else
    Set,   ///< names (or names[0].text) from exprs[0]
    SetBlock, ///< names[0] from blocks[0], filtered by exprs if any
    Macro,    ///< `text`, parameters `names`, defaults `exprs` (null: none)
    Scope,    ///< blocks[0]; tags that mean nothing when rendering
    Break,
    Continue,
  };
  Kind kind = Kind::Text;
  uint32_t offset = 0;
  std::string text;
  std::vector<std::string> names;
  std::vector<ExprPtr> exprs;
  std::vector<Block> blocks;
};

/// Parses the tokens of a template. `source` is for the positions in errors.
Status parseTemplate(std::string_view source, std::vector<Token> tokens,
                     Block &block);

} // namespace gist::chat

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATESYNTAX_H
