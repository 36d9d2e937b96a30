//===- ChatTemplateFilters.cpp - Filters ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The filters of Jinja that chat templates of published models use.
// Names and order of arguments are Jinja's. What is not here gives an error
// that names it: a wrong prompt would be worse than none.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplateBuiltins.h"
#include "runtime/text/Unicode.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <unordered_set>

using namespace gist;
using namespace gist::chat;
using Kind = Value::Kind;

/// A filter: input, arguments, what it may cost, result.
using Function = Status (*)(const Value &, const Arguments &, Budget &,
                            Value &);

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Every text that a filter makes passes here, so that no filter can grow one
/// without bound.
static Status setText(std::string text, Value &out) {
  if (text.size() > kMaxText)
    return Status::error(Code::BadArgument, "a text has more than %zu bytes",
                         kMaxText);
  out = Value::string(std::move(text));
  return {};
}

/// Upper case is for ASCII alone: templates change the case of role names.
static char upperOf(char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }

static Status lowerFilter(const Value &in, const Arguments &, Budget &,
                          Value &out) {
  return setText(lowerText(toText(in)), out);
}

static Status upperFilter(const Value &in, const Arguments &, Budget &,
                          Value &out) {
  std::string text = toText(in);
  std::transform(text.begin(), text.end(), text.begin(), upperOf);
  return setText(std::move(text), out);
}

/// The first character keeps its case unless it is ASCII (see upperOf).
static Status capitalizeFilter(const Value &in, const Arguments &, Budget &,
                               Value &out) {
  std::string text = lowerText(toText(in));
  if (!text.empty())
    text[0] = upperOf(text[0]);
  return setText(std::move(text), out);
}

static Status titleFilter(const Value &in, const Arguments &, Budget &,
                          Value &out) {
  std::string text = lowerText(toText(in));
  bool start = true;
  for (char &c : text) {
    if (start)
      c = upperOf(c);
    start = c == ' ' || c == '\n' || c == '\t' || c == '-' || c == '(' ||
            c == '[' || c == '{' || c == '<';
  }
  return setText(std::move(text), out);
}

/// trim(chars); `side` is set by the string methods.
/// No template can pass `side` by place: nine arguments would have to come
/// before it.
static Status trimFilter(const Value &in, const Arguments &args, Budget &,
                         Value &out) {
  std::string text = toText(in);
  const Value *chars = args.get(0, "chars"), *side = args.get(9, "side");
  bool left = !side || side->str() != "rstrip";
  bool right = !side || side->str() != "lstrip";
  std::string_view rest = text;
  if (!chars || !chars->is(Kind::String)) {
    rest = left ? stripLeft(rest) : rest;
    rest = right ? stripRight(rest) : rest;
    return setText(std::string(rest), out);
  }
  // Whole characters: bytes of different ones may be equal.
  std::unordered_set<std::string_view> set;
  for (std::string_view left = chars->str(); !left.empty();) {
    size_t size = decodeUtf8(left).size;
    set.insert(left.substr(0, size));
    left.remove_prefix(size);
  }
  auto listed = [&](std::string_view c) { return set.contains(c); };
  while (left && !rest.empty()) {
    size_t size = decodeUtf8(rest).size;
    if (!listed(rest.substr(0, size)))
      break;
    rest.remove_prefix(size);
  }
  while (right && !rest.empty()) {
    size_t begin = lastUtf8Char(rest);
    if (!listed(rest.substr(begin)))
      break;
    rest = rest.substr(0, begin);
  }
  return setText(std::string(rest), out);
}

static Status replaceFilter(const Value &in, const Arguments &args, Budget &,
                            Value &out) {
  const Value *from = args.get(0, "old"), *to = args.get(1, "new");
  const Value *limit = args.get(2, "count");
  if (!from || !to)
    return Status::error(Code::BadArgument, "replace needs two texts");
  std::string text = toText(in), mark = toText(*from), with = toText(*to);
  int64_t left = limit && limit->is(Kind::Int) && limit->integer >= 0
                     ? limit->integer
                     : INT64_MAX;
  // Python would put the new text between all characters.
  if (mark.empty())
    return Status::error(Code::Unsupported,
                         "replace cannot search for an empty text");
  std::string result;
  size_t at = 0;
  for (size_t found;
       left > 0 && (found = findText(text, mark, at)) != text.npos; --left) {
    result.append(text, at, found - at);
    result += with;
    at = found + mark.size();
    if (result.size() > kMaxText)
      break; // setText reports it.
  }
  result.append(text, at);
  return setText(std::move(result), out);
}

/// indent(width, first, blank): the first line and blank lines are left alone
/// unless asked for.
static Status indentFilter(const Value &in, const Arguments &args, Budget &,
                           Value &out) {
  const Value *width = args.get(0, "width"), *first = args.get(1, "first");
  const Value *blank = args.get(2, "blank");
  std::string pad(4, ' ');
  if (width && width->is(Kind::String))
    pad = width->str();
  else if (width && width->is(Kind::Int))
    // The width is the template's. The bound keeps a line from growing without
    // limit.
    pad.assign(static_cast<size_t>(std::clamp<int64_t>(width->integer, 0, 256)),
               ' ');
  std::string text = toText(in), result;
  bool lineStart = first && first->isTrue();
  for (size_t i = 0; i < text.size(); ++i) {
    if (lineStart && (text[i] != '\n' || (blank && blank->isTrue())))
      result += pad;
    lineStart = text[i] == '\n';
    result += text[i];
    if (result.size() > kMaxText)
      break;
  }
  return setText(std::move(result), out);
}

/// The entities are those of Jinja's escape, which writes quotes as numbers.
static Status escapeFilter(const Value &in, const Arguments &, Budget &,
                           Value &out) {
  std::string result;
  for (char c : toText(in)) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&#34;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += c;
    }
  }
  return setText(std::move(result), out);
}

static Status stringFilter(const Value &in, const Arguments &, Budget &,
                           Value &out) {
  return setText(toText(in), out);
}

static Status tojsonFilter(const Value &in, const Arguments &args, Budget &,
                           Value &out) {
  JsonStyle style;
  if (const Value *ascii = args.get(0, "ensure_ascii"))
    style.ensureAscii = ascii->isTrue();
  // The bound keeps deep lists from making a huge text.
  if (const Value *indent = args.get(1, "indent"); indent && indent->isNumber())
    style.indent = std::clamp<int64_t>(indent->integer, 0, 16);
  if (const Value *separators = args.get(2, "separators");
      separators && !separators->is(Kind::None))
    return Status::error(Code::Unsupported,
                         "tojson with separators is not supported");
  if (const Value *sort = args.get(3, "sort_keys"))
    style.sortKeys = sort->isTrue();
  std::string text;
  GIST_TRY(toJson(in, style, text));
  return setText(std::move(text), out);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Reads a number that is all of a text but for white space around it.
template <typename Number>
static bool parseNumber(std::string_view text, Number &number) {
  text = stripRight(stripLeft(text));
  if (text.starts_with('+'))
    text.remove_prefix(1);
  const char *begin = text.data(), *end = begin + text.size();
  auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end;
}

/// Text that is not a number gives the default, as in Jinja. It is not an
/// error.
static Status intFilter(const Value &in, const Arguments &args, Budget &,
                        Value &out) {
  const Value *missing = args.get(0, "default");
  out = missing ? *missing : Value::fromInt(0);
  if (in.is(Kind::Bool) || in.is(Kind::Int)) {
    out = Value::fromInt(in.integer);
  } else if (in.is(Kind::Float)) {
    // A float beyond this range cannot be converted to int64_t: the conversion
    // would be undefined behaviour.
    if (std::abs(in.number) < 0x1p62)
      out = Value::fromInt(static_cast<int64_t>(in.number));
  } else if (in.is(Kind::String)) {
    double number = 0;
    int64_t integer = 0;
    if (parseNumber(in.str(), integer))
      out = Value::fromInt(integer);
    else if (parseNumber(in.str(), number) && std::abs(number) < 0x1p62)
      out = Value::fromInt(static_cast<int64_t>(number));
  }
  return {};
}

static Status floatFilter(const Value &in, const Arguments &args, Budget &,
                          Value &out) {
  const Value *missing = args.get(0, "default");
  out = missing ? *missing : Value::fromFloat(0.0);
  if (in.isNumber()) {
    out = Value::fromFloat(in.toDouble());
  } else if (in.is(Kind::String)) {
    double number = 0;
    if (parseNumber(in.str(), number))
      out = Value::fromFloat(number);
  }
  return {};
}

static Status absFilter(const Value &in, const Arguments &, Budget &,
                        Value &out) {
  if (in.is(Kind::Float))
    out = Value::fromFloat(std::abs(in.number));
  // |INT64_MIN| has no 64-bit value.
  else if (in.isNumber() && in.integer != INT64_MIN)
    out = Value::fromInt(std::abs(in.integer));
  else
    return Status::error(Code::BadArgument, "abs takes a number; found %s",
                         in.kindName());
  return {};
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static Status lengthFilter(const Value &in, const Arguments &, Budget &budget,
                           Value &out) {
  if (in.is(Kind::Dict)) {
    out = Value::fromInt(static_cast<int64_t>(in.entries().size()));
    return {};
  }
  // The length of a text is counted in characters: bytes 80..BF continue one.
  if (in.is(Kind::String)) {
    GIST_TRY(budget.charge(in));
    out = Value::fromInt(
        std::count_if(in.str().begin(), in.str().end(), [](char c) {
          return (static_cast<uint8_t>(c) & 0xC0) != 0x80;
        }));
    return {};
  }
  List items;
  GIST_TRY(iterate(in, budget, items));
  out = Value::fromInt(static_cast<int64_t>(items.size()));
  return {};
}

static Status listFilter(const Value &in, const Arguments &, Budget &budget,
                         Value &out) {
  List items;
  GIST_TRY(iterate(in, budget, items));
  return Value::list(std::move(items), out);
}

/// An empty list gives undefined, which prints as nothing; it is not an error.
static Status firstFilter(const Value &in, const Arguments &, Budget &budget,
                          Value &out) {
  List items;
  GIST_TRY(iterate(in, budget, items));
  out = items.empty() ? Value::undefined("first item") : items.front();
  return {};
}

static Status lastFilter(const Value &in, const Arguments &, Budget &budget,
                         Value &out) {
  List items;
  GIST_TRY(iterate(in, budget, items));
  out = items.empty() ? Value::undefined("last item") : items.back();
  return {};
}

/// A text stays a text; anything else becomes a list.
static Status reverseFilter(const Value &in, const Arguments &, Budget &budget,
                            Value &out) {
  List items;
  GIST_TRY(iterate(in, budget, items));
  std::reverse(items.begin(), items.end());
  if (!in.is(Kind::String))
    return Value::list(std::move(items), out);
  std::string text;
  for (const Value &item : items)
    text += item.str();
  return setText(std::move(text), out);
}

/// The value of a dotted path, as in map(attribute='function.name'); `missing`
/// stands, if given, for what a step does not find.
static Status getPath(const Value &item, const Value &path, Budget &budget,
                      Value &out, const Value *missing = nullptr) {
  if (!path.is(Kind::String))
    return getItem(item, path, budget, out);
  out = item;
  std::string_view rest = path.str();
  while (true) {
    size_t end = std::min(rest.find('.'), rest.size());
    Value step = out;
    GIST_TRY(budget.charge(1));
    GIST_TRY(getItem(step, Value::string(std::string(rest.substr(0, end))),
                     budget, out));
    if (out.is(Kind::Undefined) && missing)
      out = *missing;
    if (end == rest.size())
      return {};
    rest.remove_prefix(end + 1);
  }
}

static Status joinFilter(const Value &in, const Arguments &args, Budget &budget,
                         Value &out) {
  const Value *separator = args.get(0, "d");
  const Value *attribute = args.get(1, "attribute");
  std::string mark = separator ? toText(*separator) : "", text;
  List items;
  GIST_TRY(iterate(in, budget, items));
  for (size_t i = 0; i < items.size() && text.size() <= kMaxText; ++i) {
    Value item = items[i];
    if (attribute && !attribute->is(Kind::None))
      GIST_TRY(getPath(items[i], *attribute, budget, item));
    GIST_TRY(budget.chargeText(item));
    // The loop ends soon after the limit is passed; setText gives the error.
    if (i != 0)
      text += mark;
    text += item.is(Kind::String) ? item.str() : toText(item);
  }
  return setText(std::move(text), out);
}

/// `arguments | items` of a missing dictionary is empty, as in Jinja.
static Status itemsFilter(const Value &in, const Arguments &, Budget &budget,
                          Value &out) {
  if (in.is(Kind::Undefined))
    return Value::list({}, out);
  return callMethod(in, "items", {}, budget, out);
}

/// A key for sorting: texts without regard to case, unless asked.
static Value sortKey(const Value &value, bool caseMatters) {
  return value.is(Kind::String) && !caseMatters
             ? Value::string(lowerText(value.str()))
             : value;
}

/// Sorts `items` by the keys of the same index. Keys without an order give an
/// error, after the sort: a comparison cannot stop std::sort.
static Status sortBy(List &items, const List &keys, bool reverse) {
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  Status status;
  // Equal keys keep their order either way.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    int result = 0;
    if (Status next = compareValues(keys[a], keys[b], result); !next.ok())
      status = std::move(next);
    result = reverse ? -result : result;
    return result != 0 ? result < 0 : a < b;
  });
  List sorted;
  for (size_t i : order)
    sorted.push_back(items[i]);
  items = std::move(sorted);
  return status;
}

static Status sortFilter(const Value &in, const Arguments &args, Budget &budget,
                         Value &out) {
  const Value *reverse = args.get(0, "reverse");
  const Value *caseMatters = args.get(1, "case_sensitive");
  const Value *attribute = args.get(2, "attribute");
  List items, keys;
  GIST_TRY(iterate(in, budget, items));
  for (const Value &item : items) {
    Value key = item;
    if (attribute && !attribute->is(Kind::None))
      GIST_TRY(getPath(item, *attribute, budget, key));
    GIST_TRY(budget.chargeWhole(key));
    keys.push_back(sortKey(key, caseMatters && caseMatters->isTrue()));
    // Only what has a total order is sorted.
    // std::sort needs a strict weak order. NaN and a mix of texts and numbers
    // do not have one, and would be undefined behaviour.
    const Value &last = keys.back();
    bool ordered = last.is(Kind::String) ||
                   (last.isNumber() && !std::isnan(last.toDouble()));
    if (!ordered || last.isNumber() != keys.front().isNumber())
      return Status::error(Code::BadArgument, "sort cannot compare %s and %s",
                           keys.front().kindName(), last.kindName());
  }
  GIST_TRY(sortBy(items, keys, reverse && reverse->isTrue()));
  return Value::list(std::move(items), out);
}

/// Pairs of key and value by key. Keys are texts, so they have an order.
static Status dictsortFilter(const Value &in, const Arguments &args,
                             Budget &budget, Value &out) {
  const Value *caseMatters = args.get(0, "case_sensitive");
  Value pairs;
  GIST_TRY(callMethod(in, "items", {}, budget, pairs));
  List items = pairs.items(), keys;
  for (const Value &item : items) {
    GIST_TRY(budget.chargeWhole(item.items()[0]));
    keys.push_back(
        sortKey(item.items()[0], caseMatters && caseMatters->isTrue()));
  }
  GIST_TRY(sortBy(items, keys, false));
  return Value::list(std::move(items), out);
}

/// The first of equal items stays. Texts that differ in case only are equal, as
/// in Jinja.
static Status uniqueFilter(const Value &in, const Arguments &, Budget &budget,
                           Value &out) {
  List items, seen, result;
  GIST_TRY(iterate(in, budget, items));
  if (items.size() > 4096) // The search below is quadratic.
    return Status::error(Code::BadArgument,
                         "unique takes at most 4096 items; found %zu",
                         items.size());
  for (const Value &item : items) {
    GIST_TRY(budget.chargeWhole(item));
    Value key = sortKey(item, false);
    // Texts that differ do so early; some are long and differ at the end.
    GIST_TRY(budget.charge(seen.size() * (1 + key.weight() / 256) / 16));
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      continue;
    seen.push_back(std::move(key));
    result.push_back(item);
  }
  return Value::list(std::move(result), out);
}

//===----------------------------------------------------------------------===//
// Filters that call others
//===----------------------------------------------------------------------===//

/// map('filter', …) or map(attribute='path', default=…). Place 99 means that an
/// argument has a name only.
static Status mapFilter(const Value &in, const Arguments &args, Budget &budget,
                        Value &out) {
  List items, result;
  GIST_TRY(iterate(in, budget, items));
  const Value *attribute = args.get(99, "attribute");
  const Value *missing = args.get(99, "default");
  if (!attribute &&
      (args.positional.empty() || !args.positional[0].is(Kind::String)))
    return Status::error(Code::BadArgument, "map needs the name of a filter");
  for (const Value &item : items) {
    Value value;
    if (attribute) {
      GIST_TRY(getPath(item, *attribute, budget, value, missing));
    } else {
      Arguments rest{{args.positional.begin() + 1, args.positional.end()},
                     args.named};
      GIST_TRY(callFilter(args.positional[0].str(), item, rest, budget, value));
    }
    result.push_back(std::move(value));
  }
  return Value::list(std::move(result), out);
}

/// select, reject, selectattr, rejectattr.
static Status selectItems(const Value &in, const Arguments &args, bool byPath,
                          bool wanted, Budget &budget, Value &out) {
  List items, result;
  GIST_TRY(iterate(in, budget, items));
  // With a path, the first argument is the path and the test comes second.
  size_t skip = byPath ? 1 : 0;
  if (args.positional.size() < skip)
    return Status::error(Code::BadArgument, "selectattr needs an attribute");
  bool hasTest = args.positional.size() > skip;
  std::string test = hasTest ? toText(args.positional[skip]) : "";
  for (const Value &item : items) {
    Value value = item;
    if (byPath)
      GIST_TRY(getPath(item, args.positional[0], budget, value));
    // Without a test, an item passes if it is true.
    bool passes = value.isTrue();
    if (hasTest) {
      Arguments rest{
          {args.positional.begin() + static_cast<ptrdiff_t>(skip) + 1,
           args.positional.end()},
          {}};
      GIST_TRY(callTest(test, value, rest, budget, passes));
    }
    if (passes == wanted)
      result.push_back(item);
  }
  return Value::list(std::move(result), out);
}

static Status selectFilter(const Value &in, const Arguments &args,
                           Budget &budget, Value &out) {
  return selectItems(in, args, false, true, budget, out);
}
static Status rejectFilter(const Value &in, const Arguments &args,
                           Budget &budget, Value &out) {
  return selectItems(in, args, false, false, budget, out);
}
static Status selectattrFilter(const Value &in, const Arguments &args,
                               Budget &budget, Value &out) {
  return selectItems(in, args, true, true, budget, out);
}
static Status rejectattrFilter(const Value &in, const Arguments &args,
                               Budget &budget, Value &out) {
  return selectItems(in, args, true, false, budget, out);
}

static Status defaultFilter(const Value &in, const Arguments &args, Budget &,
                            Value &out) {
  const Value *missing = args.get(0, "default_value");
  const Value *falseToo = args.get(1, "boolean");
  bool replace = in.is(Kind::Undefined) ||
                 (falseToo && falseToo->isTrue() && !in.isTrue());
  out = !replace ? in : missing ? *missing : Value::string("");
  return {};
}

namespace {
/// What a filter reads of its input, and so what is charged for it.
enum class Reads {
  Nothing,
  Items, ///< Charged by the filter, as it takes them.
  Text,
};
struct Filter {
  std::string_view name;
  Function function;
  Reads reads;
};
} // namespace

/// A linear search is enough: a template calls few filters, and each name is
/// looked up once per call.
Status chat::callFilter(const std::string &name, const Value &input,
                        const Arguments &args, Budget &budget, Value &out) {
  static constexpr Filter filters[] = {
      {"abs", absFilter, Reads::Text},
      {"capitalize", capitalizeFilter, Reads::Text},
      {"count", lengthFilter, Reads::Items},
      {"d", defaultFilter, Reads::Nothing},
      {"default", defaultFilter, Reads::Nothing},
      {"dictsort", dictsortFilter, Reads::Items},
      {"e", escapeFilter, Reads::Text},
      {"escape", escapeFilter, Reads::Text},
      {"first", firstFilter, Reads::Items},
      {"float", floatFilter, Reads::Text},
      {"indent", indentFilter, Reads::Text},
      {"int", intFilter, Reads::Text},
      {"items", itemsFilter, Reads::Items},
      {"join", joinFilter, Reads::Items},
      {"last", lastFilter, Reads::Items},
      {"length", lengthFilter, Reads::Items},
      {"list", listFilter, Reads::Items},
      {"lower", lowerFilter, Reads::Text},
      {"map", mapFilter, Reads::Items},
      {"reject", rejectFilter, Reads::Items},
      {"rejectattr", rejectattrFilter, Reads::Items},
      {"replace", replaceFilter, Reads::Text},
      {"reverse", reverseFilter, Reads::Items},
      {"safe", stringFilter, Reads::Text},
      {"select", selectFilter, Reads::Items},
      {"selectattr", selectattrFilter, Reads::Items},
      {"sort", sortFilter, Reads::Items},
      {"string", stringFilter, Reads::Text},
      {"title", titleFilter, Reads::Text},
      {"tojson", tojsonFilter, Reads::Text},
      {"trim", trimFilter, Reads::Text},
      {"unique", uniqueFilter, Reads::Items},
      {"upper", upperFilter, Reads::Text},
  };
  auto filter =
      std::find_if(std::begin(filters), std::end(filters),
                   [&](const Filter &known) { return known.name == name; });
  if (filter == std::end(filters))
    return Status::error(Code::Unsupported, "filter '%s' is not supported",
                         name.c_str());
  if (filter->reads == Reads::Text)
    GIST_TRY(budget.chargeText(input));
  if (filter->reads != Reads::Nothing) {
    for (const Value &argument : args.positional)
      GIST_TRY(budget.chargeWhole(argument));
    for (const auto &argument : args.named)
      GIST_TRY(budget.chargeWhole(argument.second));
  }
  GIST_TRY(filter->function(input, args, budget, out));
  // `replace` can make a long text of a short one.
  return budget.charge(out);
}
