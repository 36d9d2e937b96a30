//===- ChatTemplateEval.h - Templates evaluated -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter of chat templates.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATEEVAL_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATEEVAL_H

#include "runtime/support/Status.h"
#include "runtime/text/ChatTemplateBuiltins.h"
#include "runtime/text/ChatTemplateSyntax.h"
#include "runtime/text/ChatTemplateValue.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gist::chat {

/// Renders one template once. Everything it does is counted, and stopped when
/// it is too much.
class Interpreter {
public:
  /// `source` is for the positions in errors; the context is a dictionary.
  Interpreter(std::string_view source, const Value &context);

  Status run(const Block &block, std::string &out);

private:
  using Scope = std::unordered_map<std::string, Value>;
  /// How a block was left.
  enum class Flow { Normal, Break, Continue };

  // Statements.
  Status runBlock(const Block &block, Flow &flow);
  Status runStmt(const Stmt &stmt, Flow &flow);
  Status runFor(const Stmt &stmt, Flow &flow);
  Status runSet(const Stmt &stmt);
  Status runSetBlock(const Stmt &stmt);
  Status assign(const Stmt &stmt, const Value &value);
  Status bind(const Stmt &stmt, const Value &item);

  // Expressions.
  Status eval(const Expr &expr, Value &out);
  Status evalKind(const Expr &expr, Value &out);
  Status evalDict(const Expr &expr, Value &out);
  Status evalAttribute(const Expr &expr, Value &out);
  Status evalSlice(const Expr &expr, Value &out);
  Status evalCall(const Expr &expr, Value &out);
  Status evalBinary(const Expr &expr, Value &out);
  Status evalCompare(const Expr &expr, Value &out);
  Status evalArguments(const Expr &expr, Arguments &args);
  Status callMacro(const Stmt &macro, const Arguments &args, Value &out);

  Value lookUp(const std::string &name) const;
  Status write(std::string_view text);
  /// An error with the place that it belongs to.
  Status placed(Status status, uint32_t offset) const;

  std::string_view source;
  std::vector<Scope> scopes; ///< From the outermost in.
  std::string *output = nullptr;
  Budget budget;
  int depth = 0; ///< Of macro calls.
};

} // namespace gist::chat

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATEEVAL_H
