//===- ChatTemplateValue.cpp - What a template computes with --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that a template computes with. They print as Python prints them,
// because templates are written for Jinja and put numbers, lists and
// dictionaries into prompts as text.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateValue.h"

#include "runtime/support/Json.h"
#include "runtime/text/Unicode.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// The name is kept for the error that comes when the value is used.
Value Value::undefined(std::string name) {
  Value value;
  value.text = std::make_shared<const std::string>(std::move(name));
  return value;
}

Value Value::none() {
  Value value;
  value.kind = Kind::None;
  return value;
}

Value Value::boolean(bool flag) {
  Value value;
  value.kind = Kind::Bool;
  value.integer = flag;
  return value;
}

Value Value::fromInt(int64_t integer) {
  Value value;
  value.kind = Kind::Int;
  value.integer = integer;
  return value;
}

Value Value::fromFloat(double number) {
  Value value;
  value.kind = Kind::Float;
  value.number = number;
  return value;
}

Value Value::string(std::string text) {
  Value value;
  value.kind = Kind::String;
  value.text = std::make_shared<const std::string>(std::move(text));
  return value;
}

Value Value::function(std::string name) {
  Value value = string(std::move(name));
  value.kind = Kind::Function;
  return value;
}

/// Every list, dictionary and namespace is made here. The nesting of each is
/// kept with it, so that no value is deeper than kMaxNesting: the functions
/// that print, compare and free values recurse.
static Status makeContainer(Kind kind, List items, Dict entries, Value &out) {
  auto box = std::make_shared<Value::Container>();
  auto check = [&](const Value &value) -> Status {
    if (value.is(Kind::Namespace))
      return Status::error(Code::Unsupported,
                           "a namespace cannot be inside another value");
    if (value.box)
      // Items never change after this, so the number stays right. Only a
      // namespace can be written to, and it may not be inside anything.
      box->nesting = std::max(box->nesting, value.box->nesting + 1);
    box->weight += value.weight();
    if (box->weight > kMaxWeight)
      return Status::error(Code::BadArgument,
                           "a value has more than %zu bytes in it", kMaxWeight);
    return {};
  };
  for (const Value &value : items)
    GIST_TRY(check(value));
  for (const auto &[key, value] : entries) {
    box->weight += key.size();
    GIST_TRY(check(value));
  }
  if (box->nesting > kMaxNesting)
    return Status::error(Code::BadArgument,
                         "values are nested more than %d deep", kMaxNesting);
  if (items.size() + entries.size() > kMaxItems)
    return Status::error(Code::BadArgument, "a list has more than %zu items",
                         kMaxItems);
  box->items = std::move(items);
  box->entries = std::move(entries);
  constexpr size_t kFew = 16; // As quick to go through.
  if (kind == Kind::Dict && box->entries.size() > kFew)
    for (size_t i = 0; i < box->entries.size(); ++i)
      // The keys stay where they are: a dictionary does not change.
      box->places.emplace(box->entries[i].first, i);
  out = Value();
  out.kind = kind;
  out.box = std::move(box);
  return {};
}

Status Value::list(List items, Value &out) {
  return makeContainer(Kind::List, std::move(items), {}, out);
}

Status Value::dict(Dict entries, Value &out) {
  return makeContainer(Kind::Dict, {}, std::move(entries), out);
}

Status Value::nameSpace(Dict entries, Value &out) {
  return makeContainer(Kind::Namespace, {}, std::move(entries), out);
}

/// Integers beyond 64 bits become floats: they lose digits, but keep their
/// size.
static Status convertJson(const nlohmann::ordered_json &json, Value &out) {
  if (json.is_null())
    out = Value::none();
  else if (json.is_boolean())
    out = Value::boolean(json.get<bool>());
  else if (json.is_number_integer() && integerOf(json))
    out = Value::fromInt(*integerOf(json));
  else if (json.is_number())
    out = Value::fromFloat(json.get<double>());
  else if (json.is_string())
    out = Value::string(json.get_ref<const std::string &>());
  else if (json.is_array()) {
    List items(json.size());
    for (size_t i = 0; i < items.size(); ++i)
      GIST_TRY(convertJson(json[i], items[i]));
    return Value::list(std::move(items), out);
  } else {
    Dict entries;
    for (const auto &entry : json.items()) {
      Value value;
      GIST_TRY(convertJson(entry.value(), value));
      entries.emplace_back(entry.key(), std::move(value));
    }
    return Value::dict(std::move(entries), out);
  }
  return {};
}

/// Objects keep the order of their keys: templates loop over them.
Status Value::fromJson(std::string_view text, Value &out) {
  nlohmann::ordered_json json;
  if (Status status = parseJson(text, json, kMaxNesting); !status.ok())
    return Status::error(Code::BadArgument, "the context: %s",
                         status.text.c_str());
  return convertJson(json, out);
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// The truth of Python: empty and zero are false.
bool Value::isTrue() const {
  switch (kind) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Bool:
  case Kind::Int:
    return integer != 0;
  case Kind::Float:
    return number != 0;
  case Kind::String:
    return !text->empty();
  case Kind::List:
    return !box->items.empty();
  case Kind::Dict:
    return !box->entries.empty();
  case Kind::Namespace:
  case Kind::Function:
    return true;
  }
  return false;
}

const Value *Value::find(std::string_view key) const {
  if (!is(Kind::Dict) && !is(Kind::Namespace))
    return nullptr;
  if (!box->places.empty()) {
    auto place = box->places.find(key);
    return place == box->places.end() ? nullptr
                                      : &box->entries[place->second].second;
  }
  for (const auto &entry : box->entries)
    if (entry.first == key)
      return &entry.second;
  return nullptr;
}

/// For messages. The order of the names is that of Kind.
const char *Value::kindName() const {
  static constexpr const char *names[] = {
      "undefined", "none",   "a boolean",    "a number",    "a number",
      "a string",  "a list", "a dictionary", "a namespace", "a function"};
  return names[static_cast<int>(kind)];
}

/// True and 1 are equal and so are 1 and 1.0, as in Python. The order of
/// entries does not matter. Namespaces are equal only to themselves.
bool chat::operator==(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber())
    return a.is(Kind::Float) || b.is(Kind::Float) ? a.toDouble() == b.toDouble()
                                                  : a.integer == b.integer;
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case Kind::String:
    return a.str() == b.str();
  case Kind::List:
    return a.items() == b.items();
  case Kind::Dict:
    return a.entries().size() == b.entries().size() &&
           std::all_of(a.entries().begin(), a.entries().end(),
                       [&](const auto &entry) {
                         const Value *other = b.find(entry.first);
                         return other && *other == entry.second;
                       });
  case Kind::Namespace:
    return a.box == b.box;
  case Kind::Function:
    return a.macro == b.macro && a.str() == b.str();
  default:
    return true;
  }
}

/// Lists compare by their first items that differ, as in Python. NaN is neither
/// less nor greater, so it counts as equal: sort refuses it.
Status chat::compareValues(const Value &a, const Value &b, int &order) {
  if (a.isNumber() && b.isNumber()) {
    double x = a.toDouble(), y = b.toDouble();
    order = x < y ? -1 : x > y;
    return {};
  }
  if (a.is(Kind::String) && b.is(Kind::String)) {
    order = a.str().compare(b.str()); // UTF-8 keeps the order of code points.
    return {};
  }
  if (a.is(Kind::List) && b.is(Kind::List)) {
    for (size_t i = 0; i < std::min(a.items().size(), b.items().size()); ++i) {
      if (a.items()[i] == b.items()[i])
        continue;
      return compareValues(a.items()[i], b.items()[i], order);
    }
    order = a.items().size() < b.items().size()
                ? -1
                : a.items().size() > b.items().size();
    return {};
  }
  return Status::error(Code::BadArgument, "cannot compare %s and %s",
                       a.kindName(), b.kindName());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// repr(float): the shortest digits, an exponent below 1e-4 and from 1e16.
static std::string floatText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), number,
                           std::chars_format::scientific)
                 .ptr;
  std::string text(buffer, end);
  size_t at = text.find('e');
  int exponent = 0;
  const char *digits = text.data() + at + 1;
  std::from_chars(digits + (*digits == '+'), text.data() + text.size(),
                  exponent);
  // The scientific form of to_chars is Python's too: at least two digits of
  // exponent.
  if (exponent < -4 || exponent >= 16)
    return text;
  end = std::to_chars(buffer, buffer + sizeof(buffer), number,
                      std::chars_format::fixed)
            .ptr;
  text.assign(buffer, end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

/// repr(str): the quotes Python would choose, and escapes for what it takes for
/// unprintable.
static std::string quoted(const std::string &text) {
  // Double quotes are used only where they save an escape.
  bool single = text.find('\'') == std::string::npos ||
                text.find('"') != std::string::npos;
  char quote = single ? '\'' : '"';
  std::string out(1, quote);
  for (std::string_view rest = text; !rest.empty();) {
    Utf8Char next = decodeUtf8(rest);
    rest.remove_prefix(next.size);
    uint32_t c = next.codePoint;
    bool plain = c == ' ' || !(charClass(c) & (kSpace | kDropped));
    char buffer[16] = "";
    if (c == '\n' || c == '\r' || c == '\t')
      std::snprintf(buffer, sizeof(buffer), "\\%c",
                    c == '\n'   ? 'n'
                    : c == '\r' ? 'r'
                                : 't');
    else if (c == static_cast<uint32_t>(quote) || c == '\\')
      std::snprintf(buffer, sizeof(buffer), "\\%c", static_cast<char>(c));
    else if (!plain && c != kReplacementChar)
      std::snprintf(buffer, sizeof(buffer),
                    c < 0x100     ? "\\x%02x"
                    : c < 0x10000 ? "\\u%04x"
                                  : "\\U%08x",
                    c);
    if (buffer[0])
      out += buffer;
    else
      appendUtf8(out, c);
  }
  return out + quote;
}

/// Into one text: values are nested deep.
static void appendRepr(const Value &value, std::string &out) {
  switch (value.kind) {
  case Kind::Undefined:
    out += "Undefined";
    break;
  case Kind::None:
    out += "None";
    break;
  case Kind::Bool:
    out += value.integer ? "True" : "False";
    break;
  case Kind::Int:
    out += std::to_string(value.integer);
    break;
  case Kind::Float:
    out += floatText(value.number);
    break;
  case Kind::String:
    out += quoted(value.str());
    break;
  case Kind::List:
  case Kind::Dict: {
    bool list = value.is(Kind::List);
    bool tuple = value.box->isTuple;
    const char *separator = "";
    out += tuple ? '(' : list ? '[' : '{';
    for (const Value &item : value.items()) {
      out += std::exchange(separator, ", ");
      appendRepr(item, out);
    }
    for (const auto &[key, item] : value.entries()) {
      out += std::exchange(separator, ", ");
      out += quoted(key) + ": ";
      appendRepr(item, out);
    }
    if (tuple)
      out += value.items().size() == 1 ? ",)" : ")";
    else
      out += list ? ']' : '}';
    break;
  }
  case Kind::Namespace:
    out += "<namespace>";
    break;
  case Kind::Function:
    out += "<function>";
    break;
  }
}

/// What {{ … }} prints. Undefined prints as nothing, as in Jinja.
std::string chat::toText(const Value &value) {
  if (value.is(Kind::String))
    return value.str();
  std::string text;
  if (!value.is(Kind::Undefined))
    appendRepr(value, text);
  return text;
}

/// `ascii` writes everything beyond ASCII as \uXXXX, with surrogate pairs
/// beyond U+FFFF, as Python's json.dumps does.
static void jsonString(const std::string &text, bool ascii, std::string &out) {
  auto escape = [&](uint32_t unit) {
    char buffer[16];
    std::snprintf(buffer, sizeof(buffer), "\\u%04x", unit);
    out += buffer;
  };
  out += '"';
  for (std::string_view rest = text; !rest.empty();) {
    Utf8Char next = decodeUtf8(rest);
    rest.remove_prefix(next.size);
    uint32_t c = next.codePoint;
    static constexpr std::string_view plain = "\"\\\n\r\t\b\f",
                                      letters = "\"\\nrtbf";
    size_t at = c < 0x80 ? plain.find(static_cast<char>(c)) : plain.npos;
    if (at != plain.npos)
      (out += '\\') += letters[at];
    else if (c < 0x20 || (ascii && c > 0x7F && c < 0x10000))
      escape(c);
    else if (ascii && c >= 0x10000) {
      escape(0xD800 + ((c - 0x10000) >> 10));
      escape(0xDC00 + ((c - 0x10000) & 0x3FF));
    } else
      appendUtf8(out, c);
  }
  out += '"';
}

/// The separators are those of json.dumps: ", " on one line, "," before a new
/// one. Infinity and NaN are what Python writes, although JSON lacks them.
static Status writeJson(const Value &value, const JsonStyle &style, int depth,
                        std::string &out) {
  if (out.size() > kMaxText)
    return Status::error(Code::BadArgument, "the JSON has more than %zu bytes",
                         kMaxText);
  auto newLine = [&](int level) {
    if (style.indent < 0)
      return;
    out += '\n';
    out.append(static_cast<size_t>(style.indent) * level, ' ');
  };
  switch (value.kind) {
  case Kind::None:
    out += "null";
    return {};
  case Kind::Bool:
    out += value.integer ? "true" : "false";
    return {};
  case Kind::Int:
    out += std::to_string(value.integer);
    return {};
  case Kind::Float:
    out += std::isfinite(value.number) ? floatText(value.number)
           : std::isnan(value.number)  ? "NaN"
           : value.number < 0          ? "-Infinity"
                                       : "Infinity";
    return {};
  case Kind::String:
    jsonString(value.str(), style.ensureAscii, out);
    return {};
  case Kind::List:
  case Kind::Dict: {
    bool list = value.is(Kind::List), first = true;
    if (value.items().empty() && value.entries().empty()) {
      out += list ? "[]" : "{}";
      return {};
    }
    auto separate = [&] {
      if (!first)
        out += style.indent < 0 ? ", " : ",";
      first = false;
      newLine(depth + 1);
    };
    out += list ? '[' : '{';
    for (const Value &item : value.items()) {
      separate();
      GIST_TRY(writeJson(item, style, depth + 1, out));
    }
    Dict entries = value.entries();
    if (style.sortKeys)
      std::sort(entries.begin(), entries.end(),
                [](auto &a, auto &b) { return a.first < b.first; });
    for (const auto &[key, item] : entries) {
      separate();
      jsonString(key, style.ensureAscii, out);
      out += ": ";
      GIST_TRY(writeJson(item, style, depth + 1, out));
    }
    newLine(depth);
    out += list ? ']' : '}';
    return {};
  }
  default:
    return Status::error(Code::BadArgument, "%s cannot be written as JSON",
                         value.kindName());
  }
}

Status chat::toJson(const Value &value, const JsonStyle &style,
                    std::string &out) {
  return writeJson(value, style, 0, out);
}

/// str.isspace() of Python also holds for the four separators 1C..1F, which
/// Unicode does not count as white space.
bool chat::isPythonSpace(uint32_t c) {
  return (c >= 0x1C && c <= 0x1F) || (charClass(c) & kSpace);
}

std::string_view chat::stripLeft(std::string_view text) {
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    if (!isPythonSpace(next.codePoint))
      break;
    text.remove_prefix(next.size);
  }
  return text;
}

std::string_view chat::stripRight(std::string_view text) {
  while (!text.empty()) {
    size_t begin = lastUtf8Char(text);
    if (!isPythonSpace(decodeUtf8(text.substr(begin)).codePoint))
      break;
    text = text.substr(0, begin);
  }
  return text;
}

size_t chat::findText(std::string_view text, std::string_view part,
                      size_t from) {
  if (from > text.size())
    return std::string_view::npos;
  if (part.empty())
    return from;
  const void *found = ::memmem(text.data() + from, text.size() - from,
                               part.data(), part.size());
  return found ? static_cast<size_t>(static_cast<const char *>(found) -
                                     text.data())
               : std::string_view::npos;
}

size_t chat::findLastText(std::string_view text, std::string_view part) {
  // The first place in the text read backwards.
  size_t at = findText(std::string(text.rbegin(), text.rend()),
                       std::string(part.rbegin(), part.rend()));
  return at == std::string_view::npos ? at : text.size() - at - part.size();
}

std::string chat::lowerText(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    text.remove_prefix(next.size);
    appendLower(result, next.codePoint);
  }
  return result;
}
