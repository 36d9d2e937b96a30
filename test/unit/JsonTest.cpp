//===- JsonTest.cpp - What JSON of strangers may be -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Json.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cmath>

using namespace gist;
using Json = nlohmann::ordered_json;

static Json parsed(const std::string &text) {
  Json json;
  Status status = parseJson(text, json);
  EXPECT_TRUE(status.ok()) << text << ": " << status.text;
  return json;
}

static std::string parseError(const std::string &text) {
  Json json = 7;
  Status status = parseJson(text, json);
  EXPECT_EQ(json, 7) << "must be left as it was";
  return status.text;
}

TEST(Json, WhatIsNotJsonIsSaidByItsPlace) {
  const std::string end = " is not what was expected there";
  EXPECT_EQ(parseError(""), "not JSON: byte 1" + end);
  EXPECT_EQ(parseError("{\"a\": nul}"), "not JSON: byte 10" + end);
  EXPECT_EQ(parseError("[1] 2"), "not JSON: byte 5" + end);
  EXPECT_EQ(parseError("NaN"), "not JSON: byte 1" + end);
  EXPECT_EQ(parseError("-Infinity"), "not JSON: byte 2" + end);
  EXPECT_EQ(parseError("\"\xff\""), "not JSON: byte 2" + end);
  // No double is so large, and none is what the file meant.
  EXPECT_EQ(parseError("1e400"), "a number is too large");
  EXPECT_EQ(parseError("[-1e400]"), "a number is too large");
}

TEST(Json, NestingIsBounded) {
  auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  parsed(nested(kMaxJsonDepth));
  EXPECT_EQ(parseError(nested(kMaxJsonDepth + 1)),
            "lists and objects are more than 32 deep in one another");
  // Recursion of the library would end the process here.
  EXPECT_EQ(parseError(nested(200'000)), parseError(nested(33)));
  // Brackets inside texts do not count as nesting.
  parsed("\"\\\"" + nested(100) + "\"");
  Json json;
  EXPECT_TRUE(parseJson(nested(40), json, 40).ok());
}

TEST(Json, ObjectsAreAskedFor) {
  Json json = 7;
  EXPECT_EQ(parseJsonObject("[{}]", json).text,
            "expected a JSON object, found a list");
  EXPECT_EQ(parseJsonObject("null", json).text,
            "expected a JSON object, found null");
  EXPECT_EQ(json, 7);
  EXPECT_TRUE(parseJsonObject("{}", json).ok());
}

TEST(Json, IntegersAreWholeAndFit) {
  EXPECT_EQ(integerOf(parsed("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(integerOf(parsed("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(integerOf(parsed("16.0")), 16);
  EXPECT_EQ(integerOf(parsed("1e3")), 1000);
  EXPECT_EQ(integerOf(parsed("-0.0")), 0);
  EXPECT_EQ(integerOf(parsed("9007199254740992.0")), int64_t{1} << 53);
  for (const char *text :
       {"2e85", "-2e85", "1.5", "-0.5", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "-9223372036854775809",
        "9223372036854775807.0", "1e308", "true", "null", "\"1\"", "[1]", "{}"})
    EXPECT_EQ(integerOf(parsed(text)), std::nullopt) << text;
  // Values that no text is parsed to, but a program may make.
  EXPECT_EQ(integerOf(Json(std::nan(""))), std::nullopt);
  EXPECT_EQ(integerOf(Json(HUGE_VAL)), std::nullopt);
  EXPECT_EQ(bitsOf(parsed("18446744073709551615")), UINT64_MAX);
  for (const char *text : {"-1", "1.0", "18446744073709551616", "true"})
    EXPECT_EQ(bitsOf(parsed(text)), std::nullopt) << text;
}

/// What reading the member `a` says; empty when it went well.
static std::string integerError(const std::string &text) {
  int64_t value = 7;
  std::string error = readInteger(parsed(text), "a", 1, 10, value).text;
  EXPECT_TRUE(error.empty() || value == 7) << "must be left as it was";
  return error;
}

TEST(Json, IntegersSayWhatWasFoundAndExpected) {
  const std::string expected = "; expected an integer from 1 to 10";
  EXPECT_EQ(integerError(R"({"a": 10})"), "");
  EXPECT_EQ(integerError(R"({"a": 1.0})"), "");
  EXPECT_EQ(integerError(R"({"a": 11})"), "'a' is 11" + expected);
  EXPECT_EQ(integerError(R"({"a": -1})"), "'a' is -1" + expected);
  EXPECT_EQ(integerError(R"({"a": 2e85})"), "'a' is 2e+85" + expected);
  EXPECT_EQ(integerError(R"({"a": 1.5})"), "'a' is 1.5" + expected);
  EXPECT_EQ(integerError(R"({"a": true})"), "'a' is true" + expected);
  EXPECT_EQ(integerError(R"({"a": null})"), "'a' is null" + expected);
  EXPECT_EQ(integerError(R"({"a": "5"})"), "'a' is a text" + expected);
  EXPECT_EQ(integerError(R"({"a": []})"), "'a' is a list" + expected);
  EXPECT_EQ(integerError(R"({"a": {}})"), "'a' is an object" + expected);
  EXPECT_EQ(integerError(R"({"b": 5})"), "'a' is missing" + expected);
  EXPECT_EQ(integerError("[5]"), "expected an object with 'a', found a list");
}

TEST(Json, IndicesAreBelowTheCount) {
  size_t index = 7;
  EXPECT_TRUE(readIndex(parsed(R"({"a": 2})"), "a", 3, index).ok());
  EXPECT_EQ(index, 2u);
  EXPECT_FALSE(readIndex(parsed(R"({"a": 3})"), "a", 3, index).ok());
  EXPECT_FALSE(readIndex(parsed(R"({"a": -1})"), "a", 3, index).ok());
  EXPECT_FALSE(readIndex(parsed(R"({"a": 0})"), "a", 0, index).ok());
}

TEST(Json, NumbersAreInTheirRange) {
  double value = 7;
  auto error = [&](const Json &json) {
    return readNumber(json, "a", 0, 0.5, value).text;
  };
  EXPECT_EQ(error(parsed(R"({"a": 0.25})")), "");
  EXPECT_EQ(value, 0.25);
  const std::string expected = "; expected a number from 0 to 0.5";
  EXPECT_EQ(error(parsed(R"({"a": 1e300})")), "'a' is 1e+300" + expected);
  EXPECT_EQ(error(parsed(R"({"a": true})")), "'a' is true" + expected);
  EXPECT_EQ(error(parsed("{}")), "'a' is missing" + expected);
  // A NaN, which JSON cannot say and prints as null.
  EXPECT_EQ(error(Json{{"a", std::nan("")}}), "'a' is null" + expected);
  EXPECT_EQ(value, 0.25);
}

TEST(Json, ListsAndTexts) {
  std::vector<double> values = {7};
  auto error = [&](const char *text) {
    return readNumbers(parsed(text), "a", 2, 0, 1, values).text;
  };
  EXPECT_EQ(error(R"({"a": [0, 1]})"), "");
  EXPECT_EQ(values, (std::vector<double>{0, 1}));
  EXPECT_EQ(error(R"({"a": [0]})"), "'a' has 1 numbers; expected 2");
  EXPECT_EQ(error(R"({"a": [0, 2]})"),
            "'a' has 2; expected numbers from 0 to 1");
  EXPECT_EQ(error(R"({"a": [0, null]})"),
            "'a' has null; expected numbers from 0 to 1");
  EXPECT_EQ(error(R"({"a": 0})"), "'a' is 0; expected a list");
  EXPECT_EQ(values, (std::vector<double>{0, 1}));
  std::string text = "before";
  EXPECT_EQ(readText(parsed(R"({"a": 1})"), "a", text).text,
            "'a' is 1; expected a text");
  EXPECT_EQ(text, "before");
  EXPECT_TRUE(readText(parsed(R"({"a": "b"})"), "a", text).ok());
  EXPECT_EQ(text, "b");
}
