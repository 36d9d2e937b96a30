//===- JsonSchema.cpp - JSON of a schema, as a grammar --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonSchema.h"

#include "runtime/grammar/SchemaCompare.h"
#include "runtime/grammar/SchemaReader.h"
#include "runtime/support/Json.h"
#include "runtime/support/OutOfMemory.h"

#include <array>
#include <cstdarg>

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

Status gist::refuseSchema(const std::string &where, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Status::error(Code::Unsupported, "at '%.200s': %s", where.c_str(),
                       text);
}

/// Refuses keywords that are not known, and those that stand beside one that
/// says all by itself. `whole` is that one, or empty.
Status SchemaReader::checkKeywords(const Json &schema, const std::string &where,
                                   std::string_view &whole) const {
  std::string_view other;
  for (const auto &[name, value] : schema.items()) {
    if (containsName(kNotes, name))
      continue;
    bool isWhole = containsName(kWhole, name),
         isKnown = isWhole || name == "type";
    for (const TypeKeywords &type : kTypes)
      isKnown = isKnown || containsName(type.keywords, name);
    if (!isKnown || name.empty())
      return refuseSchema(where, "'%.64s' is not a keyword that is supported",
                          name.c_str());
    if (isWhole && whole.empty())
      whole = name;
    else
      other = name;
  }
  bool mayHaveType = whole == "enum" || whole == "const";
  if (!whole.empty() && !other.empty() && !(mayHaveType && other == "type"))
    return refuseSchema(where, "'%.64s' beside '%.64s' is not supported",
                        std::string(other).c_str(), std::string(whole).c_str());
  return {};
}

/// A keyword that is a number of things; `value` stays where it is not there.
Status SchemaReader::readCount(const Json &schema, const char *name,
                               const std::string &where,
                               uint32_t &value) const {
  auto at = schema.find(name);
  if (at == schema.end())
    return {};
  std::optional<int64_t> found = integerOf(*at);
  if (!found || *found < 0 || *found > INT32_MAX)
    return refuseSchema(where,
                        "'%s' is %.64s; expected an integer from 0 to %d", name,
                        describeJson(*at).c_str(), INT32_MAX);
  value = static_cast<uint32_t>(*found);
  return {};
}

Status SchemaReader::readRange(const Json &schema, const std::string &what,
                               const std::string &where, uint32_t &least,
                               uint32_t &most) const {
  std::string lower = "min" + what, upper = "max" + what;
  GIST_TRY(readCount(schema, lower.c_str(), where, least));
  GIST_TRY(readCount(schema, upper.c_str(), where, most));
  return least <= most ? Status()
                       : refuseSchema(where, "'%s' is above '%s'",
                                      lower.c_str(), upper.c_str());
}

Status SchemaReader::add(const Json &schema, const std::string &where,
                         Id &result) {
  if (schema.is_boolean() && schema.get<bool>()) {
    result = anyValue();
    return {};
  }
  if (!schema.is_object())
    return refuseSchema(where,
                        "the schema is %.64s; expected an object or true",
                        describeJson(schema).c_str());
  if (grammar.isTooLarge())
    return refuseSchema(where, "the schema is too large");
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
    return refuseSchema(where, "'type' is an empty list");
  result = ways.size() == 1 ? ways[0] : grammar.choice(std::move(ways));
  return {};
}

Status SchemaReader::addWhole(const Json &schema, std::string_view keyword,
                              const std::string &where, Id &result) {
  const Json &value = *schema.find(keyword);
  if (keyword == "$ref")
    return addReference(value, where, result);
  if (keyword == "const")
    return addEnum(schema, Json::array({value}), where, result);
  bool isList = value.is_array() && !value.empty();
  if (!isList)
    return refuseSchema(where, "'%s' is %.64s; expected a list with an entry",
                        std::string(keyword).c_str(),
                        describeJson(value).c_str());
  if (keyword == "enum")
    return addEnum(schema, value, where, result);
  if (keyword == "allOf" && value.size() > 1)
    return refuseSchema(where,
                        "'allOf' with more than one schema is not supported");
  if (keyword == "oneOf")
    if (std::string overlap = findOverlap(document, value); !overlap.empty())
      return refuseSchema(where, "%s", overlap.c_str());
  return addChoice(value, where + "/" + std::string(keyword), result);
}

Status SchemaReader::addChoice(const Json &list, const std::string &where,
                               Id &result) {
  std::vector<Id> ways;
  for (size_t i = 0; i < list.size(); ++i)
    GIST_TRY(
        add(list[i], where + "/" + std::to_string(i), ways.emplace_back()));
  result = ways.size() == 1 ? ways[0] : grammar.choice(std::move(ways));
  return {};
}

Status SchemaReader::addEnum(const Json &schema, const Json &values,
                             const std::string &where, Id &result) {
  std::vector<Id> ways;
  for (const Json &value : values)
    if (hasJsonType(value, schema))
      ways.push_back(literalOf(value));
  if (ways.empty())
    return refuseSchema(where,
                        "no value of 'enum' or 'const' is of the 'type'");
  result = ways.size() == 1 ? ways[0] : grammar.choice(std::move(ways));
  return {};
}

/// A rule for each schema that is referred to, so that it may refer to itself.
Status SchemaReader::addReference(const Json &value, const std::string &where,
                                  Id &result) {
  const Json *target = value.is_string()
                           ? findReference(document, value.get<std::string>())
                           : nullptr;
  if (!target)
    return refuseSchema(
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

Status SchemaReader::addType(const Json &schema, std::string_view type,
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
    return refuseSchema(where,
                        "'type' is not one of object, array, string, number, "
                        "integer, boolean and null, or a list of these");
  return {};
}

Status SchemaReader::addValue(const Json *schema, const std::string &where,
                              Id &result) {
  if (schema)
    return add(*schema, where, result);
  result = anyValue();
  return {};
}

Status SchemaReader::read(Id &result) {
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
  return SchemaReader(schema, grammar).read(result);
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
  grammar.setRule(grammar.root, JsonGrammar(grammar).anyObject());
  return grammar;
}
