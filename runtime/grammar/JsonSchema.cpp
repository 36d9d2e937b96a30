//===- JsonSchema.cpp - JSON of a schema, as a grammar --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonSchema.h"

#include "runtime/grammar/JsonNumbers.h"
#include "runtime/grammar/JsonTexts.h"
#include "runtime/grammar/SchemaCompare.h"
#include "runtime/support/Json.h"
#include "runtime/support/OutOfMemory.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <deque>
#include <map>

using namespace gist;

using Json = nlohmann::ordered_json;
using Id = Grammar::Id;

/// Keywords that say nothing about which values are valid.
static constexpr std::string_view kNotes[] = {
    "$anchor", "$comment",    "$defs",      "$id",         "$schema",
    "default", "definitions", "deprecated", "description", "discriminator",
    "example", "examples",    "readOnly",   "title",       "writeOnly"};

/// Keywords that stand for a whole value.
static constexpr std::string_view kWhole[] = {"$ref",  "const", "enum",
                                              "anyOf", "oneOf", "allOf"};

/// Keywords by the type of value that they speak of.
struct TypeKeywords {
  std::string_view type;
  std::array<std::string_view, 5> keywords;
};
static constexpr TypeKeywords kTypes[] = {
    {"object",
     {"properties", "required", "additionalProperties", "minProperties",
      "maxProperties"}},
    {"array", {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}},
    {"string", {"pattern", "minLength", "maxLength", "format", {}}},
    {"number",
     {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
      "multipleOf"}},
    {"integer", {}},
    {"boolean", {}},
    {"null", {}}};

/// Formats of texts as regular expressions, which are no wider than the format.
static constexpr std::pair<std::string_view, std::string_view> kFormats[] = {
    {"date",
     "^\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]"
     "\\d|30)|02-(0[1-9]|1\\d|2[0-8]))$"},
    {"time",
     "^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3])"
     ":[0-5]\\d)$"},
    {"date-time",
     "^\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]"
     "\\d|30)|02-(0[1-9]|1\\d|2[0-8]))T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\."
     "\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$"},
    {"uuid",
     "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]"
     "{12}$"},
    {"ipv4",
     "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|"
     "[1-9]?\\d)$"},
    {"email",
     "^[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9]([A-Za-z0-9-]{0,30}"
     "[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?)+$"}};

namespace {
class Reader {
public:
  Reader(const Json &document, Grammar &grammar)
      : document(document), grammar(grammar) {}

  Status read(Id &result);
  Id anyObject();

private:
  // Each appends an expression for `schema`, which is at `where`.
  Status add(const Json &schema, const std::string &where, Id &result);
  Status addWhole(const Json &schema, std::string_view keyword,
                  const std::string &where, Id &result);
  Status addChoice(const Json &list, const std::string &where, Id &result);
  Status addEnum(const Json &schema, const Json &values,
                 const std::string &where, Id &result);
  Status addReference(const Json &value, const std::string &where, Id &result);
  Status addType(const Json &schema, std::string_view type,
                 const std::string &where, Id &result);
  Status addText(const Json &schema, const std::string &where, Id &result);
  Status addNumber(const Json &schema, bool isInteger, const std::string &where,
                   Id &result);
  Status addArray(const Json &schema, const std::string &where, Id &result);
  Status addObject(const Json &schema, const std::string &where, Id &result);

  struct Member {
    std::string name;
    const Json *schema = nullptr; ///< null: any value
    bool isRequired = false;
  };
  struct Members {
    std::vector<Member> listed;
    bool hasOthers = false;
    const Json *others = nullptr; ///< their schema; null: any value
    uint32_t mostOthers = Grammar::kUnbounded;
    bool mayBeEmpty = true;
  };
  Status readMembers(const Json &schema, const std::string &where,
                     Members &members);
  Status limitMembers(const Json &schema, const std::string &where,
                      Members &members);
  Status addValue(const Json *schema, const std::string &where, Id &result);
  Id addMembers(const Members &members, const std::vector<Id> &rules, Id other);

  Status checkKeywords(const Json &schema, const std::string &where,
                       std::string_view &whole) const;
  Status readCount(const Json &schema, const char *name,
                   const std::string &where, uint32_t &value) const;

  Id literalOf(const Json &value);
  Id space();
  Id comma() { return grammar.sequence({grammar.literal(","), space()}); }
  Id quoted(Id inside) {
    return grammar.sequence(
        {grammar.literal("\""), inside, grammar.literal("\"")});
  }
  Id wrap(const char *open, Id inside, const char *close) {
    return grammar.sequence(
        {grammar.literal(open), space(), inside, grammar.literal(close)});
  }
  Id anyText();
  Id anyValue();
  Id ruleOf(Id expression) {
    Id rule = grammar.addRule();
    grammar.setRule(rule, expression);
    return rule;
  }

  const Json &document;
  Grammar &grammar;
  std::optional<Id> spaceRule, textRule, valueRule, objectRule;
  /// Rules of what references point to, and those that are to be read yet.
  std::map<const Json *, Id> references;
  struct Waiting {
    const Json *schema;
    std::string where;
    Id rule;
  };
  std::deque<Waiting> waiting;
};
} // namespace

[[gnu::format(printf, 2, 3)]] static Status refuse(const std::string &where,
                                                   const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Status::error(Code::Unsupported, "at '%.200s': %s", where.c_str(),
                       text);
}

template <typename List>
static bool contains(const List &list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

//===----------------------------------------------------------------------===//
// JSON itself
//===----------------------------------------------------------------------===//

/// Short, so that a model does not write spaces without end.
Id Reader::space() {
  if (!spaceRule) {
    constexpr uint32_t kMaxIndent = 40;
    Id indent = grammar.repeat(grammar.chars({{' ', ' '}, {'\t', '\t'}}), 0,
                               kMaxIndent);
    spaceRule = ruleOf(
        grammar.choice({grammar.literal(""), grammar.literal(" "),
                        grammar.sequence({grammar.literal("\n"), indent})}));
  }
  return grammar.call(*spaceRule);
}

Id Reader::anyText() {
  if (!textRule)
    textRule = ruleOf(
        quoted(grammar.repeat(anyJsonChar(grammar), 0, Grammar::kUnbounded)));
  return grammar.call(*textRule);
}

Id Reader::anyObject() {
  (void)anyValue();
  return grammar.call(*objectRule);
}

Id Reader::anyValue() {
  if (valueRule)
    return grammar.call(*valueRule);
  valueRule = grammar.addRule();
  objectRule = grammar.addRule();
  auto list = [&](Id item) {
    return grammar.optional(
        grammar.sequence({item,
                          grammar.repeat(grammar.sequence({comma(), item}), 0,
                                         Grammar::kUnbounded),
                          space()}));
  };
  Id value = grammar.call(*valueRule);
  Id member = grammar.call(ruleOf(
      grammar.sequence({anyText(), grammar.literal(":"), space(), value})));
  Id number = 0;
  (void)numbersOf(grammar, {}, number); // Without bounds it cannot fail.
  grammar.setRule(*objectRule, wrap("{", list(member), "}"));
  grammar.setRule(
      *valueRule,
      grammar.choice({grammar.call(*objectRule), wrap("[", list(value), "]"),
                      anyText(), number, grammar.literal("true"),
                      grammar.literal("false"), grammar.literal("null")}));
  return grammar.call(*valueRule);
}

/// One value, with space where JSON may have it.
Id Reader::literalOf(const Json &value) {
  if (!value.is_structured())
    return grammar.literal(
        value.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::vector<Id> parts;
  for (const auto &[name, item] : value.items()) {
    if (!parts.empty())
      parts.push_back(comma());
    if (value.is_object()) {
      parts.push_back(literalOf(Json(name)));
      parts.push_back(grammar.literal(":"));
      parts.push_back(space());
    }
    parts.push_back(literalOf(item));
  }
  if (!parts.empty())
    parts.push_back(space());
  Id inside = grammar.sequence(std::move(parts));
  return value.is_object() ? wrap("{", inside, "}") : wrap("[", inside, "]");
}

//===----------------------------------------------------------------------===//
// Keywords
//===----------------------------------------------------------------------===//

/// Refuses keywords that are not known, and those that stand beside one that
/// says all by itself. `whole` is that one, or empty.
Status Reader::checkKeywords(const Json &schema, const std::string &where,
                             std::string_view &whole) const {
  std::string_view other;
  for (const auto &[name, value] : schema.items()) {
    if (contains(kNotes, name))
      continue;
    bool isWhole = contains(kWhole, name), isKnown = isWhole || name == "type";
    for (const TypeKeywords &type : kTypes)
      isKnown = isKnown || contains(type.keywords, name);
    if (!isKnown || name.empty())
      return refuse(where, "'%.64s' is not a keyword that is supported",
                    name.c_str());
    if (isWhole && whole.empty())
      whole = name;
    else
      other = name;
  }
  bool mayHaveType = whole == "enum" || whole == "const";
  if (!whole.empty() && !other.empty() && !(mayHaveType && other == "type"))
    return refuse(where, "'%.64s' beside '%.64s' is not supported",
                  std::string(other).c_str(), std::string(whole).c_str());
  return {};
}

/// A keyword that is a number of things; `value` stays where it is not there.
Status Reader::readCount(const Json &schema, const char *name,
                         const std::string &where, uint32_t &value) const {
  auto at = schema.find(name);
  if (at == schema.end())
    return {};
  std::optional<int64_t> found = integerOf(*at);
  if (!found || *found < 0 || *found > INT32_MAX)
    return refuse(where, "'%s' is %.64s; expected an integer from 0 to %d",
                  name, describeJson(*at).c_str(), INT32_MAX);
  value = static_cast<uint32_t>(*found);
  return {};
}

Status Reader::add(const Json &schema, const std::string &where, Id &result) {
  if (schema.is_boolean() && schema.get<bool>()) {
    result = anyValue();
    return {};
  }
  if (!schema.is_object())
    return refuse(where, "the schema is %.64s; expected an object or true",
                  describeJson(schema).c_str());
  if (grammar.isTooLarge())
    return refuse(where, "the schema is too large");
  std::string_view whole;
  GIST_TRY(checkKeywords(schema, where, whole));
  if (!whole.empty())
    return addWhole(schema, whole, where, result);

  std::vector<std::string> types;
  auto at = schema.find("type");
  if (at != schema.end() && at->is_string())
    types.push_back(at->get<std::string>());
  else if (at != schema.end() && at->is_array())
    for (const Json &type : *at)
      types.push_back(type.is_string() ? type.get<std::string>() : "");
  else if (at != schema.end())
    types.emplace_back();
  // Without a type, the one that the keywords speak of.
  else
    for (const TypeKeywords &type : kTypes)
      if (std::any_of(type.keywords.begin(), type.keywords.end(),
                      [&](std::string_view name) {
                        return !name.empty() && schema.contains(name);
                      }))
        types.emplace_back(type.type);
  if (at == schema.end() && types.empty()) {
    result = anyValue();
    return {};
  }
  std::vector<Id> ways;
  for (const std::string &type : types)
    GIST_TRY(addType(schema, type, where, ways.emplace_back()));
  if (ways.empty())
    return refuse(where, "'type' is an empty list");
  result = ways.size() == 1 ? ways[0] : grammar.choice(std::move(ways));
  return {};
}

Status Reader::addWhole(const Json &schema, std::string_view keyword,
                        const std::string &where, Id &result) {
  const Json &value = *schema.find(keyword);
  if (keyword == "$ref")
    return addReference(value, where, result);
  if (keyword == "const")
    return addEnum(schema, Json::array({value}), where, result);
  bool isList = value.is_array() && !value.empty();
  if (!isList)
    return refuse(where, "'%s' is %.64s; expected a list with an entry",
                  std::string(keyword).c_str(), describeJson(value).c_str());
  if (keyword == "enum")
    return addEnum(schema, value, where, result);
  if (keyword == "allOf" && value.size() > 1)
    return refuse(where, "'allOf' with more than one schema is not supported");
  if (keyword == "oneOf")
    if (std::string overlap = findOverlap(document, value); !overlap.empty())
      return refuse(where, "%s", overlap.c_str());
  return addChoice(value, where + "/" + std::string(keyword), result);
}

Status Reader::addChoice(const Json &list, const std::string &where,
                         Id &result) {
  std::vector<Id> ways;
  for (size_t i = 0; i < list.size(); ++i)
    GIST_TRY(
        add(list[i], where + "/" + std::to_string(i), ways.emplace_back()));
  result = ways.size() == 1 ? ways[0] : grammar.choice(std::move(ways));
  return {};
}

Status Reader::addEnum(const Json &schema, const Json &values,
                       const std::string &where, Id &result) {
  std::vector<Id> ways;
  for (const Json &value : values)
    if (hasJsonType(value, schema))
      ways.push_back(literalOf(value));
  if (ways.empty())
    return refuse(where, "no value of 'enum' or 'const' is of the 'type'");
  result = ways.size() == 1 ? ways[0] : grammar.choice(std::move(ways));
  return {};
}

/// A rule for each schema that is referred to, so that it may refer to itself.
Status Reader::addReference(const Json &value, const std::string &where,
                            Id &result) {
  const Json *target = value.is_string()
                           ? findReference(document, value.get<std::string>())
                           : nullptr;
  if (!target)
    return refuse(
        where,
        "'$ref' is %.100s; expected '#' or a path in this schema "
        "such as '#/$defs/NAME'",
        value.dump(-1, ' ', true, Json::error_handler_t::replace).c_str());
  auto at = references.find(target);
  if (at == references.end()) {
    at = references.emplace(target, grammar.addRule()).first;
    waiting.push_back({target, value.get<std::string>(), at->second});
  }
  result = grammar.call(at->second);
  return {};
}

Status Reader::addType(const Json &schema, std::string_view type,
                       const std::string &where, Id &result) {
  if (type == "object")
    return addObject(schema, where, result);
  if (type == "array")
    return addArray(schema, where, result);
  if (type == "string")
    return addText(schema, where, result);
  if (type == "number" || type == "integer")
    return addNumber(schema, type == "integer", where, result);
  if (type == "boolean")
    result =
        grammar.choice({grammar.literal("true"), grammar.literal("false")});
  else if (type == "null")
    result = grammar.literal("null");
  else
    return refuse(where, "'type' is not one of object, array, string, number, "
                         "integer, boolean and null, or a list of these");
  return {};
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Status Reader::addText(const Json &schema, const std::string &where,
                       Id &result) {
  uint32_t least = 0, most = Grammar::kUnbounded;
  GIST_TRY(readCount(schema, "minLength", where, least));
  GIST_TRY(readCount(schema, "maxLength", where, most));
  if (least > most)
    return refuse(where, "'minLength' is above 'maxLength'");
  bool hasLength = least > 0 || most != Grammar::kUnbounded;
  auto pattern = schema.find("pattern"), format = schema.find("format");
  bool hasPattern = pattern != schema.end(), hasFormat = format != schema.end();
  if (hasPattern + hasFormat + hasLength > 1)
    return refuse(where, "of 'pattern', 'format' and the lengths of a string "
                         "only one is supported at a time");
  if (!hasPattern && !hasFormat) {
    result = hasLength
                 ? quoted(grammar.repeat(anyJsonChar(grammar), least, most))
                 : anyText();
    return {};
  }
  const Json &value = hasPattern ? *pattern : *format;
  if (!value.is_string())
    return refuse(where, "'%s' is %.64s; expected a text",
                  hasPattern ? "pattern" : "format",
                  describeJson(value).c_str());
  std::string regex = value.get<std::string>();
  if (hasFormat) {
    const auto *known =
        std::find_if(std::begin(kFormats), std::end(kFormats),
                     [&](const auto &each) { return each.first == regex; });
    if (known == std::end(kFormats))
      return refuse(where,
                    "the format '%.64s' is not supported; date, time, "
                    "date-time, uuid, ipv4 and email are",
                    regex.c_str());
    regex = known->second;
  }
  Id inside = 0;
  GIST_TRY(parseRegex(regex, grammar, inside)
               .in("at '" + where.substr(0, 200) + "': 'pattern'"));
  result = quoted(inside);
  return {};
}

Status Reader::addNumber(const Json &schema, bool isInteger,
                         const std::string &where, Id &result) {
  NumberRange range;
  range.isInteger = isInteger;
  for (const char *name : {"minimum", "exclusiveMinimum", "maximum",
                           "exclusiveMaximum", "multipleOf"}) {
    auto at = schema.find(name);
    if (at == schema.end())
      continue;
    if (!at->is_number())
      return refuse(where, "'%s' is %.64s; expected a number", name,
                    describeJson(*at).c_str());
    std::string_view keyword = name;
    NumberBound bound{at->get<double>(), keyword.starts_with("exclusive")};
    if (keyword == "multipleOf") {
      if (!isInteger || bound.value != 1)
        return refuse(where, "'multipleOf' is supported for integers and 1 "
                             "alone");
      continue;
    }
    bool isLeast = keyword.ends_with("inimum");
    std::optional<NumberBound> &end = isLeast ? range.least : range.most;
    // Of two bounds the narrower one counts.
    bool isNarrower = !end || (isLeast ? bound.value >= end->value
                                       : bound.value <= end->value);
    if (isNarrower)
      end = bound;
  }
  Status status = numbersOf(grammar, range, result);
  return status.ok()
             ? status
             : std::move(status).in("at '" + where.substr(0, 200) + "'");
}

Status Reader::addArray(const Json &schema, const std::string &where,
                        Id &result) {
  uint32_t least = 0, most = Grammar::kUnbounded;
  GIST_TRY(readCount(schema, "minItems", where, least));
  GIST_TRY(readCount(schema, "maxItems", where, most));
  if (least > most)
    return refuse(where, "'minItems' is above 'maxItems'");
  auto unique = schema.find("uniqueItems");
  if (unique != schema.end() && *unique != Json(false))
    return refuse(where, "'uniqueItems' is not supported");
  auto items = schema.find("items"), prefix = schema.find("prefixItems");
  const Json *rest = items != schema.end() ? &*items : nullptr;
  const Json *first = prefix != schema.end() ? &*prefix : nullptr;
  if (first && !first->is_array())
    return refuse(where, "'prefixItems' is %.64s; expected a list",
                  describeJson(*first).c_str());
  // What older schemas call the first items.
  if (!first && rest && rest->is_array())
    std::swap(first, rest);

  std::vector<Id> parts;
  size_t fixed = first ? std::min<size_t>(first->size(), most) : 0;
  for (size_t i = 0; i < fixed; ++i) {
    if (i > 0)
      parts.push_back(comma());
    GIST_TRY(add((*first)[i], where + "/prefixItems/" + std::to_string(i),
                 parts.emplace_back()));
  }
  auto taken = static_cast<uint32_t>(fixed);
  least = least > taken ? least - taken : 0;
  most = most == Grammar::kUnbounded ? most : most - taken;
  // Nothing follows first items unless the schema speaks of it.
  bool isClosed = rest ? *rest == Json(false) : first != nullptr && least == 0;
  if (isClosed && least > 0)
    return refuse(where, "'minItems' asks for more items than there can be");
  if (!isClosed && most > 0) {
    Id item = 0;
    GIST_TRY(addValue(rest, where + "/items", item));
    item = grammar.call(ruleOf(item));
    Id next = grammar.sequence({comma(), item});
    if (fixed > 0) {
      parts.push_back(grammar.repeat(next, least, most));
    } else {
      uint32_t others = most == Grammar::kUnbounded ? most : most - 1;
      Id some = grammar.sequence(
          {item, grammar.repeat(next, least > 0 ? least - 1 : 0, others)});
      parts.push_back(least > 0 ? some : grammar.optional(some));
    }
  }
  parts.push_back(space());
  result = wrap("[", grammar.sequence(std::move(parts)), "]");
  return {};
}

Status Reader::addValue(const Json *schema, const std::string &where,
                        Id &result) {
  if (schema)
    return add(*schema, where, result);
  result = anyValue();
  return {};
}

Status Reader::readMembers(const Json &schema, const std::string &where,
                           Members &members) {
  auto properties = schema.find("properties");
  bool hasList = properties != schema.end();
  if (hasList && !properties->is_object())
    return refuse(where, "'properties' is %.64s; expected an object",
                  describeJson(*properties).c_str());
  if (hasList)
    for (const auto &[name, value] : properties->items())
      members.listed.push_back({name, &value});
  auto others = schema.find("additionalProperties");
  if (others == schema.end())
    members.hasOthers = !hasList;
  else if (*others != Json(false)) {
    members.hasOthers = true;
    if (*others != Json(true))
      members.others = &*others;
  }
  bool mayAdd = others == schema.end() || members.hasOthers;

  auto required = schema.find("required");
  if (required == schema.end())
    return {};
  if (!required->is_array())
    return refuse(where, "'required' is %.64s; expected a list",
                  describeJson(*required).c_str());
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < members.listed.size(); ++i)
    places.emplace(members.listed[i].name, i);
  // Views into the list stay valid only where names do not move.
  std::vector<std::string> added;
  for (const Json &name : *required) {
    if (!name.is_string())
      return refuse(where, "'required' has %.64s; expected names",
                    describeJson(name).c_str());
    auto at = places.find(name.get_ref<const std::string &>());
    if (at != places.end())
      members.listed[at->second].isRequired = true;
    else if (!contains(added, name.get_ref<const std::string &>()))
      added.push_back(name.get<std::string>());
  }
  if (!added.empty() && !mayAdd)
    return refuse(where,
                  "'%.64s' is required, but 'additionalProperties' forbids it",
                  added[0].c_str());
  for (std::string &name : added)
    members.listed.push_back({std::move(name), members.others, true});
  return {};
}

/// Names may come twice, which counts as once: so at least two members of
/// which names are not given cannot be asked for.
Status Reader::limitMembers(const Json &schema, const std::string &where,
                            Members &members) {
  uint32_t least = 0, most = Grammar::kUnbounded;
  GIST_TRY(readCount(schema, "minProperties", where, least));
  GIST_TRY(readCount(schema, "maxProperties", where, most));
  auto listed = static_cast<uint32_t>(members.listed.size());
  auto required = static_cast<uint32_t>(
      std::count_if(members.listed.begin(), members.listed.end(),
                    [](const Member &member) { return member.isRequired; }));
  if (least > std::max<uint32_t>(required, 1))
    return refuse(where, "'minProperties' is supported up to 1, or the number "
                         "of required members");
  if (listed > most)
    return refuse(where, "'maxProperties' is supported from the number of "
                         "members in 'properties' on");
  if (most != Grammar::kUnbounded)
    members.mostOthers = most - listed;
  members.hasOthers = members.hasOthers && members.mostOthers > 0;
  members.mayBeEmpty = least == 0;
  if (!members.mayBeEmpty && listed == 0 && !members.hasOthers)
    return refuse(where, "'minProperties' asks for members that there cannot "
                         "be");
  return {};
}

/// Members in their order. A rule for each says what may follow it: each of
/// those that come later, with a comma in front.
Id Reader::addMembers(const Members &members, const std::vector<Id> &rules,
                      Id other) {
  size_t count = rules.size();
  std::vector<Id> after(count + 1);
  Id others = grammar.literal(""), firstOther = others;
  if (members.hasOthers) {
    Id next = grammar.sequence({comma(), other});
    others = grammar.repeat(next, 0, members.mostOthers);
    uint32_t more = members.mostOthers == Grammar::kUnbounded
                        ? members.mostOthers
                        : members.mostOthers - 1;
    firstOther = grammar.sequence({other, grammar.repeat(next, 0, more)});
  }
  after[count] = ruleOf(others);
  for (size_t i = count; i-- > 0;) {
    Id next = grammar.sequence({comma(), grammar.call(rules[i])});
    if (!members.listed[i].isRequired)
      next = grammar.optional(next);
    after[i] = ruleOf(grammar.sequence({next, grammar.call(after[i + 1])}));
  }
  std::vector<Id> ways;
  bool hasRequired = false;
  for (size_t i = 0; i < count && !hasRequired; ++i) {
    ways.push_back(
        grammar.sequence({grammar.call(rules[i]), grammar.call(after[i + 1])}));
    hasRequired = members.listed[i].isRequired;
  }
  if (!hasRequired && members.hasOthers)
    ways.push_back(firstOther);
  Id some = grammar.sequence({grammar.choice(std::move(ways)), space()});
  return hasRequired || !members.mayBeEmpty ? some : grammar.optional(some);
}

Status Reader::addObject(const Json &schema, const std::string &where,
                         Id &result) {
  Members members;
  GIST_TRY(readMembers(schema, where, members));
  GIST_TRY(limitMembers(schema, where, members));
  std::vector<std::string> names;
  std::vector<Id> rules;
  for (const Member &member : members.listed) {
    Id value = 0;
    GIST_TRY(
        addValue(member.schema, where + "/properties/" + member.name, value));
    rules.push_back(ruleOf(grammar.sequence(
        {literalOf(Json(member.name)), grammar.literal(":"), space(), value})));
    names.push_back(member.name);
  }
  Id other = 0;
  if (members.hasOthers) {
    Id value = 0;
    GIST_TRY(addValue(members.others, where + "/additionalProperties", value));
    Id name = names.empty() ? anyText() : quoted(otherJsonText(grammar, names));
    other = grammar.call(
        ruleOf(grammar.sequence({name, grammar.literal(":"), space(), value})));
  }
  result = wrap("{", addMembers(members, rules, other), "}");
  return {};
}

Status Reader::read(Id &result) {
  Id root = grammar.addRule();
  // A schema may refer to itself as '#'.
  references.emplace(&document, root);
  waiting.push_back({&document, "#", root});
  while (!waiting.empty()) {
    Waiting next = std::move(waiting.front());
    waiting.pop_front();
    Id value = 0;
    GIST_TRY(add(*next.schema, next.where, value));
    grammar.setRule(next.rule, value);
  }
  result = grammar.call(root);
  return {};
}

Status gist::addJsonSchema(const Json &schema, Grammar &grammar, Id &result) {
  return Reader(schema, grammar).read(result);
}

Status gist::readJsonSchema(const Json &schema, Grammar &result) try {
  Grammar grammar;
  grammar.root = grammar.addRule();
  Id value = 0;
  GIST_TRY(addJsonSchema(schema, grammar, value));
  grammar.setRule(grammar.root, value);
  result = std::move(grammar);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status gist::parseJsonSchema(std::string_view text, Grammar &result) try {
  Json schema;
  GIST_TRY(parseJson(text, schema));
  return readJsonSchema(schema, result);
}
GIST_CATCH_OUT_OF_MEMORY

Grammar gist::anyJsonObject() {
  Grammar grammar;
  grammar.root = grammar.addRule();
  grammar.setRule(grammar.root, Reader(Json(), grammar).anyObject());
  return grammar;
}
