//===- Tools.h - Functions that a model may ask for -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chat template tells the model of tools, and the model asks for one with a
// JSON object between <tool_call> and </tool_call>: the format of Qwen2.5 and
// the models that follow it. Other formats are refused.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_TOOLS_H
#define GIST_TOOLS_SERVING_TOOLS_H

#include "tools/serving/Json.h"

#include "runtime/grammar/Grammar.h"

#include <string>
#include <string_view>
#include <vector>

namespace gist::serve {

constexpr size_t kMaxTools = 128;

/// What a request says of tools.
struct ToolSet {
  Json tools = Json::array(); ///< as the request has them
  bool isForced = false;      ///< the answer is a call
  std::string only;           ///< of this tool; empty: of any

  bool empty() const { return tools.empty(); }
  bool has(std::string_view name) const;
};

/// Reads `tools` and `tool_choice`. With the choice "none" there are no tools.
ApiError readTools(Fields &fields, ToolSet &result);

/// Reads `tool_calls` of an earlier answer into the form that templates take:
/// arguments are objects there.
ApiError readToolCalls(const Json &value, const std::string &where,
                       Json &result);

/// Fails where the template does not have the format of this file.
ApiError checkToolTemplate(std::string_view chatTemplate);

/// What a forced call looks like: the arguments match the tool's schema.
ApiError makeToolGrammar(const ToolSet &tools, Grammar &result);

struct ToolCall {
  std::string name, arguments; ///< of JSON
};

/// Finds calls in an answer that comes in pieces. A whole answer that is what
/// stands in a call is one too: small models forget what stands around it.
class ToolCallReader {
public:
  /// `tools` outlives this.
  explicit ToolCallReader(const ToolSet &tools) : tools(tools) {}

  /// The text that is certain not to be part of a call; calls that are complete
  /// are appended. What looks like one and is not stays text.
  std::string push(std::string_view text, std::vector<ToolCall> &calls);
  /// The same at the end.
  std::string finish(std::vector<ToolCall> &calls);

private:
  /// Appends text, without space between calls.
  void give(std::string_view text, std::string &result);
  /// Whether the answer so far begins as what stands in a call.
  bool mayBeBareCall() const;
  bool readCall(std::string_view body, std::vector<ToolCall> &calls) const;

  const ToolSet &tools;
  std::string held;                        ///< not given yet
  bool isInside = false, isBehind = false; ///< of a call
  bool hasBegun = false;                   ///< the answer, by text or a call
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_TOOLS_H
