//===- TokenizerImportTest.cpp - Tokenizers from other programs' files ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The comparison with the reference libraries is test/integration; these are
// the ways a file can be wrong.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerImport.h"

#include <gtest/gtest.h>

#include <string>

using namespace gist;

namespace {

/// The smallest file that has every part; tests change one part of it.
static const std::string kBpe = R"({
  "added_tokens": [{"id": 4, "content": "<|im_end|>", "special": true}],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
  "post_processor": null,
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġab": 3, "Ġ": 5},
            "merges": ["a b", ["Ġ", "ab"]]}
})";

static Status import(const std::string &json, TokenizerSpec &spec,
                     const std::string &config = "") {
  HuggingFaceTokenizer files;
  files.tokenizerJson = json;
  files.configJson = config;
  return importTokenizer(files, spec);
}

/// kBpe with one part of it replaced.
static std::string changed(const std::string &from, const std::string &to) {
  std::string json = kBpe;
  size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

// Stand-ins become bytes, merges become ids, and of several chat templates the
// default one is taken.
TEST(TokenizerImport, ReadsBytesMergesAndStops) {
  TokenizerSpec spec;
  Status status = import(kBpe, spec, R"({"eos_token": {"content": "b"},
      "bos_token": "a", "add_bos_token": true, "chat_template":
      [{"name": "tool", "template": "x"}, {"name": "default", "template": "y"}]})");
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(spec.vocab,
            (std::vector<std::string>{"a", "b", "ab", " ab", "", " "}));
  ASSERT_EQ(spec.merges.size(), 2u);
  EXPECT_EQ(spec.merges[1].left, 5u);
  EXPECT_EQ(spec.merges[1].right, 2u);
  EXPECT_EQ(spec.bos, 0);
  EXPECT_EQ(spec.eos, 1);
  EXPECT_EQ(spec.prefix, std::vector<uint32_t>{0});
  EXPECT_EQ(spec.stop, (std::vector<uint32_t>{1, 4})); // EOS and <|im_end|>.
  EXPECT_EQ(spec.chatTemplate, "y");
}

// Each wrong in one place; the spec stays empty.
TEST(TokenizerImport, WrongJsonIsRefused) {
  TokenizerSpec spec;
  for (const std::string &json :
       {std::string("{"), std::string("[]"), std::string("\xFF"),
        std::string("{}"), changed(R"("a": 0)", R"("a": -1)"),
        changed(R"("a": 0)", R"("a": "0")"), changed(R"("a": 0)", R"("a": 1)"),
        changed(R"("a": 0)", R"("a": 99999999999)"),
        changed(R"("a": 0)", R"("a": 2000000)"), // Far beyond the count.
        changed(R"("a b")", R"("a x")"), changed(R"("a b")", R"("ab")"),
        changed(R"("a b")", "7"), changed(R"("id": 4)", R"("id": 4000000000)"),
        changed(R"("content": "<|im_end|>")", R"("content": "")"),
        changed(R"("vocab": {)", R"("vocab": [], "v": {)"),
        changed(R"("post_processor": null)",
                R"("post_processor": {"type": "BertProcessing", "cls": 1})"),
        changed(R"("post_processor": null)",
                R"("post_processor": {"type": "TemplateProcessing",
                   "single": [{"SpecialToken": {"id": "<s>"}}]})")}) {
    Status status = import(json, spec);
    EXPECT_FALSE(status.ok()) << json;
    EXPECT_FALSE(status.text.empty());
    EXPECT_TRUE(spec.vocab.empty());
  }
  EXPECT_FALSE(import(kBpe, spec, "nonsense").ok());
  EXPECT_EQ(importTokenizer(HuggingFaceTokenizer{}, spec).code, Code::NotFound);
}

// A tokenizer that is nearly right would silently give a worse model.
TEST(TokenizerImport, TheUnknownIsNamed) {
  auto message = [](const std::string &from, const std::string &to) {
    TokenizerSpec spec;
    Status status = import(changed(from, to), spec);
    EXPECT_EQ(status.code, Code::Unsupported);
    return status.text;
  };
  EXPECT_NE(message("ByteLevel", "Metaspace").find("'Metaspace'"),
            std::string::npos);
  EXPECT_NE(message(R"("type": "BPE")", R"("type": "Unigram")")
                .find("'Unigram' is not supported; supported are BPE"),
            std::string::npos);
  EXPECT_NE(message(R"("normalizer": null)",
                    R"("normalizer": {"type": "Precompiled"})")
                .find("'Precompiled'"),
            std::string::npos);
  EXPECT_NE(message(R"("post_processor": null)",
                    R"("post_processor": {"type": "Odd"})")
                .find("'Odd'"),
            std::string::npos);
}

static GgufTokenizer smallGguf() {
  GgufTokenizer gguf;
  gguf.model = "gpt2";
  gguf.pre = "smollm";
  gguf.tokens = {"<|im_end|>", "a", "b", "ab"};
  gguf.tokenTypes = {3, 1, 1, 1};
  gguf.merges = {"a b"};
  gguf.eos = 0;
  return gguf;
}

// SmolLM splits digits, which only the name of its pre-tokenizer says.
TEST(TokenizerImport, Gguf) {
  TokenizerSpec spec;
  Status status = importTokenizer(smallGguf(), spec);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_TRUE(spec.splitDigits);
  EXPECT_EQ(spec.split, TokenizerSplit::Gpt2);
  EXPECT_EQ(spec.stop, std::vector<uint32_t>{0});
  EXPECT_TRUE(spec.prefix.empty());
  ASSERT_EQ(spec.added.size(), 1u);
  EXPECT_TRUE(spec.added[0].special);
}

// Ids beyond the vocabulary, and merges of texts that are not tokens.
TEST(TokenizerImport, WrongGgufIsRefused) {
  auto message = [](auto change) {
    GgufTokenizer gguf = smallGguf();
    change(gguf);
    TokenizerSpec spec;
    Status status = importTokenizer(gguf, spec);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(spec.vocab.empty());
    return status.text;
  };
  EXPECT_NE(message([](GgufTokenizer &g) {
              g.model = "t5";
            }).find("'t5' is not supported; supported are gpt2"),
            std::string::npos);
  EXPECT_NE(message([](GgufTokenizer &g) {
              g.pre = "tekken";
            }).find("'tekken' is not supported; supported are gpt-2"),
            std::string::npos);
  message([](GgufTokenizer &g) { g.tokens.clear(); });
  message([](GgufTokenizer &g) { g.tokenTypes.pop_back(); });
  message([](GgufTokenizer &g) { g.eos = 4; });
  message([](GgufTokenizer &g) { g.endOfTurn = 4; });
  message([](GgufTokenizer &g) { g.merges = {"ab"}; });
  message([](GgufTokenizer &g) { g.merges = {""}; });
  message([](GgufTokenizer &g) { g.merges = {"b a"}; });
}

} // namespace
