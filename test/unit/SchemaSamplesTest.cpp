//===- SchemaSamplesTest.cpp - Random answers to random schemas -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schemas are made up, tokens are drawn at random under each, and what is
// written must parse and be valid. The validator knows nothing of grammars.
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonSchema.h"
#include "runtime/session/Sampler.h"
#include "runtime/support/Json.h"
#include "runtime/text/Unicode.h"
#include "test/unit/ByteTokenizer.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <regex>

using namespace gist;

using Json = nlohmann::ordered_json;

namespace {

/// Makes schemas of everything that is supported.
class SchemaMaker {
public:
  explicit SchemaMaker(uint32_t seed) : random(seed) {}

  Json make() {
    Json schema = value(0);
    Json &definitions = schema["$defs"];
    // Each may refer to both.
    for (const char *name : {"a", "b"}) {
      Json fields = object(1);
      fields["properties"]["next"] = {{"anyOf",
                                       {{{"type", "null"}},
                                        {{"$ref", "#/$defs/a"}},
                                        {{"$ref", "#/$defs/b"}}}}};
      definitions[name] = fields;
    }
    return schema;
  }

private:
  int pick(int count) {
    return static_cast<int>(random() % static_cast<uint32_t>(count));
  }

  Json text() {
    static const char *const kPatterns[] = {
        "^[A-Z]{2,4}$",    "^a|b$",       "x[0-9]+y",     "^(ab|\\d{2})*$",
        "^[^a-z\"]{1,5}$", "^\\w+@\\w+$", "^\"q\\\\\\n?$"};
    switch (pick(4)) {
    case 0:
      return {{"type", "string"}, {"pattern", kPatterns[pick(7)]}};
    case 1:
      return {{"type", "string"},
              {"minLength", pick(4)},
              {"maxLength", 4 + pick(30)}};
    case 2:
      return {{"type", "string"}, {"minLength", pick(6)}};
    default:
      return {{"type", "string"}};
    }
  }

  Json number() {
    Json schema = {{"type", pick(2) == 0 ? "integer" : "number"}};
    double low = pick(2000) - 1000 + pick(4) * 0.25;
    if (pick(3) > 0)
      schema[pick(2) == 0 ? "minimum" : "exclusiveMinimum"] = low;
    if (pick(3) > 0)
      schema[pick(2) == 0 ? "maximum" : "exclusiveMaximum"] =
          low + 1.5 + pick(300);
    return schema;
  }

  Json object(int depth) {
    static const char *const kNames[] = {"id",    "name", "x y", "q\"uote",
                                         "größe", "i",    "na"};
    Json schema = {{"type", "object"}, {"properties", Json::object()}};
    Json required = Json::array();
    for (const char *name : kNames) {
      if (pick(2) == 0)
        continue;
      schema["properties"][name] = value(depth + 1);
      if (pick(2) == 0)
        required.push_back(name);
    }
    schema["required"] = required;
    switch (pick(4)) {
    case 0:
      schema["additionalProperties"] = false;
      break;
    case 1:
      schema["additionalProperties"] = {{"type", "integer"}};
      break;
    case 2:
      schema["additionalProperties"] = true;
      break;
    default:
      break;
    }
    return schema;
  }

  Json array(int depth) {
    Json schema = {{"type", "array"}, {"items", value(depth + 1)}};
    int least = pick(3);
    if (pick(2) == 0)
      schema["minItems"] = least;
    if (pick(2) == 0)
      schema["maxItems"] = least + pick(4);
    if (pick(4) == 0)
      schema["prefixItems"] = Json::array({number(), text()});
    return schema;
  }

  Json value(int depth) {
    switch (pick(depth > 3 ? 6 : 10)) {
    case 0:
      return text();
    case 1:
      return number();
    case 2:
      return {{"enum", {1, "two", nullptr, 2.5, {1, 2}, {{"k", "v\n"}}}}};
    case 3:
      return {{"const", pick(2) == 0 ? Json("fixed \"é\"") : Json(false)}};
    case 4:
      return {{"type", {"boolean", "null"}}};
    case 5:
      // So that what refers to itself can end.
      return {{"anyOf",
               {{{"type", "null"}},
                {{"$ref", pick(2) == 0 ? "#/$defs/a" : "#/$defs/b"}}}}};
    case 6:
      return array(depth);
    case 7:
      return {{"anyOf", {value(depth + 1), value(depth + 1)}}};
    case 8:
      return {{"oneOf", {text(), number(), {{"type", "null"}}}}};
    default:
      return object(depth);
    }
  }

  std::mt19937 random;
};

/// Says whether a value is valid, by the words of the specification.
class Validator {
public:
  explicit Validator(const Json &document) : document(document) {}

  bool isValid(const Json &schema, const Json &value) const {
    if (schema.is_boolean())
      return schema.get<bool>();
    if (schema.contains("$ref"))
      return isValid(document["$defs"][schema["$ref"].get<std::string>().substr(
                         strlen("#/$defs/"))],
                     value);
    if (schema.contains("const") && value != schema["const"])
      return false;
    if (schema.contains("enum") &&
        std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0)
      return false;
    for (const char *name : {"anyOf", "oneOf"})
      if (schema.contains(name)) {
        auto count = std::count_if(
            schema[name].begin(), schema[name].end(),
            [&](const Json &each) { return isValid(each, value); });
        if (count == 0 || (count > 1 && name == std::string("oneOf")))
          return false;
      }
    return hasType(schema, value) && isInBounds(schema, value) &&
           isText(schema, value) && isArray(schema, value) &&
           isObject(schema, value);
  }

private:
  static bool isOne(const std::string &type, const Json &value) {
    double number = value.is_number() ? value.get<double>() : 0.5;
    return (type == "string" && value.is_string()) ||
           (type == "number" && value.is_number()) ||
           (type == "integer" && number == std::floor(number)) ||
           (type == "object" && value.is_object()) ||
           (type == "array" && value.is_array()) ||
           (type == "boolean" && value.is_boolean()) ||
           (type == "null" && value.is_null());
  }
  static bool hasType(const Json &schema, const Json &value) {
    if (!schema.contains("type"))
      return true;
    if (schema["type"].is_string())
      return isOne(schema["type"], value);
    return std::any_of(schema["type"].begin(), schema["type"].end(),
                       [&](const Json &type) { return isOne(type, value); });
  }
  static bool isInBounds(const Json &schema, const Json &value) {
    if (!value.is_number())
      return true;
    double number = value.get<double>();
    auto bound = [&](const char *name, double otherwise) {
      return schema.contains(name) ? schema[name].get<double>() : otherwise;
    };
    const double kInfinity = std::numeric_limits<double>::infinity();
    return number >= bound("minimum", -kInfinity) &&
           number <= bound("maximum", kInfinity) &&
           number > bound("exclusiveMinimum", -kInfinity) &&
           number < bound("exclusiveMaximum", kInfinity);
  }
  /// A character each, so that expressions take them for one.
  static std::wstring widen(std::string_view text) {
    std::wstring result;
    while (!text.empty()) {
      Utf8Char next = decodeUtf8(text);
      result += static_cast<wchar_t>(next.codePoint);
      text.remove_prefix(next.size);
    }
    return result;
  }
  static bool isText(const Json &schema, const Json &value) {
    if (!value.is_string())
      return true;
    const auto &text = value.get_ref<const std::string &>();
    auto length = static_cast<int>(widen(text).size());
    if (schema.contains("pattern") &&
        !std::regex_search(
            widen(text),
            std::wregex(widen(schema["pattern"].get<std::string>()))))
      return false;
    return length >= schema.value("minLength", 0) &&
           length <= schema.value("maxLength", 1 << 30);
  }
  bool isArray(const Json &schema, const Json &value) const {
    if (!value.is_array())
      return true;
    size_t fixed = 0;
    if (schema.contains("prefixItems"))
      for (; fixed < std::min(value.size(), schema["prefixItems"].size());
           ++fixed)
        if (!isValid(schema["prefixItems"][fixed], value[fixed]))
          return false;
    for (size_t i = fixed; schema.contains("items") && i < value.size(); ++i)
      if (!isValid(schema["items"], value[i]))
        return false;
    return static_cast<int>(value.size()) >= schema.value("minItems", 0) &&
           static_cast<int>(value.size()) <= schema.value("maxItems", 1 << 30);
  }
  bool isObject(const Json &schema, const Json &value) const {
    if (!value.is_object())
      return true;
    if (schema.contains("required"))
      for (const Json &name : schema["required"])
        if (!value.contains(name.get<std::string>()))
          return false;
    for (const auto &[name, member] : value.items()) {
      if (schema.contains("properties") &&
          schema["properties"].contains(name)) {
        if (!isValid(schema["properties"][name], member))
          return false;
      } else if (schema.contains("additionalProperties") &&
                 !isValid(schema["additionalProperties"], member)) {
        return false;
      }
    }
    return true;
  }

  const Json &document;
};

/// Draws an answer: anything at first, and what ends it soon later.
static Status draw(const Tokenizer &tokenizer,
                   std::shared_ptr<const TokenGrammar> grammar, uint32_t seed,
                   std::string &text) {
  constexpr size_t kFree = 60, kMost = 20000;
  std::mt19937 random(seed);
  Sampler sampler;
  GIST_TRY(Sampler::create({.temperature = 0.2f + 0.1f * (seed % 15),
                            .topP = seed % 3 == 0 ? 0.9f : 1.0f,
                            .seed = seed,
                            .grammar = std::move(grammar)},
                           sampler));
  std::vector<float> logits(tokenizer.vocabSize());
  // What ends values and patterns, rather than what begins another value.
  static constexpr std::string_view kEnds = "}]nft0123456789\\u: xyab@Q";
  StreamDecoder decoder(tokenizer);
  for (size_t i = 0; i < kMost; ++i) {
    for (float &logit : logits)
      logit = static_cast<float>(random() % 1000) / 200.0f;
    int32_t end = tokenizer.spec().eos;
    logits[static_cast<size_t>(end)] += 5;
    for (char c : std::string_view("\"}]"))
      logits[static_cast<size_t>(c)] += 4;
    for (size_t at = 0; i > kFree && at < kEnds.size(); ++at)
      logits[static_cast<size_t>(kEnds[at])] +=
          50.0f + static_cast<float>(random() % 20);
    if (i > kFree)
      logits['"'] += 100;
    if (i > kFree)
      logits[static_cast<size_t>(end)] += 200;
    int32_t token = -1;
    GIST_TRY(sampler.sample(logits, token));
    if (token == end) {
      text += decoder.finish();
      return {};
    }
    text += decoder.push(token);
  }
  return Status::error(Code::BadArgument, "the answer does not end");
}

TEST(SchemaSamples, EveryAnswerIsValid) {
  constexpr uint32_t kSchemas = 500, kAnswers = 4;
  Tokenizer tokenizer = makeByteTokenizer(
      {"{\"", "\":", "\": ", ", \"", "\",",  "\"}",      "}}",
       "[[",  "]]",  "ab",   "AB",   "true", "null",     "12",
       "0.",  "\\u", "\\\"", "é",    "世界", " the",     "\n  ",
       "e1",  "-1",  "xy",   "\"\"", "}, {", "\xe4\xb8", "99999"});
  auto trie = std::make_shared<const TokenTrie>(tokenizer);
  for (uint32_t seed = 0; seed < kSchemas; ++seed) {
    Json schema = SchemaMaker(seed).make();
    Grammar grammar;
    Status status = readJsonSchema(schema, grammar);
    std::shared_ptr<const TokenGrammar> tokens;
    if (status.ok())
      status = TokenGrammar::create(grammar, tokenizer, trie,
                                    {tokenizer.spec().eos}, true, tokens);
    ASSERT_TRUE(status.ok()) << status.text << "\n" << schema;
    for (uint32_t answer = 0; answer < kAnswers; ++answer) {
      std::string text;
      status = draw(tokenizer, tokens, seed * kAnswers + answer, text);
      ASSERT_TRUE(status.ok()) << status.text << "\n"
                               << schema << "\n"
                               << text.substr(0, 2000);
      Json value;
      status = parseJson(text, value, /*maxDepth=*/1000);
      ASSERT_TRUE(status.ok()) << status.text << "\n" << schema << "\n" << text;
      ASSERT_TRUE(Validator(schema).isValid(schema, value)) << schema << "\n"
                                                            << text;
    }
  }
}

/// The validator would not find a mistake if it took everything.
TEST(SchemaSamples, TheValidatorRefuses) {
  Json schema = {{"type", "object"},
                 {"properties",
                  {{"a", {{"type", "integer"}, {"minimum", 3}}},
                   {"b", {{"pattern", "^x$"}}}}},
                 {"required", {"a"}},
                 {"additionalProperties", false}};
  Validator validator(schema);
  EXPECT_TRUE(validator.isValid(schema, {{"a", 3}, {"b", "x"}}));
  for (const Json &value :
       {Json({{"a", 2}}), Json({{"b", "x"}}), Json({{"a", 3}, {"b", "y"}}),
        Json({{"a", 3}, {"c", 1}}), Json({{"a", 3.5}}), Json("a")})
    EXPECT_FALSE(validator.isValid(schema, value)) << value;
}

} // namespace
