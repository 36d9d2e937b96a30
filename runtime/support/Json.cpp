//===- Json.cpp - JSON from strangers, parsed and read --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Json.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace gist;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Whether a text, which need not be JSON, nests deeper than `maxDepth`.
static bool nestsTooDeep(std::string_view text, size_t maxDepth) {
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i; // A quote after it is part of the string.
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxDepth)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

template <typename Json>
Status gist::parseJson(std::string_view text, Json &result, size_t maxDepth) {
  if (nestsTooDeep(text, maxDepth))
    return Status::error(Code::BadFile,
                         "lists and objects are more than %zu deep in one "
                         "another",
                         maxDepth);
  // The parser reports where it stopped only by throwing.
  try {
    result = Json::parse(text.begin(), text.end());
    return {};
  } catch (const typename Json::parse_error &error) {
    return Status::error(Code::BadFile,
                         "not JSON: byte %zu is not what was expected there",
                         error.byte);
  } catch (const typename Json::out_of_range &) {
    return Status::error(Code::BadFile, "a number is too large");
  }
}

template <typename Json>
Status gist::parseJsonObject(std::string_view text, Json &result) {
  Json value;
  GIST_TRY(parseJson(text, value));
  if (!value.is_object())
    return Status::error(Code::BadFile, "expected a JSON object, found %s",
                         describeJson(value).c_str());
  result = std::move(value);
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename Json>
std::optional<int64_t> gist::integerOf(const Json &value) {
  if (value.is_number_unsigned()) {
    auto number = value.template get<uint64_t>();
    if (number > static_cast<uint64_t>(INT64_MAX))
      return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer())
    return value.template get<int64_t>();
  if (!value.is_number_float())
    return std::nullopt;
  // Up to here every integer is a double, and no double is between two.
  constexpr double kMostExact = 9007199254740992; // 2^53
  auto number = value.template get<double>();
  if (!(std::abs(number) <= kMostExact) || std::trunc(number) != number)
    return std::nullopt;
  return static_cast<int64_t>(number);
}

template <typename Json>
std::optional<uint64_t> gist::bitsOf(const Json &value) {
  if (!value.is_number_unsigned())
    return std::nullopt;
  return value.template get<uint64_t>();
}

template <typename Json> std::string gist::describeJson(const Json &value) {
  if (value.is_string())
    return "a text";
  if (value.is_array())
    return "a list";
  if (value.is_object())
    return "an object";
  return value.dump();
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

template <typename Json>
static Status refuse(const char *name, const Json &found,
                     const std::string &expected) {
  return Status::error(Code::BadFile, "'%s' is %s; expected %s", name,
                       describeJson(found).c_str(), expected.c_str());
}

template <typename Json>
Status gist::findMember(const Json &object, const char *name,
                        const char *expected, const Json *&member) {
  if (!object.is_object())
    return Status::error(Code::BadFile,
                         "expected an object with '%s', found %s", name,
                         describeJson(object).c_str());
  auto found = object.find(name);
  if (found == object.end())
    return Status::error(Code::BadFile, "'%s' is missing; expected %s", name,
                         expected);
  member = &*found;
  return {};
}

template <typename Json>
Status gist::findList(const Json &object, const char *name, const Json *&list) {
  const Json *member = nullptr;
  GIST_TRY(findMember(object, name, "a list", member));
  if (!member->is_array())
    return refuse(name, *member, "a list");
  list = member;
  return {};
}

template <typename Json>
Status gist::readInteger(const Json &object, const char *name, int64_t least,
                         int64_t most, int64_t &value) {
  std::string expected = "an integer from " + std::to_string(least) + " to " +
                         std::to_string(most);
  const Json *member = nullptr;
  GIST_TRY(findMember(object, name, expected.c_str(), member));
  std::optional<int64_t> number = integerOf(*member);
  if (!number || *number < least || *number > most)
    return refuse(name, *member, expected);
  value = *number;
  return {};
}

template <typename Json>
Status gist::readIndex(const Json &object, const char *name, size_t count,
                       size_t &value) {
  int64_t number = 0;
  GIST_TRY(
      readInteger(object, name, 0, static_cast<int64_t>(count) - 1, number));
  value = static_cast<size_t>(number);
  return {};
}

/// "1", "0.5": without trailing zeros.
static std::string numberBetween(double least, double most) {
  char text[80];
  std::snprintf(text, sizeof text, "%g to %g", least, most);
  return text;
}

template <typename Json>
Status gist::readNumber(const Json &object, const char *name, double least,
                        double most, double &value) {
  std::string expected = "a number from " + numberBetween(least, most);
  const Json *member = nullptr;
  GIST_TRY(findMember(object, name, expected.c_str(), member));
  // Written so that NaN is refused, which a value that was not parsed can be.
  if (!member->is_number() || !(member->template get<double>() >= least &&
                                member->template get<double>() <= most))
    return refuse(name, *member, expected);
  value = member->template get<double>();
  return {};
}

template <typename Json>
Status gist::readText(const Json &object, const char *name,
                      std::string &value) {
  const Json *member = nullptr;
  GIST_TRY(findMember(object, name, "a text", member));
  if (!member->is_string())
    return refuse(name, *member, "a text");
  value = member->template get<std::string>();
  return {};
}

template <typename Json>
Status gist::readNumbers(const Json &object, const char *name, size_t count,
                         double least, double most,
                         std::vector<double> &values) {
  const Json *list = nullptr;
  GIST_TRY(findList(object, name, list));
  if (list->size() != count)
    return Status::error(Code::BadFile, "'%s' has %zu numbers; expected %zu",
                         name, list->size(), count);
  std::vector<double> result;
  for (const Json &entry : *list) {
    if (!entry.is_number() || !(entry.template get<double>() >= least &&
                                entry.template get<double>() <= most))
      return Status::error(
          Code::BadFile, "'%s' has %s; expected numbers from %s", name,
          describeJson(entry).c_str(), numberBetween(least, most).c_str());
    result.push_back(entry.template get<double>());
  }
  values = std::move(result);
  return {};
}

#define GIST_JSON(Json)                                                        \
  template Status gist::parseJson(std::string_view, Json &, size_t);           \
  template Status gist::parseJsonObject(std::string_view, Json &);             \
  template std::optional<int64_t> gist::integerOf(const Json &);               \
  template std::optional<uint64_t> gist::bitsOf(const Json &);                 \
  template std::string gist::describeJson(const Json &);                       \
  template Status gist::findMember(const Json &, const char *, const char *,   \
                                   const Json *&);                             \
  template Status gist::findList(const Json &, const char *, const Json *&);   \
  template Status gist::readInteger(const Json &, const char *, int64_t,       \
                                    int64_t, int64_t &);                       \
  template Status gist::readIndex(const Json &, const char *, size_t,          \
                                  size_t &);                                   \
  template Status gist::readNumber(const Json &, const char *, double, double, \
                                   double &);                                  \
  template Status gist::readText(const Json &, const char *, std::string &);   \
  template Status gist::readNumbers(const Json &, const char *, size_t,        \
                                    double, double, std::vector<double> &);
GIST_JSON(nlohmann::json)
GIST_JSON(nlohmann::ordered_json)
#undef GIST_JSON
