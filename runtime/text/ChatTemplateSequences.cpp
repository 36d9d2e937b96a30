//===- ChatTemplateSequences.cpp - Items, slices and methods --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What templates do with texts, lists and dictionaries: loops, indices, slices,
// `in`, and the methods of Python's str and dict. Places and lengths of a text
// count characters, not bytes, as in Python.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateBuiltins.h"
#include "runtime/text/Unicode.h"

#include <algorithm>
#include <limits>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

/// Positional arguments win. A place beyond those that were given falls back to
/// the name.
const Value *Arguments::get(size_t place, std::string_view name) const {
  if (place < positional.size())
    return &positional[place];
  for (const auto &[key, value] : named)
    if (key == name)
      return &value;
  return nullptr;
}

/// The characters of a text.
static std::vector<std::string_view> charsOf(std::string_view text) {
  std::vector<std::string_view> chars;
  while (!text.empty()) {
    size_t size = decodeUtf8(text).size;
    chars.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return chars;
}

/// Undefined gives nothing, so that a template may loop over what a caller left
/// out. A dictionary gives its keys.
Status chat::iterate(const Value &value, Budget &budget, List &items) {
  items.clear();
  GIST_TRY(budget.chargeItems(value));
  switch (value.kind) {
  case Kind::Undefined:
    return {};
  case Kind::List:
    items = value.items();
    return {};
  case Kind::Dict:
    for (const auto &entry : value.entries())
      items.push_back(Value::string(entry.first));
    return {};
  case Kind::String:
    // Each character becomes a value of its own, which takes much more memory
    // than the byte it was.
    if (value.str().size() > kMaxItems)
      return Status::error(Code::BadArgument, "the text of a loop is too long");
    items.reserve(value.str().size());
    for (std::string_view c : charsOf(value.str()))
      items.push_back(Value::string(std::string(c)));
    return {};
  default:
    return Status::error(Code::BadArgument, "%s has no items",
                         value.kindName());
  }
}

/// A missing item gives undefined and not an error, as in Jinja. Only an item
/// of something undefined is an error: otherwise a misspelt name would go
/// unnoticed.
Status chat::getItem(const Value &container, const Value &key, Budget &budget,
                     Value &out) {
  if (container.is(Kind::Undefined))
    return Status::error(Code::BadArgument, "'%s' is undefined",
                         container.str().c_str());
  // An undefined value keeps its name.
  GIST_TRY(key.is(Kind::String) ? budget.charge(key) : budget.chargeText(key));
  if (key.is(Kind::String)) {
    // The names of a namespace change, so that they are searched one by one.
    if (container.is(Kind::Namespace))
      GIST_TRY(budget.charge(container.entries().size() / 16));
    const Value *found = container.find(key.str());
    out = found ? *found : Value::undefined(key.str());
    return {};
  }
  out = Value::undefined(toText(key));
  if (!key.is(Kind::Int) && !key.is(Kind::Bool))
    return {};
  // Negative places count from the end.
  auto place = [&](size_t size, size_t &index) {
    int64_t at = key.integer;
    if (at < 0)
      at += static_cast<int64_t>(size);
    index = static_cast<size_t>(at);
    return at >= 0 && index < size;
  };
  size_t index = 0;
  if (container.is(Kind::List)) {
    if (place(container.items().size(), index))
      out = container.items()[index];
  } else if (container.is(Kind::String)) {
    // To find a character of a text, all before it are decoded.
    GIST_TRY(budget.charge(container));
    std::vector<std::string_view> chars = charsOf(container.str());
    if (place(chars.size(), index))
      out = Value::string(std::string(chars[index]));
  }
  return {};
}

/// `in` asks for a key of a dictionary, an item of a list, or a part of a text.
Status chat::contains(const Value &container, const Value &value,
                      Budget &budget, bool &out) {
  GIST_TRY(budget.chargeWhole(value));
  // A key is found without a look at the others.
  if (!container.is(Kind::Dict))
    GIST_TRY(budget.chargeWhole(container));
  switch (container.kind) {
  case Kind::Undefined:
    out = false;
    return {};
  case Kind::List:
    out = std::find(container.items().begin(), container.items().end(),
                    value) != container.items().end();
    return {};
  case Kind::Dict:
    out = value.is(Kind::String) && container.find(value.str());
    return {};
  case Kind::String:
    if (value.is(Kind::String)) {
      out = findText(container.str(), value.str()) != std::string::npos;
      return {};
    }
    [[fallthrough]];
  default:
    return Status::error(Code::BadArgument, "'in' cannot look for %s in %s",
                         value.kindName(), container.kindName());
  }
}

/// Python's rules for a slice: the place of the first item, and how many.
static void sliceRange(const Value &start, const Value &stop, int64_t step,
                       int64_t size, int64_t &first, int64_t &count) {
  // -1 is the place before the first item, where a backward slice ends.
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto clamp = [&](const Value &bound, int64_t missing) {
    if (bound.is(Kind::None))
      return missing;
    int64_t at = bound.integer;
    if (at < 0)
      at = at < -size ? low : at + size;
    return std::clamp(at, low, high);
  };
  first = clamp(start, step > 0 ? low : high);
  int64_t end = clamp(stop, step > 0 ? high : low);
  int64_t distance = step > 0 ? end - first : first - end;
  int64_t stride = step > 0 ? step : -step;
  count = distance > 0 ? (distance - 1) / stride + 1 : 0;
}

Status chat::slice(const Value &value, const Value &start, const Value &stop,
                   const Value &step, Budget &budget, Value &out) {
  for (const Value *bound : {&start, &stop, &step})
    if (!bound->is(Kind::None) && !bound->is(Kind::Int))
      return Status::error(Code::BadArgument,
                           "the bounds of a slice are integers; found %s",
                           bound->kindName());
  int64_t stride = step.is(Kind::None) ? 1 : step.integer;
  // -INT64_MIN has no 64-bit value.
  if (stride == 0 || stride == std::numeric_limits<int64_t>::min())
    return Status::error(Code::BadArgument, "the step of a slice is zero");
  GIST_TRY(budget.charge(value));
  int64_t first = 0, count = 0;
  if (value.is(Kind::List)) {
    const List &items = value.items();
    sliceRange(start, stop, stride, static_cast<int64_t>(items.size()), first,
               count);
    List result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(items[static_cast<size_t>(first + i * stride)]);
    return Value::list(std::move(result), out);
  }
  if (value.is(Kind::String)) {
    std::vector<std::string_view> chars = charsOf(value.str());
    sliceRange(start, stop, stride, static_cast<int64_t>(chars.size()), first,
               count);
    std::string result;
    for (int64_t i = 0; i < count; ++i)
      result += chars[static_cast<size_t>(first + i * stride)];
    out = Value::string(std::move(result));
    return {};
  }
  return Status::error(Code::BadArgument, "cannot take a slice of %s",
                       value.kindName());
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

/// split(separator, limit); without a separator at white space.
/// White space in a row is one separator; a given separator in a row leaves
/// empty texts between.
static Status splitText(const std::string &text, const Arguments &args,
                        bool fromRight, Value &out) {
  const Value *separator = args.get(0, "sep"), *limit = args.get(1, "maxsplit");
  int64_t left = limit && limit->is(Kind::Int) && limit->integer >= 0
                     ? limit->integer
                     : std::numeric_limits<int64_t>::max();
  List parts;
  std::string_view rest = text;
  auto put = [&](std::string_view part) {
    parts.push_back(Value::string(std::string(part)));
  };
  if (!separator || separator->is(Kind::None)) {
    // Without a limit both directions give the same parts. With one they
    // differ, and only a separator is supported.
    if (fromRight && limit)
      return Status::error(Code::Unsupported,
                           "rsplit with a limit needs a separator");
    rest = stripLeft(rest);
    while (!rest.empty()) {
      size_t size = 0;
      while (left > 0 && size < rest.size()) {
        Utf8Char next = decodeUtf8(rest.substr(size));
        if (isPythonSpace(next.codePoint))
          break;
        size += next.size;
      }
      // The limit is used up: all that is left is the last part.
      if (left-- == 0)
        size = rest.size();
      put(rest.substr(0, size));
      rest = stripLeft(rest.substr(size));
    }
    return Value::list(std::move(parts), out);
  }
  if (!separator->is(Kind::String) || separator->str().empty())
    return Status::error(
        Code::BadArgument,
        "split needs a separator that is a text and not empty; found %s",
        separator->kindName());
  const std::string &mark = separator->str();
  // From the right: read backwards, so that one search serves both.
  auto turned = [](std::string_view part) {
    return std::string(part.rbegin(), part.rend());
  };
  std::string backwards = fromRight ? turned(rest) : "";
  std::string backwardsMark = fromRight ? turned(mark) : "";
  std::string_view ahead = fromRight ? std::string_view(backwards) : rest;
  for (; left > 0; --left) {
    size_t at = findText(ahead, fromRight ? backwardsMark : mark);
    if (at == ahead.npos)
      break;
    put(fromRight ? rest.substr(rest.size() - at) : rest.substr(0, at));
    size_t taken = at + mark.size();
    ahead.remove_prefix(taken);
    rest = fromRight ? rest.substr(0, rest.size() - taken) : ahead;
  }
  put(rest);
  // The parts were collected from the right.
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  return Value::list(std::move(parts), out);
}

/// Without the line ends. A newline at the very end does not add an empty line,
/// as in Python.
static Status splitLines(std::string_view text, Value &out) {
  List lines;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of("\n\r"), text.size());
    lines.push_back(Value::string(std::string(text.substr(0, end))));
    text.remove_prefix(end);
    if (!text.empty())
      text.remove_prefix(text.starts_with("\r\n") ? 2 : 1);
  }
  return Value::list(std::move(lines), out);
}

/// startswith and endswith, with one text or a list of them.
static Status matchEnd(const std::string &text, const Arguments &args,
                       bool front, Value &out) {
  const Value *what = args.get(0, "prefix");
  List options;
  if (what && what->is(Kind::List))
    options = what->items();
  else if (what)
    options.push_back(*what);
  bool found = false;
  for (const Value &option : options) {
    if (!option.is(Kind::String))
      return Status::error(Code::BadArgument,
                           "startswith and endswith take texts; found %s",
                           option.kindName());
    found |=
        front ? text.starts_with(option.str()) : text.ends_with(option.str());
  }
  out = Value::boolean(found);
  return {};
}

/// hasMethod lists the names; a name that is new here must be added there.
static Status stringMethod(const Value &object, const std::string &name,
                           const Arguments &args, Budget &budget, Value &out) {
  const std::string &text = object.str();
  const Value *first = args.get(0, "");
  // What strip, replace and their like do is written once, as filters.
  static constexpr std::string_view filters[] = {"lower", "upper", "title",
                                                 "capitalize", "replace"};
  if (std::find(std::begin(filters), std::end(filters), name) !=
      std::end(filters))
    return callFilter(name, object, args, budget, out);
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    Arguments side = args;
    // strip(None) is strip().
    if (first && first->is(Kind::None))
      side.positional.clear();
    side.named.emplace_back("side", Value::string(name));
    return callFilter("trim", object, side, budget, out);
  }
  if (name == "split" || name == "rsplit")
    return splitText(text, args, name == "rsplit", out);
  if (name == "splitlines")
    return splitLines(text, out);
  if (name == "startswith" || name == "endswith")
    return matchEnd(text, args, name == "startswith", out);
  if (name == "isdigit" || name == "isalpha" || name == "isspace") {
    // Python's isdigit and its like are false for an empty text.
    bool all = !text.empty();
    for (std::string_view c : charsOf(text)) {
      uint32_t codePoint = decodeUtf8(c).codePoint;
      all &= name == "isspace"   ? isPythonSpace(codePoint)
             : name == "isdigit" ? (charClass(codePoint) & kNumber) != 0
                                 : (charClass(codePoint) & kLetter) != 0;
    }
    out = Value::boolean(all);
    return {};
  }
  if (!first)
    return Status::error(Code::BadArgument, "%s needs an argument",
                         name.c_str());
  if (name == "join")
    return callFilter("join", *first, Arguments{{object}, {}}, budget, out);
  if (!first->is(Kind::String))
    return Status::error(Code::BadArgument, "%s with %s", name.c_str(),
                         first->kindName());
  const std::string &other = first->str();
  if (name == "removeprefix" || name == "removesuffix") {
    bool front = name == "removeprefix";
    bool found = front ? text.starts_with(other) : text.ends_with(other);
    size_t size = text.size() - (found ? other.size() : 0);
    out = Value::string(text.substr(front ? text.size() - size : 0, size));
    return {};
  }
  if (name == "count") {
    int64_t count = 0;
    // Occurrences that overlap count once. An empty text is found before,
    // between and behind the characters.
    for (size_t at = 0;
         !other.empty() && (at = findText(text, other, at)) != text.npos;
         at += other.size())
      ++count;
    out = Value::fromInt(
        other.empty() ? static_cast<int64_t>(charsOf(text).size()) + 1 : count);
    return {};
  }
  // find, rfind, index: places are counted in characters.
  size_t at =
      name == "rfind" ? findLastText(text, other) : findText(text, other);
  if (at == text.npos && name == "index")
    return Status::error(Code::BadArgument, "index did not find '%s'",
                         other.c_str());
  out = Value::fromInt(
      at == text.npos
          ? -1
          : static_cast<int64_t>(charsOf(text.substr(0, at)).size()));
  return {};
}

/// What is not `get` is keys, values or items, in the order of the entries.
static Status dictMethod(const Value &object, const std::string &name,
                         const Arguments &args, Value &out) {
  if (name == "get") {
    const Value *key = args.get(0, "key"), *missing = args.get(1, "default");
    const Value *found =
        key && key->is(Kind::String) ? object.find(key->str()) : nullptr;
    out = found ? *found : missing ? *missing : Value::none();
    return {};
  }
  List result;
  for (const auto &[key, value] : object.entries()) {
    Value item = value;
    if (name == "keys")
      item = Value::string(key);
    else if (name == "items") {
      GIST_TRY(Value::list({Value::string(key), value}, item));
      item.box->isTuple = true;
    }
    result.push_back(std::move(item));
  }
  return Value::list(std::move(result), out);
}

bool chat::hasMethod(const Value &object, std::string_view name) {
  static constexpr std::string_view ofStrings[] = {
      "lower",      "upper",      "title",        "capitalize",   "replace",
      "strip",      "lstrip",     "rstrip",       "split",        "rsplit",
      "splitlines", "startswith", "endswith",     "isdigit",      "isalpha",
      "isspace",    "join",       "removeprefix", "removesuffix", "count",
      "find",       "rfind",      "index"};
  static constexpr std::string_view ofDicts[] = {"get", "items", "keys",
                                                 "values"};
  auto in = [&](const auto &names) {
    return std::find(std::begin(names), std::end(names), name) !=
           std::end(names);
  };
  return (object.is(Kind::String) && in(ofStrings)) ||
         (object.is(Kind::Dict) && in(ofDicts));
}

Status chat::callMethod(const Value &object, const std::string &name,
                        const Arguments &args, Budget &budget, Value &out) {
  if (!hasMethod(object, name))
    return Status::error(Code::Unsupported, "%s has no method '%s'",
                         object.kindName(), name.c_str());
  GIST_TRY(budget.charge(object));
  if (object.is(Kind::Dict)) {
    GIST_TRY(dictMethod(object, name, args, out));
    return budget.charge(out);
  }
  // Texts to look for, and lists of them.
  for (const Value &argument : args.positional)
    GIST_TRY(budget.chargeWhole(argument));
  for (const auto &argument : args.named)
    GIST_TRY(budget.chargeWhole(argument.second));
  GIST_TRY(stringMethod(object, name, args, budget, out));
  return budget.charge(out);
}
