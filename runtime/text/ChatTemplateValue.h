//===- ChatTemplateValue.h - What a template computes with ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a template: Python's, as far as templates see them. Values are
// immutable but for namespaces, and share their contents.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_TEXT_CHATTEMPLATEVALUE_H
#define GIST_RUNTIME_TEXT_CHATTEMPLATEVALUE_H

#include "runtime/support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gist::chat {

struct Stmt;
struct Value;

using List = std::vector<Value>;
/// In order of insertion; dictionaries of templates are small.
using Dict = std::vector<std::pair<std::string, Value>>;

/// Containers nest no deeper, so that recursion over them is safe.
constexpr int kMaxNesting = 200;
/// No text or list grows beyond these.
constexpr size_t kMaxText = 1 << 24;
constexpr size_t kMaxItems = 1 << 20;
/// Nor does anything with all that is in it. Values share what they hold, so
/// that a list of twice the same list, of twice the same list, and so on, is
/// small in memory and endless to go through.
constexpr size_t kMaxWeight = 1 << 25;

struct Value {
  enum class Kind : uint8_t {
    Undefined,
    None,
    Bool,
    Int,
    Float,
    String,
    List,
    Dict,
    Namespace, ///< A dictionary that `set` may change; held by variables only.
    Function,  ///< Named by `text`, or the macro `macro`.
  };

  struct Container {
    List items;
    Dict entries;
    /// Where entries are, by key. Empty for a namespace, whose entries change,
    /// and where there are few.
    std::unordered_map<std::string_view, size_t> places;
    int nesting = 1;
    size_t weight = 0;    ///< Of all that is in it: Value::weight().
    bool isTuple = false; ///< A list that is printed as a tuple.
  };

  Kind kind = Kind::Undefined;
  int64_t integer = 0; ///< Of Bool and Int.
  double number = 0;
  std::shared_ptr<const std::string> text; ///< Of Undefined: its name.
  std::shared_ptr<Container> box;
  const Stmt *macro = nullptr;

  static Value undefined(std::string name);
  static Value none();
  static Value boolean(bool value);
  static Value fromInt(int64_t value);
  static Value fromFloat(double value);
  static Value string(std::string value);
  static Value function(std::string name);
  /// These fail when the nesting or the size is beyond the limits, or when a
  /// namespace would be held by something else than a variable. Keys are given
  /// once each.
  static Status list(List items, Value &out);
  static Status dict(Dict entries, Value &out);
  static Status nameSpace(Dict entries, Value &out);
  /// Parses JSON text.
  static Status fromJson(std::string_view json, Value &out);

  bool is(Kind other) const { return kind == other; }
  bool isNumber() const {
    return kind == Kind::Bool || kind == Kind::Int || kind == Kind::Float;
  }
  bool isTrue() const;
  double toDouble() const { return is(Kind::Float) ? number : integer; }
  const std::string &str() const {
    static const std::string empty;
    return text ? *text : empty;
  }
  /// What it costs to go through all of it: its bytes, and 16 for each value.
  size_t weight() const {
    return 16 + (box ? box->weight : is(Kind::String) ? str().size() : 0);
  }
  const List &items() const { return box->items; }
  const Dict &entries() const { return box->entries; }
  /// The entry of a dictionary or namespace, or null.
  const Value *find(std::string_view key) const;
  /// "a string", "a list", …
  const char *kindName() const;
};

bool operator==(const Value &a, const Value &b);
/// Sets `order` to less than, equal to or greater than 0; fails for values
/// without an order.
Status compareValues(const Value &a, const Value &b, int &order);

/// str(value).
std::string toText(const Value &value);

/// json.dumps(value, ensure_ascii=False); indent < 0: on one line.
struct JsonStyle {
  int64_t indent = -1;
  bool sortKeys = false;
  bool ensureAscii = false;
};
Status toJson(const Value &value, const JsonStyle &style, std::string &out);

/// Where `part` is in `text` from `from` on, and where it is last; npos: not
/// there. In linear time: std::string's search of a text of one letter for a
/// long text of the same letter is quadratic.
size_t findText(std::string_view text, std::string_view part, size_t from = 0);
size_t findLastText(std::string_view text, std::string_view part);

/// What Python takes for white space.
bool isPythonSpace(uint32_t codePoint);
std::string_view stripLeft(std::string_view text);
std::string_view stripRight(std::string_view text);

/// In lower case by Unicode, because it is also what texts are sorted by.
std::string lowerText(std::string_view text);

} // namespace gist::chat

#endif // GIST_RUNTIME_TEXT_CHATTEMPLATEVALUE_H
