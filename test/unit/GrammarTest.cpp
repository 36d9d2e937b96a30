//===- GrammarTest.cpp - Grammars and the tokens that they allow ----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/JsonSchema.h"
#include "runtime/grammar/TokenMask.h"
#include "test/unit/ByteTokenizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace gist;

namespace {

static Status compile(const Grammar &grammar, GrammarProgram &program) {
  return GrammarProgram::create(grammar, /*leadingSpace=*/false, program);
}

/// How far a matcher goes: -1 where the text cannot go on, 0 where it is the
/// beginning of one that matches, 1 where it matches.
static int follow(const GrammarProgram &program, std::string_view text) {
  GrammarMatcher matcher(std::make_shared<const GrammarProgram>(program));
  GrammarMatcher::State state = matcher.start();
  for (char c : text)
    state = matcher.next(state, static_cast<uint8_t>(c));
  EXPECT_TRUE(matcher.status().ok()) << matcher.status().text;
  return state == GrammarMatcher::kDead ? -1 : matcher.accepts(state) ? 1 : 0;
}

static GrammarProgram programOf(std::string_view notation) {
  Grammar grammar;
  GrammarProgram program;
  Status status = parseGrammar(notation, grammar);
  EXPECT_TRUE(status.ok()) << status.text;
  status = compile(grammar, program);
  EXPECT_TRUE(status.ok()) << status.text;
  return program;
}

static GrammarProgram programOfSchema(std::string_view schema) {
  Grammar grammar;
  GrammarProgram program;
  Status status = parseJsonSchema(schema, grammar);
  EXPECT_TRUE(status.ok()) << status.text;
  status = compile(grammar, program);
  EXPECT_TRUE(status.ok()) << status.text;
  return program;
}

static void expectMatches(const GrammarProgram &program,
                          std::initializer_list<std::string_view> matching,
                          std::initializer_list<std::string_view> others) {
  for (std::string_view text : matching)
    EXPECT_EQ(follow(program, text), 1) << text;
  for (std::string_view text : others)
    EXPECT_NE(follow(program, text), 1) << text;
}

TEST(Grammar, Notation) {
  GrammarProgram program =
      programOf("# a comment\n"
                "root ::= greeting ( \", \" name )? \"!\"\n"
                "greeting ::= \"Hello\" | \"Hi\"\n"
                "name ::= [A-Z] [a-z]+ [^a-z]{0,2}\n");
  expectMatches(program, {"Hello!", "Hi!", "Hi, Ada!", "Hello, Grace42!"},
                {"", "Hey!", "Hi, ada!", "Hi, A!", "Hi, Ada123!", "Hi!!"});
  EXPECT_EQ(follow(program, "Hell"), 0);
  EXPECT_EQ(follow(program, "Help"), -1);
}

TEST(Grammar, Repetitions) {
  expectMatches(programOf("root ::= \"ab\"{2,3}"), {"abab", "ababab"},
                {"ab", "abababab", "aba"});
  expectMatches(programOf("root ::= \"a\"{2,}"), {"aa", "aaaaaaaaa"}, {"a"});
  expectMatches(programOf("root ::= (\"a\"{2} | \"b\"){2}"),
                {"aaaa", "aab", "baa", "bb"}, {"aa", "b", "aaa", "bbb"});
  // Repetitions of nothing end.
  expectMatches(programOf("root ::= (\"a\"*)* \"b\""), {"b", "aab"}, {"a"});
  expectMatches(programOf("root ::= (\"a\"?){3} \"b\""), {"b", "aaab"},
                {"aaaab"});
}

TEST(Grammar, Recursion) {
  GrammarProgram program = programOf("root ::= \"(\" root \")\" root | \"\"");
  expectMatches(program, {"", "()", "(())()", "((()()))"},
                {"(", ")", "(()", "())"});
  std::string deep(200, '(');
  EXPECT_EQ(follow(program, deep), 0);
  // Deeper than any stack: what begins can still end.
  std::string tooDeep(GrammarProgram::kMaxStack + 10, '(');
  EXPECT_EQ(follow(program, tooDeep), -1);
  // A rule that ends with itself needs no stack.
  EXPECT_EQ(follow(programOf("root ::= \"a\" root | \"b\""),
                   std::string(5000, 'a') + "b"),
            1);
}

TEST(Grammar, Utf8) {
  GrammarProgram program = programOf("root ::= [à-ÿ\\u0800-\\uffff😀-😂]");
  expectMatches(program, {"é", "à", "ÿ", "世", "😁"},
                {"a", "Ā", "😃", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80"});
  // Any character, but nothing that is not one.
  expectMatches(programOf("root ::= ."), {"a", "é", "世", "😁", "\n"},
                {"\xff", "\xc0\x80", "\xf4\x90\x80\x80", "ab"});
}

TEST(Grammar, RefusesInOneSentence) {
  Grammar grammar;
  auto error = [&](std::string_view text) {
    Status status = parseGrammar(text, grammar);
    GrammarProgram program;
    return status.ok() ? compile(grammar, program).text : status.text;
  };
  EXPECT_EQ(error("root ::= \"a"),
            "line 1, column 12: expected '\"' before the end of the line");
  EXPECT_EQ(error("root ::= b"), "the rule 'b' is used and not defined");
  EXPECT_EQ(error("a ::= \"b\""),
            "there is no rule 'root', which whole texts follow");
  EXPECT_EQ(error("root ::= \"a\"\nroot ::= \"b\""),
            "line 2, column 9: this rule is there twice");
  EXPECT_EQ(error("root ::= \"a\"{3,2}"),
            "line 1, column 18: expected {N}, {N,} or {N,M} with numbers of at "
            "most 1048576");
  EXPECT_EQ(error("root ::= (\"a\""), "line 1, column 14: expected ')'");
  for (const char *text :
       {"root ::= root \"a\" | \"b\"",
        "root ::= a \"x\" | \"b\"\na ::= \"c\"? root",
        "root ::= (\"a\"? root){2} | \"b\"", "root ::= root"})
    EXPECT_EQ(error(text).substr(0, 26), text == std::string("root ::= root")
                                             ? "no text of finite length m"
                                             : "a rule begins with itself,")
        << text;
  // These take a character first.
  EXPECT_EQ(error("root ::= \"a\"{2} root | \"b\""), "");
  EXPECT_EQ(error("root ::= \"a\" root").substr(0, 24),
            "no text of finite length");
  EXPECT_NE(error(std::string(1000, '(')), "");
}

TEST(Grammar, WaysThatDoNotEndAreClosed) {
  // The second way never ends, so it is not begun.
  GrammarProgram program =
      programOf("root ::= \"a\" | \"b\" more\nmore ::= \"c\" more");
  EXPECT_EQ(follow(program, "a"), 1);
  EXPECT_EQ(follow(program, "b"), -1);
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

TEST(JsonSchema, Objects) {
  GrammarProgram program = programOfSchema(
      R"({"type": "object", "properties": {"a": {"type": "integer"},
          "b": {"type": "boolean"}, "c": {"type": "null"}},
          "required": ["b"], "additionalProperties": false})");
  expectMatches(program,
                {R"({"b":true})", R"({"a":1,"b":false})",
                 R"({"b": true, "c": null})",
                 "{\n  \"a\": -12,\n  \"b\": true,\n  \"c\": null\n}"},
                {"{}", R"({"a":1})", R"({"b":1})", R"({"b":true,"a":1})",
                 R"({"b":true,})", R"({"b":true,"d":1})", R"({"b":true}})",
                 R"({"b" :true})"});
  // A name that is not listed may not be one that is.
  program = programOfSchema(
      R"({"properties": {"ab": {"type": "null"}},
          "additionalProperties": {"type": "integer"}})");
  expectMatches(program,
                {"{}", R"({"ab":null,"a":1})", R"({"abc":2})", R"({"":3})"},
                {R"({"ab":1})", R"({"\u0061b":1})", R"({"a":null})"});
}

TEST(JsonSchema, Arrays) {
  expectMatches(
      programOfSchema(R"({"type": "array", "items": {"type": "integer"},
                          "minItems": 2, "maxItems": 3})"),
      {"[1,2]", "[1, 2, 3]"}, {"[]", "[1]", "[1,2,3,4]", "[1,]", "[1,true]"});
  expectMatches(programOfSchema(
                    R"({"prefixItems": [{"type": "null"}, {"const": 7}],
                        "items": {"type": "boolean"}, "maxItems": 3})"),
                {"[null,7]", "[null,7,true]"},
                {"[null]", "[null,7,true,true]"});
}

TEST(JsonSchema, Strings) {
  expectMatches(
      programOfSchema(R"({"type": "string", "minLength": 1, "maxLength": 2})"),
      {R"("a")", R"("世界")", R"("\n\u00e9")", R"("\ud83d\ude00a")"},
      {R"("")", R"("abc")", R"("\ud83d")", "\"\n\"", R"("\x")"});
  expectMatches(programOfSchema(R"({"pattern": "^[a-z]{2}(-\\d+)?$"})"),
                {R"("ab")", R"("ab-12")"},
                {R"("ab-")", R"("abc")", R"("xab")"});
  // Without anchors anything may be around it.
  expectMatches(programOfSchema(R"({"pattern": "a\"b|c$"})"),
                {R"("xxa\"byy")", R"("xc")"}, {R"("ab")", R"("cx")"});
  expectMatches(programOfSchema(R"({"type": "string", "format": "date"})"),
                {R"("2024-02-28")", R"("1999-12-31")"},
                {R"("2023-02-30")", R"("2023-13-01")", R"("2023-1-1")"});
  expectMatches(
      programOfSchema(R"({"enum": ["a\"b", 1, null, [1, {"k": 2}]]})"),
      {R"("a\"b")", "1", "null", R"([1, {"k": 2}])", R"([1,{"k":2}])"},
      {"2", R"("a")", "[1]"});
}

/// Every integer and every decimal of a grid is in the grammar exactly if it is
/// in the range.
TEST(JsonSchema, NumbersWithBounds) {
  struct Case {
    const char *schema;
    double least, most;
    bool excludesLeast, excludesMost;
  };
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (const Case &each : std::initializer_list<Case>{
           {R"("minimum": 7, "maximum": 123)", 7, 123, false, false},
           {R"("minimum": -15, "exclusiveMaximum": 0)", -15, 0, false, true},
           {R"("exclusiveMinimum": -0.5, "maximum": 10.25)", -0.5, 10.25, true,
            false},
           {R"("exclusiveMinimum": 99)", 99, kInfinity, true, false},
           {R"("maximum": -99)", -kInfinity, -99, false, false},
           {R"("minimum": 0.05, "exclusiveMaximum": 0.1)", 0.05, 0.1, false,
            true},
           {R"("minimum": 3, "maximum": 3)", 3, 3, false, false},
           {R"("minimum": 0, "exclusiveMinimum": 0)", 0, kInfinity, true,
            false},
           {R"("minimum": -12.5, "maximum": -2)", -12.5, -2, false, false}}) {
    auto contains = [&](double value) {
      return value >= each.least && value <= each.most &&
             !(each.excludesLeast && value == each.least) &&
             !(each.excludesMost && value == each.most);
    };
    for (bool isInteger : {false, true}) {
      std::string text = std::string(R"({"type": ")") +
                         (isInteger ? "integer" : "number") + "\", " +
                         each.schema + "}";
      Grammar grammar;
      GrammarProgram program;
      Status status = parseJsonSchema(text, grammar);
      if (status.ok())
        status = compile(grammar, program);
      // No integer is between 0.05 and 0.1.
      bool isEmpty = isInteger && each.most < 1 && each.least > 0;
      EXPECT_EQ(status.ok(), !isEmpty) << text;
      if (!status.ok())
        continue;
      for (int value = -200; value <= 200; ++value) {
        std::string number = std::to_string(value);
        EXPECT_EQ(follow(program, number) == 1, contains(value))
            << text << " " << number;
      }
      for (int value = -1600; value <= 1600; value += isInteger ? 37 : 1) {
        char number[32];
        std::snprintf(number, sizeof number, "%s%d.%02d", value < 0 ? "-" : "",
                      std::abs(value) / 100, std::abs(value) % 100);
        // -0.00 has a sign that is not written.
        if (value == 0)
          continue;
        EXPECT_EQ(follow(program, number) == 1,
                  !isInteger && contains(value / 100.0))
            << text << " " << number;
      }
    }
  }
  expectMatches(programOfSchema(R"({"type": "number"})"),
                {"0", "-1", "3.25", "1e9", "-0.5E-12"},
                {"01", ".5", "1.", "+1", "1e", "--1"});
  expectMatches(
      programOfSchema(R"({"type": "integer", "maximum": 9223372036854775807})"),
      {"0", "-5", "123456789012345"}, {"1.5", "-0", "00"});
}

TEST(JsonSchema, References) {
  GrammarProgram program = programOfSchema(
      R"({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object",
          "properties": {"v": {"type": "integer"},
          "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
          "required": ["v", "next"], "additionalProperties": false}}})");
  expectMatches(program,
                {R"({"v":1,"next":null})",
                 R"({"v":1,"next":{"v":2,"next":{"v":3,"next":null}}})"},
                {R"({"v":1})", R"({"v":1,"next":{}})"});
  expectMatches(programOfSchema(R"({"items": {"$ref": "#"}})"),
                {"[]", "[[],[[]]]"}, {"[1]", "["});
}

TEST(JsonSchema, AnyObject) {
  GrammarProgram program;
  ASSERT_TRUE(compile(anyJsonObject(), program).ok());
  expectMatches(program, {"{}", R"({"a": [1, {"b": null}], "c": "d"})"},
                {"[]", "1", R"({"a"})", R"({a: 1})", R"({"a": 01})"});
}

TEST(JsonSchema, RefusesInOneSentence) {
  Grammar grammar;
  auto error = [&](std::string_view schema) {
    Status status = parseJsonSchema(schema, grammar);
    GrammarProgram program;
    return status.ok() ? compile(grammar, program).text : status.text;
  };
  EXPECT_EQ(error(R"({"properties": {"a": {"not": {}}}})"),
            "at '#/properties/a': 'not' is not a keyword that is supported");
  EXPECT_EQ(error(R"({"$ref": "http://x/y"})"),
            "at '#': '$ref' is \"http://x/y\"; expected '#' or a path in this "
            "schema such as '#/$defs/NAME'");
  EXPECT_EQ(error(R"({"type": "string", "format": "iri"})"),
            "at '#': the format 'iri' is not supported; date, time, date-time, "
            "uuid, ipv4 and email are");
  EXPECT_EQ(error(R"({"type": "string", "pattern": "(?=a)b"})"),
            "at '#': 'pattern': line 1, column 2: expected a group ( ) or (?: "
            "); others are not supported");
  EXPECT_EQ(error(R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})"),
            "at '#': a value may be valid for schemas 0 and 1 of 'oneOf'; "
            "expected other types, or a required member with other values, or "
            "'anyOf'");
  // Each of these cannot be kept, or has no value.
  for (const char *schema :
       {"false",
        "3",
        R"({"type": "thing"})",
        R"({"type": []})",
        R"({"enum": []})",
        R"({"enum": [1], "type": "string"})",
        R"({"minimum": 2, "maximum": 1})",
        R"({"minimum": "1"})",
        R"({"items": true, "minItems": 3, "maxItems": 2})",
        R"({"uniqueItems": true})",
        R"({"minProperties": 2})",
        R"({"required": ["a"], "additionalProperties": false})",
        R"({"allOf": [{}, {}]})",
        R"({"anyOf": [{}], "type": "object"})",
        R"({"$ref": "#"})",
        R"({"$ref": "#/$defs/a/"})",
        R"({"multipleOf": 3})",
        R"({"pattern": "a", "maxLength": 3})",
        R"({"minimum": 0.12345678901234567})",
        R"({"minLength": -1})",
        R"({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})"})
    EXPECT_NE(error(schema), "") << schema;
  // Two objects that a member tells apart, and values of other types.
  EXPECT_EQ(error(R"({"oneOf": [
      {"properties": {"k": {"const": "a"}}, "required": ["k"]},
      {"properties": {"k": {"const": "b"}}, "required": ["k"]},
      {"type": "string"}, {"enum": [1, 2]}]})"),
            "");
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

TEST(TokenMask, AllowsWhatGoesOn) {
  Tokenizer tokenizer = makeByteTokenizer({"ab", "abc", "bc", "c\"", "ca"});
  auto trie = std::make_shared<const TokenTrie>(tokenizer);
  Grammar grammar;
  ASSERT_TRUE(parseGrammar("root ::= \"ab\" [cd]+", grammar).ok());
  std::shared_ptr<const TokenGrammar> tokens;
  int32_t end = tokenizer.spec().eos;
  ASSERT_TRUE(TokenGrammar::create(grammar, tokenizer, trie, {end},
                                   /*startsText=*/true, tokens)
                  .ok());
  TokenMask mask(tokens);
  auto allowed = [&] {
    // Two rows more than there are tokens, as models have.
    std::vector<float> logits(tokenizer.vocabSize() + 2, 1.0f);
    EXPECT_TRUE(mask.apply(logits).ok());
    std::vector<std::string> result;
    for (size_t i = 0; i < logits.size(); ++i)
      if (logits[i] == 1.0f)
        result.emplace_back(static_cast<int32_t>(i) == end
                                ? "<end>"
                                : tokenizer.tokenText(static_cast<int32_t>(i)));
    return result;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(allowed(), (Texts{"a", "ab", "abc"}));
  EXPECT_FALSE(mask.accept(end).ok());
  EXPECT_FALSE(mask.accept('b').ok());
  ASSERT_TRUE(mask.accept('a').ok());
  EXPECT_EQ(allowed(), (Texts{"b", "bc"}));
  ASSERT_TRUE(mask.accept('b').ok());
  EXPECT_FALSE(mask.isComplete());
  EXPECT_EQ(allowed(), (Texts{"c", "d"}));
  ASSERT_TRUE(mask.accept('d').ok());
  EXPECT_TRUE(mask.isComplete());
  EXPECT_EQ(allowed(), (Texts{"c", "d", "<end>"}));
  ASSERT_TRUE(mask.accept(end).ok());
  EXPECT_EQ(allowed(), (Texts{"<end>"}));
}

/// A mask says of all tokens at once what is said of each by itself, before
/// each byte of a text.
static void expectEachToken(const Grammar &grammar, std::string_view text) {
  Tokenizer tokenizer = makeByteTokenizer(
      {"abc", "ab\"", "ab\",", "a\\n", "é", "\xc3", "ab c", "\"}", "a\n", " {",
       "abcde", "abcdef", "abcdefghijklmnopqr", "abcdefghijklmnopqrs", "aé"});
  auto trie = std::make_shared<const TokenTrie>(tokenizer);
  std::shared_ptr<const TokenGrammar> tokens;
  ASSERT_TRUE(TokenGrammar::create(grammar, tokenizer, trie,
                                   {tokenizer.spec().eos}, true, tokens)
                  .ok());
  TokenMask mask(tokens);
  for (char c : text) {
    std::vector<float> logits(tokenizer.vocabSize());
    ASSERT_TRUE(mask.apply(logits).ok());
    for (size_t i = 0; i < logits.size(); ++i) {
      TokenMask copy = mask;
      EXPECT_EQ(copy.accept(static_cast<int32_t>(i)).ok(), logits[i] == 0)
          << "token " << i << " before " << c << " of " << text;
    }
    ASSERT_TRUE(mask.accept(static_cast<uint8_t>(c)).ok());
  }
  EXPECT_TRUE(mask.isComplete());
}

TEST(TokenMask, IsThatOfEachToken) {
  expectEachToken(anyJsonObject(), "{\"key\": [1.5, \"text \\u00e9\"]}");
}

/// Strings with a length, in which the state after a byte is always another
/// one; in the last, one plain byte is not like the others.
TEST(TokenMask, IsThatOfEachTokenInShortStrings) {
  for (const char *text : {"root ::= \"<\" [ !#-[\\]-~]{0,5} \">\"",
                           "root ::= \"<\" [ !#-[\\]-~]{2,18} \">\"",
                           "root ::= \"<\" [ !#-[\\]-~]{0,40} \">\"",
                           "root ::= \"<\" [ !#-[\\]-bd-~]{0,9} \">\""}) {
    Grammar grammar;
    ASSERT_TRUE(parseGrammar(text, grammar).ok()) << text;
    expectEachToken(grammar, "<ab:d>");
  }
}

TEST(TokenMask, SaysWhenNoTokenFits) {
  Tokenizer tokenizer = makeByteTokenizer({});
  auto trie = std::make_shared<const TokenTrie>(tokenizer);
  Grammar grammar;
  ASSERT_TRUE(parseGrammar("root ::= \"a\"", grammar).ok());
  std::shared_ptr<const TokenGrammar> tokens;
  ASSERT_TRUE(
      TokenGrammar::create(grammar, tokenizer, trie, {}, true, tokens).ok());
  TokenMask mask(tokens);
  std::vector<float> logits(tokenizer.vocabSize());
  ASSERT_TRUE(mask.apply(logits).ok());
  ASSERT_TRUE(mask.accept('a').ok());
  EXPECT_EQ(mask.apply(logits).text,
            "no token of the vocabulary goes on with a text that the grammar "
            "allows");
}

/// Texts longer than what is kept of states: the mask forgets, and goes on.
TEST(TokenMask, ForgetsStates) {
  Tokenizer tokenizer = makeByteTokenizer({});
  auto trie = std::make_shared<const TokenTrie>(tokenizer);
  Grammar grammar;
  ASSERT_TRUE(
      parseGrammar("root ::= (\"ab\"{3,9} \"c\"){0,100000}", grammar).ok());
  std::shared_ptr<const TokenGrammar> tokens;
  ASSERT_TRUE(TokenGrammar::create(grammar, tokenizer, trie,
                                   {tokenizer.spec().eos}, true, tokens)
                  .ok());
  TokenMask mask(tokens);
  std::vector<float> logits(tokenizer.vocabSize());
  for (int i = 0; i < 3000; ++i)
    for (char c : std::string_view("abababc")) {
      std::fill(logits.begin(), logits.end(), 0.0f);
      ASSERT_TRUE(mask.apply(logits).ok());
      ASSERT_EQ(logits[static_cast<uint8_t>(c)], 0.0f);
      ASSERT_EQ(logits['d'], -std::numeric_limits<float>::infinity());
      ASSERT_TRUE(mask.accept(c).ok());
    }
  EXPECT_TRUE(mask.isComplete());
}

/// What can be read in more ways than a state has places ends with a sentence:
/// pairs of two counts, and stacks that double with each byte.
TEST(TokenMask, GivesUpWhatIsReadInTooManyWays) {
  Tokenizer tokenizer = makeByteTokenizer({});
  auto trie = std::make_shared<const TokenTrie>(tokenizer);
  for (const char *text :
       {"root ::= ((\"a\"?){1000}){1000} \"b\"",
        "root ::= (\"a\" | \"a\"{1,1000}){1,1000}",
        "root ::= x{1000} \"b\"\nx ::= \"a\"{0,99} \"a\"{0,99} \"a\"{0,99}",
        "root ::= \"a\" root \"a\" | \"a\" root \"b\" | \"a\""}) {
    Grammar grammar;
    ASSERT_TRUE(parseGrammar(text, grammar).ok());
    std::shared_ptr<const TokenGrammar> tokens;
    ASSERT_TRUE(TokenGrammar::create(grammar, tokenizer, trie,
                                     {tokenizer.spec().eos}, true, tokens)
                    .ok());
    TokenMask mask(tokens);
    std::vector<float> logits(tokenizer.vocabSize());
    Status status;
    for (int i = 0; i < 400 && status.ok(); ++i) {
      status = mask.apply(logits);
      if (status.ok())
        status = mask.accept('a');
    }
    EXPECT_EQ(status.text, "the grammar can be read in too many ways at once; "
                           "expected one that needs fewer than 8192")
        << text;
  }
}

} // namespace
