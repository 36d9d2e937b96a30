//===- TokenizerPiecesTest.cpp - SentencePiece's models -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small models whose tokens can be found by hand, and the ways their files can
// be wrong. The comparison with SentencePiece is test/integration.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerPieces.h"

#include "runtime/support/TextBytes.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerImport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace gist;

namespace {

using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

/// Ids of the pieces in smallGguf(); the bytes are behind them.
enum : int32_t {
  kUnk,
  kBos,
  kEos,
  kMark,
  kA,
  kB,
  kAB,
  kMarkA,
  kAA,
  kXY,
  kByte
};

/// As a GGUF file of Llama 2 has them, with all bytes.
static GgufTokenizer smallGguf() {
  GgufTokenizer gguf;
  gguf.model = "llama";
  gguf.tokens = {"<unk>", "<s>", "</s>",    "\u2581", "a",
                 "b",     "ab",  "\u2581a", "aa",     "XY"};
  gguf.scores = {0, 0, 0, -9, -9, -9, -1, -2, -1.5, 0};
  gguf.tokenTypes = {2, 3, 3, 1, 1, 1, 1, 1, 1, 4};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    snprintf(text, sizeof(text), "<0x%02X>", byte);
    gguf.tokens.emplace_back(text);
    gguf.scores.push_back(0);
    gguf.tokenTypes.push_back(6);
  }
  gguf.bos = kBos;
  gguf.eos = kEos;
  return gguf;
}

static Tokenizer make(const GgufTokenizer &gguf) {
  TokenizerSpec spec;
  Status status = importTokenizer(gguf, spec);
  EXPECT_TRUE(status.ok()) << status.text;
  Tokenizer tokenizer;
  status = Tokenizer::create(spec, tokenizer);
  EXPECT_TRUE(status.ok()) << status.text;
  return tokenizer;
}

static Tokenizer make(TokenizerSpec spec) {
  Tokenizer tokenizer;
  Status status = Tokenizer::create(std::move(spec), tokenizer);
  EXPECT_TRUE(status.ok()) << status.text;
  return tokenizer;
}

static Ids encode(const Tokenizer &tokenizer, std::string_view text,
                  EncodeOptions options = {false, true, false}) {
  Ids ids;
  tokenizer.encode(text, ids, options);
  return ids;
}

// The best score first, then the leftmost pair: "ab" before the mark with "a",
// and that before nothing.
TEST(TokenizerPieces, JoinsByScore) {
  Tokenizer tokenizer = make(smallGguf());
  EXPECT_EQ(encode(tokenizer, "ab"), (Ids{kMark, kAB}));
  EXPECT_EQ(encode(tokenizer, "a"), (Ids{kMarkA}));
  EXPECT_EQ(encode(tokenizer, "aaa"), (Ids{kMark, kAA, kA}));
  EXPECT_EQ(encode(tokenizer, "abab"), (Ids{kMark, kAB, kAB}));
  EXPECT_EQ(encode(tokenizer, "a b"), (Ids{kMarkA, kMark, kB}));
  EXPECT_EQ(encode(tokenizer, ""), Ids());
  EXPECT_EQ(encode(tokenizer, "ab", {true, true, false}),
            (Ids{kBos, kMark, kAB}));
  // Spaces stay, whatever their number, and one is put in front of them.
  EXPECT_EQ(encode(tokenizer, " a "), (Ids{kMark, kMarkA, kMark}));
}

// A character without a piece is its bytes; two that are unknown are one token
// where there are none.
TEST(TokenizerPieces, UnknownCharacters) {
  Tokenizer tokenizer = make(smallGguf());
  EXPECT_EQ(encode(tokenizer, "a\u00E9b"),
            (Ids{kMarkA, kByte + 0xC3, kByte + 0xA9, kB}));
  EXPECT_EQ(encode(tokenizer, "\xFF"),
            (Ids{kMark, kByte + 0xEF, kByte + 0xBF, kByte + 0xBD}));
  GgufTokenizer noBytes = smallGguf();
  noBytes.tokens.resize(kByte);
  noBytes.scores.resize(kByte);
  noBytes.tokenTypes.resize(kByte);
  EXPECT_EQ(encode(make(noBytes), "a\u00E9zb z"),
            (Ids{kMarkA, kUnk, kB, kMark, kUnk}));
}

// Never joined to what is beside it; an unused piece is taken apart again.
TEST(TokenizerPieces, UserDefinedAndUnused) {
  GgufTokenizer gguf = smallGguf();
  EXPECT_EQ(encode(make(gguf), "aXYab"), (Ids{kMarkA, kXY, kAB}));
  gguf.tokenTypes[kAB] = 5;
  EXPECT_EQ(encode(make(gguf), "ab"), (Ids{kMark, kA, kB}));
}

// What a user types must not end a turn; after a special token a text gets its
// space again, and none when it goes on.
TEST(TokenizerPieces, SpecialTokensAndSpaces) {
  Tokenizer tokenizer = make(smallGguf());
  EXPECT_EQ(encode(tokenizer, "a</s>a"), (Ids{kMarkA, kEos, kMarkA}));
  Ids plain = encode(tokenizer, "</s>", {false, false, false});
  EXPECT_EQ(plain[0], kMark);
  EXPECT_EQ(plain.size(), 5u); // The mark and four bytes.
  EXPECT_EQ(encode(tokenizer, "ab", {false, true, true}), Ids{kAB});
  GgufTokenizer none = smallGguf();
  none.addSpacePrefix = false;
  EXPECT_EQ(encode(make(none), "a a"), (Ids{kA, kMarkA}));
}

// 2^19 letters, and as many characters that have no piece.
TEST(TokenizerPieces, LongTextsTakeNoQuadraticTime) {
  Tokenizer tokenizer = make(smallGguf());
  Ids ids = encode(tokenizer, std::string(1 << 19, 'a'));
  EXPECT_EQ(ids.size(), 1 + (1u << 18));
  std::string text;
  for (int i = 0; i < 1 << 19; ++i)
    text += "\u00E9";
  EXPECT_EQ(encode(tokenizer, text).size(), 1 + (2u << 19));
}

// The sum of scores decides: -1 for the mark with -1.5 is better than with
// two of -1, but not than with two of -0.5.
TEST(TokenizerPieces, Unigram) {
  TokenizerSpec spec;
  spec.model = TokenizerModel::Unigram;
  spec.split = TokenizerSplit::None;
  spec.normalizer = TokenizerNormalizer::Spaces;
  spec.prefixSpace = true;
  spec.vocab = {"<unk>", "\u2581", "a", "b", "ab", "c"};
  spec.scores = {0, -1, -1, -1, -1.5, -0.5};
  spec.kinds = {PieceKind::Unknown, PieceKind::Normal, PieceKind::Normal,
                PieceKind::Normal,  PieceKind::Normal, PieceKind::Normal};
  spec.unknown = 0;
  EXPECT_EQ(encode(make(spec), "ab"), (Ids{1, 4}));
  spec.scores[2] = spec.scores[3] = -0.5;
  EXPECT_EQ(encode(make(spec), "ab"), (Ids{1, 2, 3}));
  // Neighbours that are unknown are one token.
  EXPECT_EQ(encode(make(spec), "azzb"), (Ids{1, 2, 0, 3}));
  spec.kinds[4] = PieceKind::UserDefined;
  EXPECT_EQ(encode(make(spec), "cab"), (Ids{1, 5, 4}));
}

// Bytes wait until their character is whole; the space in front goes, and stays
// where a text is continued.
TEST(TokenizerPieces, Streams) {
  Tokenizer tokenizer = make(smallGguf());
  Ids ids = {kBos,         kMarkA,       kByte + 0xE2, kByte + 0x82,
             kByte + 0xAC, kByte + 0xF0, kA,           kByte + 0xE2,
             kByte + 0xC3, kByte + 0xA9, kMarkA,       kByte + 0xC3};
  auto stream = [&](bool continues) {
    StreamDecoder decoder(tokenizer, true, continues);
    Words words;
    for (int32_t id : ids)
      words.push_back(decoder.push(id));
    words.push_back(decoder.finish());
    return words;
  };
  EXPECT_EQ(stream(false), (Words{"", "a", "", "", "\u20AC", "", "\uFFFDa", "",
                                  "\uFFFD", "\u00E9", " a", "", "\uFFFD"}));
  EXPECT_EQ(stream(true)[1], " a");
  EXPECT_EQ(tokenizer.decode(Ids{kMark, kMarkA}), " a");
  EXPECT_EQ(tokenizer.decode(Ids{kBos, kMarkA}, false), "<s> a");
  EXPECT_EQ(tokenizer.tokenText(kMarkA), " a");
  EXPECT_EQ(tokenizer.tokenText(kByte + 0x0A), "\n");
}

// A GGUF file lies in one place each time.
TEST(TokenizerPieces, WrongGgufIsRefused) {
  auto message = [](auto change) {
    GgufTokenizer gguf = smallGguf();
    change(gguf);
    TokenizerSpec spec;
    Status status = importTokenizer(gguf, spec);
    EXPECT_EQ(status.code, Code::BadFile) << status.text;
    EXPECT_TRUE(spec.vocab.empty());
    return status.text;
  };
  auto expect = [&](const char *sentence, auto change) {
    std::string text = message(change);
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  };
  expect("266 pieces, 0 scores and 266 types",
         [](GgufTokenizer &g) { g.scores.clear(); });
  expect("265 scores", [](GgufTokenizer &g) { g.scores.pop_back(); });
  expect("0 types", [](GgufTokenizer &g) { g.tokenTypes.clear(); });
  expect("the score of piece 4 is not a finite number",
         [](GgufTokenizer &g) { g.scores[kA] = NAN; });
  expect("not a finite number",
         [](GgufTokenizer &g) { g.scores[kA] = INFINITY; });
  expect("its text is '<0x-1>'; expected <0x00> to <0xFF>",
         [](GgufTokenizer &g) { g.tokens[kByte + 3] = "<0x-1>"; });
  expect("its text is '?'",
         [](GgufTokenizer &g) { g.tokens[kByte + 3] = "\n"; });
  expect("there are pieces for 255 of 256 bytes",
         [](GgufTokenizer &g) { g.tokenTypes[kByte + 3] = 1; });
  expect("piece 'ab' appears twice; the second is piece 8",
         [](GgufTokenizer &g) { g.tokens[kAA] = "ab"; });
  expect("piece '<0x41>' appears twice",
         [](GgufTokenizer &g) { g.tokens[kByte] = "<0x41>"; });
  expect("piece 4 has the type 7",
         [](GgufTokenizer &g) { g.tokenTypes[kA] = 7; });
  expect("piece 4 has the type 0",
         [](GgufTokenizer &g) { g.tokenTypes[kA] = 0; });
  expect("pieces 0 and 4 are both for unknown text",
         [](GgufTokenizer &g) { g.tokenTypes[kA] = 2; });
  expect("no piece is for unknown text",
         [](GgufTokenizer &g) { g.tokenTypes[kUnk] = 3; });
  expect("piece 4 has no text", [](GgufTokenizer &g) { g.tokens[kA] = ""; });
  // An id alone says it too.
  GgufTokenizer byId = smallGguf();
  byId.tokenTypes[kUnk] = 1;
  byId.unknown = kUnk;
  EXPECT_EQ(make(byId).spec().unknown, kUnk);
}

//===----------------------------------------------------------------------===//
// tokenizer.model
//===----------------------------------------------------------------------===//

/// A field of a protocol buffer with bytes, and one with a small number.
static std::string field(int number, const std::string &bytes) {
  EXPECT_LT(bytes.size(), 128u * 128u);
  std::string key;
  for (int value = number << 3 | 2; value; value >>= 7)
    key += static_cast<char>((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
  size_t size = bytes.size();
  key += static_cast<char>((size & 0x7F) | 0x80);
  return key + static_cast<char>(size >> 7) + bytes;
}

static std::string field(int number, int value) {
  int key = number << 3;
  std::string text;
  if (key > 0x7F)
    text = {static_cast<char>((key & 0x7F) | 0x80),
            static_cast<char>(key >> 7)};
  else
    text = {static_cast<char>(key)};
  return text + static_cast<char>(value);
}

static std::string piece(const std::string &text, float score, int type) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &score, 4);
  return field(1, field(1, text) + "\x15" + bytes + field(3, type));
}

/// A BPE model without bytes; `trainer` and `normalizer` are added to theirs.
static std::string smallModel(const std::string &trainer = "",
                              const std::string &normalizer = "") {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) +
         piece("\u2581", -4, 1) + piece("a", -5, 1) + piece("b", -6, 1) +
         piece("ab", -1, 1) + field(2, field(3, 2) + trainer) +
         field(3, field(1, "identity") + field(4, 0) + normalizer);
}

static Status import(const std::string &model, TokenizerSpec &spec,
                     const std::string &config = "") {
  HuggingFaceTokenizer files;
  files.sentencePiece = model;
  files.configJson = config;
  return importTokenizer(files, spec);
}

TEST(TokenizerPieces, ReadsTokenizerModel) {
  TokenizerSpec spec;
  Status status = import(smallModel(), spec);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(spec.model, TokenizerModel::ScoreBpe);
  EXPECT_EQ(spec.vocab,
            (Words{"<unk>", "<s>", "</s>", "\u2581", "a", "b", "ab"}));
  EXPECT_EQ(spec.scores[6], -1);
  EXPECT_EQ(spec.bos, 1);
  EXPECT_EQ(spec.eos, 2);
  EXPECT_EQ(spec.stop, std::vector<uint32_t>{2});
  EXPECT_EQ(encode(make(spec), "ab z", {true, true, false}),
            (Ids{1, 3, 6, 3, 0}));
  // Added behind the vocabulary: the model cannot produce it.
  ASSERT_TRUE(import(smallModel(), spec,
                     R"({"add_bos_token": false, "added_tokens_decoder":
                        {"9": {"content": "<x>", "special": true}}})")
                  .ok());
  EXPECT_EQ(spec.vocab.size(), 10u);
  EXPECT_EQ(encode(make(spec), "a<x>", {true, true, false}), (Ids{3, 4, 9}));
}

TEST(TokenizerPieces, WrongTokenizerModelsAreRefused) {
  auto expect = [](const std::string &model, const char *sentence, Code code) {
    TokenizerSpec spec;
    Status status = import(model, spec);
    EXPECT_EQ(status.code, code) << status.text;
    EXPECT_NE(status.text.find(sentence), std::string::npos) << status.text;
    EXPECT_TRUE(spec.vocab.empty());
  };
  expect(smallModel(field(3, 3)), "is of type 3", Code::Unsupported);
  expect(smallModel("", field(1, "nfkc") + field(2, "map")),
         "the normalizer 'nfkc'; supported is identity", Code::Unsupported);
  expect(smallModel(field(24, 1)), "has spaces behind words",
         Code::Unsupported);
  expect(smallModel("", field(5, 0)), "does not mark spaces",
         Code::Unsupported);
  expect(smallModel(field(35, 1)), "says the opposite", Code::BadFile);
  expect(smallModel() + piece("ab", 0, 1), "'ab' appears twice", Code::BadFile);
  expect(smallModel() + piece("c", NAN, 1), "not a finite number",
         Code::BadFile);
  expect(smallModel() + piece("c", 0, 9), "has the type 0", Code::BadFile);
  expect(smallModel() + field(1, field(2, "score")),
         "field 2 of piece 7 is of the wrong type", Code::BadFile);
  expect(smallModel() + "\x0B", "wire type 3", Code::BadFile);
  expect(smallModel() + std::string(12, '\xFF'), "more than ten bytes",
         Code::BadFile);
  expect(field(2, field(3, 2)), "has no pieces", Code::BadFile);
  std::string whole = smallModel();
  for (size_t size = 1; size < whole.size(); ++size) {
    TokenizerSpec spec;
    Status status = import(whole.substr(0, size), spec);
    EXPECT_TRUE(status.ok() || !status.text.empty()) << size;
  }
}

//===----------------------------------------------------------------------===//
// tokenizer.json
//===----------------------------------------------------------------------===//

/// Llama 2's form; the bytes of U+00E9 alone have tokens.
static const std::string kLlama = R"({
  "added_tokens": [{"id": 1, "content": "<s>", "special": true}],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
  "pre_tokenizer": null,
  "post_processor": null,
  "decoder": {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
  "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
            "vocab": {"<unk>": 0, "<s>": 1, "▁": 2, "a": 3, "b": 4, "ab": 5, "▁ab": 6,
                      "<0xC3>": 7, "<0xA9>": 8},
            "merges": ["a b", "▁ ab"]}
})";

static std::string changed(const std::string &from, const std::string &to) {
  std::string json = kLlama;
  size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

static Status importJson(const std::string &json, TokenizerSpec &spec) {
  HuggingFaceTokenizer files;
  files.tokenizerJson = json;
  return importTokenizer(files, spec);
}

TEST(TokenizerPieces, ReadsTokenizerJson) {
  TokenizerSpec spec;
  Status status = importJson(kLlama, spec);
  ASSERT_TRUE(status.ok()) << status.text;
  Tokenizer tokenizer = make(spec);
  EXPECT_EQ(encode(tokenizer, "ab ba<s>a"), (Ids{6, 2, 4, 3, 1, 2, 3}));
  EXPECT_EQ(encode(tokenizer, "\u00E9"), (Ids{2, 7, 8}));
  EXPECT_EQ(encode(tokenizer, "a\u00E8zb"), (Ids{2, 3, 0, 4}));
  EXPECT_EQ(tokenizer.decode(Ids{6, 2, 3, 7, 8}), "ab a\u00E9");

  // Metaspace puts no mark before one, and `first` none after a token.
  const std::string metaspace = R"("pre_tokenizer": {"type": "Metaspace",
      "replacement": "▁", "prepend_scheme": "first", "split": true})";
  std::string json = changed(R"("pre_tokenizer": null)", metaspace);
  size_t begin = json.find(R"("normalizer": {)");
  json.replace(begin, json.find(metaspace) - begin, R"("normalizer": null, )");
  status = importJson(json, spec);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(encode(make(spec), " ab<s>ab"), (Ids{6, 1, 5}));
  EXPECT_EQ(encode(make(spec), "ab"), Ids{6});
}

TEST(TokenizerPieces, OtherTokenizerJsonIsRefused) {
  auto message = [](const std::string &from, const std::string &to) {
    TokenizerSpec spec;
    Status status = importJson(changed(from, to), spec);
    EXPECT_FALSE(status.ok()) << to;
    EXPECT_TRUE(spec.vocab.empty());
    return status.text;
  };
  EXPECT_NE(message(R"({"type": "ByteFallback"}, )", "").find("ByteFallback"),
            std::string::npos);
  EXPECT_NE(message(R"("start": 1)", R"("start": 2)").find("'Strip'"),
            std::string::npos);
  EXPECT_NE(message(R"({"type": "Fuse"})", R"({"type": "CTC"})").find("'CTC'"),
            std::string::npos);
  EXPECT_NE(message(R"("pre_tokenizer": null)",
                    R"("pre_tokenizer": {"type": "Metaspace"})")
                .find("with the mark ''"),
            std::string::npos);
  EXPECT_NE(message(R"("pre_tokenizer": null)",
                    R"("pre_tokenizer": {"type": "ByteLevel"})")
                .find("byte_fallback"),
            std::string::npos);
  EXPECT_NE(
      message(R"("merges": ["a b")", R"("merges": ["a c")").find("merge 'a c'"),
      std::string::npos);
  EXPECT_NE(
      message(R"("prepend": "▁")", R"("prepend": "x")").find("normalizer"),
      std::string::npos);
}

// Written and read back: every field, and nothing that is out of range.
TEST(TokenizerPieces, ComesBackWhole) {
  TokenizerSpec spec, back;
  ASSERT_TRUE(importTokenizer(smallGguf(), spec).ok());
  spec.fuseUnknown = spec.removeExtraSpaces = spec.prefixFirstOnly = true;
  spec.splitAtMarks = true;
  spec.spaceMarks = SpaceMarks::First;
  spec.leadingSpace = LeadingSpace::DropInFirstToken;
  std::string bytes = spec.serialize();
  auto read = [&](const std::string &text) {
    return TokenizerSpec::deserialize(bytesOf(text), back);
  };
  ASSERT_TRUE(read(bytes).ok());
  EXPECT_EQ(back.serialize(), bytes);
  EXPECT_EQ(back.scores, spec.scores);
  EXPECT_EQ(back.kinds, spec.kinds);
  EXPECT_TRUE(back.byteFallback && back.fuseUnknown && back.removeExtraSpaces &&
              back.prefixFirstOnly && back.splitAtMarks);
  EXPECT_EQ(back.spaceMarks, SpaceMarks::First);
  EXPECT_EQ(back.leadingSpace, LeadingSpace::DropInFirstToken);
  // The last byte is the kind of the last piece.
  bytes.back() = 6;
  EXPECT_NE(read(bytes).text.find("unknown kind 6"), std::string::npos);
}

} // namespace
