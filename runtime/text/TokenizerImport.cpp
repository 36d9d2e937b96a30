//===- TokenizerImport.cpp - What importers share, and GGUF ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokenizers of GGUF files, and what both kinds of files share: the bytes
// behind GPT-2's printable stand-ins, and the tokens that end a turn.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerImport.h"

#include "runtime/text/TokenizerPieces.h"
#include "runtime/text/Unicode.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

using namespace gist;
using namespace gist::detail;

//===----------------------------------------------------------------------===//
// Byte-level vocabularies
//===----------------------------------------------------------------------===//

/// The byte that a printable stand-in is for, or -1. GPT-2 shows the printable
/// bytes of Latin-1 as themselves and the others as U+0100 onwards.
static int byteOfStandIn(uint32_t c) {
  static const std::array<int16_t, 512> table = [] {
    std::array<int16_t, 512> result;
    result.fill(-1);
    // The order of the stand-ins from U+0100 on is that of the bytes they are
    // for.
    uint32_t next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      bool printable = (byte >= '!' && byte <= '~') ||
                       (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      result[printable ? byte : next++] = static_cast<int16_t>(byte);
    }
    return result;
  }();
  return c < table.size() ? table[c] : -1;
}

/// Turns stand-ins into bytes; false if a character is not a stand-in.
static bool decodeStandIns(std::string_view text, std::string &bytes) {
  bytes.clear();
  while (!text.empty()) {
    Utf8Char next = decodeUtf8(text);
    int byte = next.valid ? byteOfStandIn(next.codePoint) : -1;
    if (byte < 0)
      return false;
    bytes += static_cast<char>(byte);
    text.remove_prefix(next.size);
  }
  return true;
}

/// Replaces the stand-ins by bytes and the merges' texts by ids. Added tokens
/// must be in `spec` already.
Status detail::setByteVocab(const RawVocab &raw, TokenizerSpec &spec) {
  std::unordered_map<std::string_view, uint32_t> ids;
  for (uint32_t id = 0; id < raw.tokens.size(); ++id)
    if (!raw.tokens[id].empty())
      ids.emplace(raw.tokens[id], id);

  spec.merges.clear();
  // The tokens that some merge reads or makes: the model can reach them.
  std::vector<bool> merged(raw.tokens.size());
  for (const auto &[left, right] : raw.merges) {
    auto a = ids.find(left), b = ids.find(right);
    auto joined = ids.find(left + right);
    if (a == ids.end() || b == ids.end() || joined == ids.end())
      return Status::error(
          Code::BadFile,
          "merge '%s %s' names tokens that the vocabulary does not have",
          left.c_str(), right.c_str());
    spec.merges.push_back({a->second, b->second});
    for (auto &it : {a, b, joined})
      merged[it->second] = true;
  }

  uint32_t count = static_cast<uint32_t>(raw.tokens.size());
  for (const AddedToken &token : spec.added)
    count = std::max(count, token.id + 1);
  std::vector<bool> isAdded(count);
  for (const AddedToken &token : spec.added)
    isAdded[token.id] = true;

  spec.vocab.assign(count, "");
  std::vector<uint32_t> literal;
  for (uint32_t id = 0; id < raw.tokens.size(); ++id) {
    std::string bytes;
    bool standsForBytes = decodeStandIns(raw.tokens[id], bytes);
    // The model reaches an added token by a merge or as a single byte only.
    bool reachable = merged[id] || bytes.size() == 1;
    if (standsForBytes && (reachable || !isAdded[id]))
      spec.vocab[id] = std::move(bytes);
    else if (!standsForBytes && !isAdded[id])
      literal.push_back(id);
  }
  // A text that no bytes encode to can still be decoded, unless it would
  // shadow a token that the model does produce.
  std::unordered_map<std::string_view, uint32_t> texts;
  for (uint32_t id = 0; id < spec.vocab.size(); ++id)
    texts.emplace(spec.vocab[id], id);
  for (uint32_t id : literal)
    if (!texts.count(raw.tokens[id]))
      spec.vocab[id] = raw.tokens[id];
  return {};
}

/// Chat models end a turn with a token that many files do not list as a stop.
/// Without these a model would go on to write the user's next turn.
void detail::addKnownStops(TokenizerSpec &spec) {
  static constexpr std::string_view names[] = {
      "<|im_end|>", "<|eot_id|>",    "<|end_of_text|>", "<|endoftext|>",
      "<|end|>",    "<end_of_turn>", "<|eom_id|>"};
  std::vector<uint32_t> &stop = spec.stop;
  if (spec.eos != TokenizerSpec::kNone)
    stop.push_back(static_cast<uint32_t>(spec.eos));
  for (const AddedToken &token : spec.added)
    if (std::find(std::begin(names), std::end(names), token.text) !=
        std::end(names))
      stop.push_back(token.id);
  std::sort(stop.begin(), stop.end());
  stop.erase(std::unique(stop.begin(), stop.end()), stop.end());
}

//===----------------------------------------------------------------------===//
// GGUF
//===----------------------------------------------------------------------===//

namespace {
/// tokenizer.ggml.token_type; 1 is normal, 5 unused, 6 a byte.
enum GgufTokenType { kUnknown = 2, kControl = 3, kUserDefined = 4 };

struct PreTokenizer {
  std::string_view name;
  TokenizerSplit split;
  bool splitDigits;
  bool addBos; ///< What holds when the file does not say.
};
} // namespace

/// GGUF names the pre-tokenizer instead of carrying its expression. The names
/// are llama.cpp's.
static constexpr PreTokenizer kPreTokenizers[] = {
    {"gpt-2", TokenizerSplit::Gpt2, false, false},
    {"gpt2", TokenizerSplit::Gpt2, false, false},
    {"phi-2", TokenizerSplit::Gpt2, false, false},
    {"mpt", TokenizerSplit::Gpt2, false, false},
    {"olmo", TokenizerSplit::Gpt2, false, false},
    {"smollm", TokenizerSplit::Gpt2, true, false},
    {"starcoder", TokenizerSplit::Gpt2, true, false},
    {"refact", TokenizerSplit::Gpt2, true, false},
    {"codeshell", TokenizerSplit::Gpt2, true, false},
    {"llama-bpe", TokenizerSplit::Llama3, false, true},
    {"llama3", TokenizerSplit::Llama3, false, true},
    {"llama-v3", TokenizerSplit::Llama3, false, true},
    {"qwen2", TokenizerSplit::Qwen2, false, false},
    {"deepseek-r1-qwen", TokenizerSplit::Qwen2, false, false},
    {"stablelm2", TokenizerSplit::Qwen2, false, false},
};

static Status setGgufBytes(const GgufTokenizer &gguf, TokenizerSpec &spec) {
  const PreTokenizer *pre =
      std::find_if(std::begin(kPreTokenizers), std::end(kPreTokenizers),
                   [&](const PreTokenizer &p) { return p.name == gguf.pre; });
  if (pre == std::end(kPreTokenizers))
    return Status::error(
        Code::Unsupported,
        "pre-tokenizer '%s' is not supported; supported are gpt-2, smollm, "
        "starcoder, llama-bpe, qwen2 and their relatives",
        gguf.pre.c_str());
  spec.model = TokenizerModel::ByteBpe;
  spec.split = pre->split;
  spec.splitDigits = pre->splitDigits;
  spec.prefixSpace = gguf.addSpacePrefix.value_or(false);
  // The file's unknown token is not the model's: bytes without a token are
  // skipped, by the program that wrote it and by the reference alike.
  spec.unknown = TokenizerSpec::kNone;
  // The file does not say it; tokenizer.json of Llama 3 does.
  spec.ignoreMerges = pre->split == TokenizerSplit::Llama3;
  bool qwen = gguf.pre == "qwen2" || gguf.pre == "deepseek-r1-qwen";
  spec.normalizer = qwen ? TokenizerNormalizer::Nfc : TokenizerNormalizer::None;

  RawVocab raw;
  raw.tokens = gguf.tokens;
  for (const std::string &merge : gguf.merges) {
    // The left part has at least one character, so the search begins behind it.
    size_t space = merge.find(' ', 1);
    if (space == std::string::npos)
      return Status::error(Code::BadFile, "merge '%s' does not have two parts",
                           merge.c_str());
    raw.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  GIST_TRY(setByteVocab(raw, spec));
  // llama.cpp adds BOS by default for Llama 3 alone of these.
  if (gguf.addBos.value_or(pre->addBos) && gguf.bos)
    spec.prefix.push_back(*gguf.bos);
  if (gguf.addEos.value_or(false) && gguf.eos)
    spec.suffix.push_back(*gguf.eos);
  return {};
}

/// Files of this kind mark the pieces that begin a word, with U+2581, where
/// BERT marks the others.
static void setGgufWordPieces(const GgufTokenizer &gguf, TokenizerSpec &spec) {
  static constexpr std::string_view wordStart = "\u2581";
  spec.model = TokenizerModel::WordPiece;
  spec.split = TokenizerSplit::None;
  spec.normalizer = TokenizerNormalizer::Bert;
  spec.cleanText = spec.splitChinese = true;
  spec.stripAccents = spec.lowercase = true;
  spec.wordPrefix = "##";
  // The default of BERT's WordPiece; GGUF has no key for it.
  spec.maxWordChars = 100;
  std::vector<bool> isAdded(gguf.tokens.size());
  for (const AddedToken &token : spec.added)
    isAdded[token.id] = true;
  for (uint32_t id = 0; id < gguf.tokens.size(); ++id) {
    const std::string &token = gguf.tokens[id];
    if (isAdded[id])
      // An added token is compared with the text as it is, so it has no prefix.
      spec.vocab.push_back(token);
    else if (token.starts_with(wordStart))
      spec.vocab.push_back(token.substr(wordStart.size()));
    else
      spec.vocab.push_back(spec.wordPrefix + token);
  }
  if (gguf.separator)
    spec.eos = static_cast<int32_t>(*gguf.separator);
  // What is not said in the file holds for BERT: CLS and SEP are added.
  if (spec.bos != TokenizerSpec::kNone && gguf.addBos.value_or(true))
    spec.prefix.push_back(static_cast<uint32_t>(spec.bos));
  if (spec.eos != TokenizerSpec::kNone && gguf.addEos.value_or(true))
    spec.suffix.push_back(static_cast<uint32_t>(spec.eos));
}

/// SentencePiece's BPE. What the file does not say is what Llama 2 has.
static Status setGgufPieces(const GgufTokenizer &gguf, TokenizerSpec &spec) {
  spec.model = TokenizerModel::ScoreBpe;
  spec.split = TokenizerSplit::None;
  spec.normalizer = TokenizerNormalizer::Spaces;
  spec.prefixSpace = gguf.addSpacePrefix.value_or(true);
  spec.removeExtraSpaces = gguf.removeExtraSpaces.value_or(false);
  spec.leadingSpace =
      spec.prefixSpace ? LeadingSpace::DropOne : LeadingSpace::Keep;
  RawPieces pieces{gguf.tokens, gguf.scores, gguf.tokenTypes};
  // Pieces of runs of spaces, which the user defined, have spaces here where
  // tokenizer.model has marks.
  for (size_t id = 0; id < std::min(pieces.texts.size(), pieces.types.size());
       ++id)
    if (pieces.types[id] == kUserDefined)
      pieces.texts[id] = markSpaces(pieces.texts[id]);
  // Some files name the unknown token by its id alone.
  bool hasUnknown = std::find(pieces.types.begin(), pieces.types.end(),
                              kUnknown) != pieces.types.end();
  if (!hasUnknown && gguf.unknown && *gguf.unknown < pieces.types.size())
    pieces.types[*gguf.unknown] = kUnknown;
  GIST_TRY(setPieces(std::move(pieces), spec));
  if (gguf.addBos.value_or(true) && gguf.bos)
    spec.prefix.push_back(*gguf.bos);
  if (gguf.addEos.value_or(false) && gguf.eos)
    spec.suffix.push_back(*gguf.eos);
  return {};
}

Status gist::importTokenizer(const GgufTokenizer &gguf, TokenizerSpec &spec) {
  if (gguf.tokens.empty())
    return Status::error(Code::NotFound, "the file holds no tokenizer");
  if (!gguf.tokenTypes.empty() && gguf.tokenTypes.size() != gguf.tokens.size())
    return Status::error(Code::BadFile,
                         "the file has %zu token types for %zu tokens",
                         gguf.tokenTypes.size(), gguf.tokens.size());
  TokenizerSpec result;
  for (auto [from, to] :
       {std::pair(&gguf.bos, &result.bos), std::pair(&gguf.eos, &result.eos),
        std::pair(&gguf.unknown, &result.unknown),
        std::pair(&gguf.pad, &result.pad),
        std::pair(&gguf.mask, &result.mask)}) {
    if (!from->has_value())
      continue;
    if (**from >= gguf.tokens.size())
      return Status::error(Code::BadFile,
                           "special token %u is outside a vocabulary of %zu",
                           **from, gguf.tokens.size());
    *to = static_cast<int32_t>(**from);
  }
  // setPieces does it for pieces.
  bool hasAdded = gguf.model != "llama";
  for (uint32_t id = 0; hasAdded && id < gguf.tokenTypes.size(); ++id) {
    int32_t type = gguf.tokenTypes[id];
    // BERT's [UNK] is a special token. In byte-level files it plays no part
    // (see setGgufBytes).
    bool added = type == kControl || type == kUserDefined ||
                 (type == kUnknown && gguf.model == "bert");
    if (!added || gguf.tokens[id].empty())
      continue;
    AddedToken token;
    token.text = gguf.tokens[id];
    token.id = id;
    token.special = type != kUserDefined;
    result.added.push_back(std::move(token));
  }
  result.chatTemplate = gguf.chatTemplate;

  if (gguf.model == "gpt2")
    GIST_TRY(setGgufBytes(gguf, result));
  else if (gguf.model == "bert")
    setGgufWordPieces(gguf, result);
  else if (gguf.model == "llama")
    GIST_TRY(setGgufPieces(gguf, result));
  else
    return Status::error(
        Code::Unsupported,
        "tokenizer model '%s' is not supported; supported are "
        "gpt2 (byte-level BPE), llama (SentencePiece) and bert "
        "(WordPiece)",
        gguf.model.c_str());
  // verify() checks the id.
  if (gguf.endOfTurn)
    result.stop.push_back(*gguf.endOfTurn);
  addKnownStops(result);
  GIST_TRY(result.verify());
  spec = std::move(result);
  return {};
}
