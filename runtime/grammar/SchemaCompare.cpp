//===- SchemaCompare.cpp - What two schemas have in common ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/SchemaCompare.h"

#include "runtime/grammar/JsonSchema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

using namespace gist;

using Json = nlohmann::ordered_json;

/// References to references are followed so often.
static constexpr int kMaxReferences = 16;

/// "a~1b" is a/b, and "%20" a space.
static std::string unescapeName(std::string_view text) {
  std::string name;
  auto hex = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    bool isHex = text[i] == '%' && i + 2 < text.size() &&
                 hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0;
    if (isHex) {
      name += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else if (text[i] == '~' && i + 1 < text.size()) {
      name += text[++i] == '1' ? '/' : '~';
    } else {
      name += text[i];
    }
  }
  return name;
}

const Json *gist::findReference(const Json &document, const std::string &path) {
  std::string_view rest = path;
  if (!rest.starts_with('#'))
    return nullptr;
  rest.remove_prefix(1);
  const Json *at = &document;
  while (!rest.empty()) {
    if (!rest.starts_with('/'))
      return nullptr;
    rest.remove_prefix(1);
    size_t size = std::min(rest.find('/'), rest.size());
    std::string name = unescapeName(rest.substr(0, size));
    rest.remove_prefix(size);
    if (at->is_object()) {
      auto found = at->find(name);
      if (found == at->end())
        return nullptr;
      at = &*found;
    } else if (at->is_array()) {
      // Places are numbers without a sign; longer ones are not there.
      bool isNumber = !name.empty() && name.size() <= 6 &&
                      name.find_first_not_of("0123456789") == std::string::npos;
      size_t index = isNumber ? std::stoul(name) : at->size();
      if (index >= at->size())
        return nullptr;
      at = &(*at)[index];
    } else {
      return nullptr;
    }
  }
  return at;
}

static bool isOfType(const Json &value, std::string_view type) {
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number_float() &&
            value.get<double>() ==
                static_cast<double>(static_cast<int64_t>(
                    std::clamp(value.get<double>(), -9e18, 9e18))));
  return (type == "object" && value.is_object()) ||
         (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) ||
         (type == "number" && value.is_number()) ||
         (type == "boolean" && value.is_boolean()) ||
         (type == "null" && value.is_null());
}

bool gist::hasJsonType(const Json &value, const Json &schema) {
  auto type = schema.find("type");
  if (type == schema.end())
    return true;
  if (type->is_string())
    return isOfType(value, type->get_ref<const std::string &>());
  return type->is_array() &&
         std::any_of(type->begin(), type->end(), [&](const Json &each) {
           return each.is_string() &&
                  isOfType(value, each.get_ref<const std::string &>());
         });
}

/// What a schema refers to, where it does.
static const Json *resolve(const Json &document, const Json *schema) {
  for (int i = 0; i < kMaxReferences && schema && schema->is_object(); ++i) {
    auto reference = schema->find("$ref");
    if (reference == schema->end() || !reference->is_string())
      return schema;
    schema = findReference(document, reference->get<std::string>());
  }
  return schema;
}

/// The values of a schema that lists them.
static std::optional<Json> listedValues(const Json &schema) {
  if (!schema.is_object())
    return std::nullopt;
  if (auto at = schema.find("const"); at != schema.end())
    return Json::array({*at});
  if (auto at = schema.find("enum"); at != schema.end() && at->is_array())
    return *at;
  return std::nullopt;
}

static bool shareValue(const Json &a, const Json &b) {
  return std::any_of(a.begin(), a.end(), [&](const Json &value) {
    return std::find(b.begin(), b.end(), value) != b.end();
  });
}

/// Whether a schema is of one type, and which.
static std::string typeOf(const Json &schema) {
  auto at = schema.find("type");
  if (at == schema.end() && schema.contains("properties"))
    return "object";
  bool isOne = at != schema.end() && at->is_string();
  std::string type = isOne ? at->get<std::string>() : "";
  return type == "integer" ? "number" : type;
}

static bool isRequired(const Json &schema, const std::string &name) {
  auto at = schema.find("required");
  return at != schema.end() && at->is_array() &&
         std::find(at->begin(), at->end(), Json(name)) != at->end();
}

/// Whether a member that both objects must have has other values in each.
static bool differInMember(const Json &document, const Json &a, const Json &b) {
  auto first = a.find("properties"), second = b.find("properties");
  if (first == a.end() || second == b.end() || !first->is_object() ||
      !second->is_object())
    return false;
  for (const auto &[name, value] : first->items()) {
    auto other = second->find(name);
    if (other == second->end() || !isRequired(a, name) || !isRequired(b, name))
      continue;
    const Json *x = resolve(document, &value);
    const Json *y = resolve(document, &*other);
    std::optional<Json> left = x ? listedValues(*x) : std::nullopt;
    std::optional<Json> right = y ? listedValues(*y) : std::nullopt;
    if (left && right && !shareValue(*left, *right))
      return true;
  }
  return false;
}

static bool mayOverlap(const Json &document, const Json &a, const Json &b) {
  const Json *x = resolve(document, &a), *y = resolve(document, &b);
  if (!x || !y || !x->is_object() || !y->is_object())
    return true;
  std::optional<Json> left = listedValues(*x), right = listedValues(*y);
  if (left && right)
    return shareValue(*left, *right);
  // Values of a list that are not of the other's one type.
  const std::optional<Json> &listed = left ? left : right;
  const Json &open = left ? *y : *x;
  if (listed && (open.contains("type") || !typeOf(open).empty()))
    return std::any_of(listed->begin(), listed->end(), [&](const Json &value) {
      return open.contains("type") ? hasJsonType(value, open)
                                   : isOfType(value, typeOf(open));
    });
  std::string first = typeOf(*x), second = typeOf(*y);
  if (first.empty() || second.empty())
    return true;
  if (first != second)
    return false;
  return first != "object" || !differInMember(document, *x, *y);
}

std::string gist::findOverlap(const Json &document, const Json &schemas) {
  if (schemas.size() > kMaxOneOf)
    return "'oneOf' has " + std::to_string(schemas.size()) +
           " schemas; expected at most " + std::to_string(kMaxOneOf);
  for (size_t i = 0; i < schemas.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (mayOverlap(document, schemas[j], schemas[i]))
        return "a value may be valid for schemas " + std::to_string(j) +
               " and " + std::to_string(i) +
               " of 'oneOf'; expected other types, or a required member with "
               "other values, or 'anyOf'";
  return {};
}
