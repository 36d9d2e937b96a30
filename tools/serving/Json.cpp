//===- Json.cpp - Untrusted JSON ------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Json.h"

#include "runtime/support/Json.h"

#include <algorithm>
#include <cstdio>

using namespace gist;
using namespace gist::serve;

ApiError serve::parseJson(std::string_view text, Json &result) {
  Status status = gist::parseJson(text, result);
  return status.ok() ? ApiError()
                     : ApiError::invalid({}, "The body: " + status.text + ".");
}

std::string serve::writeJson(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Fields::Fields(const Json &object, std::string where)
    : object(object), where(std::move(where)) {
  if (!object.is_object())
    fail(ApiError::invalid(this->where,
                           this->where.empty()
                               ? "The body is not an object."
                               : "'" + this->where + "' is not an object."));
}

std::string Fields::fullName(std::string_view name) const {
  return where.empty() ? std::string(name) : where + "." + std::string(name);
}

void Fields::fail(ApiError error) {
  if (first.ok())
    first = std::move(error);
}

void Fields::failType(std::string_view name, const char *expected,
                      const Json &found) {
  std::string full = fullName(name);
  fail(ApiError::invalid(full, "'" + full + "' is of type " +
                                   found.type_name() + "; expected " +
                                   expected + "."));
}

const Json *Fields::find(std::string_view name) {
  asked.emplace(name);
  if (failed())
    return nullptr;
  auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const Json *value = find(name);
  if (!value)
    return std::nullopt;
  if (value->is_boolean())
    return value->get<bool>();
  failType(name, "true or false", *value);
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view name, int64_t least,
                                       int64_t most) {
  const Json *value = find(name);
  if (!value)
    return std::nullopt;
  std::optional<int64_t> result = integerOf(*value);
  if (result && *result >= least && *result <= most)
    return result;
  if (!value->is_number()) {
    failType(name, "an integer", *value);
    return std::nullopt;
  }
  std::string full = fullName(name);
  fail(ApiError::invalid(full, "'" + full + "' is " + value->dump() +
                                   "; expected an integer from " +
                                   std::to_string(least) + " to " +
                                   std::to_string(most) + "."));
  return std::nullopt;
}

/// "1", "0.5": without trailing zeros.
static std::string shortText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::optional<double> Fields::number(std::string_view name, double least,
                                     double most) {
  const Json *value = find(name);
  if (!value)
    return std::nullopt;
  if (!value->is_number()) {
    failType(name, "a number", *value);
    return std::nullopt;
  }
  double result = value->get<double>();
  if (result >= least && result <= most)
    return result;
  std::string full = fullName(name);
  fail(ApiError::invalid(full, "'" + full + "' is " + value->dump() +
                                   "; expected " + shortText(least) + " to " +
                                   shortText(most) + "."));
  return std::nullopt;
}

std::optional<std::string> Fields::text(std::string_view name) {
  const Json *value = find(name);
  if (!value)
    return std::nullopt;
  if (value->is_string())
    return value->get<std::string>();
  failType(name, "a string", *value);
  return std::nullopt;
}

void Fields::ignore(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (find(name))
      without.push_back(fullName(name));
}

void Fields::refuse(std::string_view name, const char *why,
                    const Json &neutral) {
  const Json *value = find(name);
  if (!value || (!neutral.is_null() && *value == neutral))
    return;
  std::string full = fullName(name);
  fail(ApiError::unsupported(full,
                             "'" + full + "' is not supported: " + why + "."));
}

ApiError Fields::finish() {
  if (failed())
    return first;
  for (const auto &[name, value] : object.items()) {
    if (asked.count(name) != 0)
      continue;
    std::string full = fullName(name);
    ApiError error = ApiError::invalid(
        full, "'" + full + "' is not a field that this server knows.");
    error.code = "unknown_parameter";
    return error;
  }
  return {};
}
