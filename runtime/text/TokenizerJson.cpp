//===- TokenizerJson.cpp - The parts of tokenizer.json --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads tokenizer.json. What this runtime cannot do exactly as the reference
// does is an error that names it: a tokenizer that is nearly right makes a
// model slightly worse, which goes unnoticed.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerJson.h"

#include "runtime/text/TokenizerImport.h"

#include <algorithm>
#include <utility>

using namespace gist;
using namespace gist::detail;

//===----------------------------------------------------------------------===//
// Values that may have any type
//===----------------------------------------------------------------------===//

/// The member of an object; a null value if there is none.
const json &detail::member(const json &object, const char *key) {
  static const json null;
  if (!object.is_object())
    return null;
  auto it = object.find(key);
  return it == object.end() ? null : *it;
}

std::string detail::textOf(const json &value) {
  return value.is_string() ? value.get_ref<const std::string &>()
                           : std::string();
}

bool detail::flagOf(const json &value, bool missing) {
  return value.is_boolean() ? value.get<bool>() : missing;
}

std::string detail::typeOf(const json &object) {
  return textOf(member(object, "type"));
}

/// An id. Their number is bounded by the limit on tokens, so that a lying file
/// cannot ask for a huge table.
Status detail::idOf(const json &value, const char *what, uint32_t &id) {
  int64_t number = integerOf(value).value_or(-1);
  if (number < 0 || number >= TokenizerSpec::kMaxTokens)
    return Status::error(Code::BadFile, "%s: the id is not a number below %u",
                         what, TokenizerSpec::kMaxTokens);
  id = static_cast<uint32_t>(number);
  return {};
}

//===----------------------------------------------------------------------===//
// The parts of tokenizer.json
//===----------------------------------------------------------------------===//

Status detail::readVocab(const json &object, std::vector<std::string> &tokens) {
  if (!object.is_object() || object.empty())
    return Status::error(Code::BadFile, "the tokenizer has no vocabulary");
  uint32_t count = 0, id;
  for (const auto &entry : object.items()) {
    GIST_TRY(idOf(entry.value(), "vocabulary", id));
    count = std::max(count, id + 1);
  }
  // A file that names one token with a huge id would ask for a huge table.
  // Vocabularies have few holes.
  if (count / 4 > object.size() + 1024)
    return Status::error(Code::BadFile,
                         "the vocabulary has %zu tokens but ids up to %u",
                         object.size(), count - 1);
  tokens.assign(count, "");
  for (const auto &entry : object.items()) {
    GIST_TRY(idOf(entry.value(), "vocabulary", id));
    std::string &token = tokens[id];
    // A map from texts to ids may name one id twice. Which text is decoded
    // would then depend on the order of the JSON.
    if (!token.empty())
      return Status::error(Code::BadFile,
                           "tokens '%s' and '%s' have the same id",
                           token.c_str(), entry.key().c_str());
    token = entry.key();
  }
  return {};
}

/// The order is kept: where two tokens have one text, the first counts.
Status detail::readAddedTokens(const json &list, TokenizerSpec &spec) {
  if (list.is_null())
    return {};
  if (!list.is_array())
    return Status::error(Code::BadFile, "added_tokens is not a list");
  for (const json &entry : list) {
    AddedToken token;
    token.text = textOf(member(entry, "content"));
    GIST_TRY(idOf(member(entry, "id"), "added_tokens", token.id));
    token.special = flagOf(member(entry, "special"));
    token.singleWord = flagOf(member(entry, "single_word"));
    token.stripLeft = flagOf(member(entry, "lstrip"));
    token.stripRight = flagOf(member(entry, "rstrip"));
    token.normalized = flagOf(member(entry, "normalized"));
    spec.added.push_back(std::move(token));
  }
  return {};
}

Status detail::readMerges(const json &list, RawVocab &raw) {
  if (!list.is_array())
    return Status::error(Code::BadFile, "the BPE model has no merges");
  for (const json &entry : list) {
    // Newer files write a pair; older ones a text with a space between, which
    // cannot say a token that has a space.
    if (entry.is_array() && entry.size() == 2) {
      raw.merges.emplace_back(textOf(entry[0]), textOf(entry[1]));
      continue;
    }
    std::string text = textOf(entry);
    size_t space = text.find(' ');
    if (space == std::string::npos)
      return Status::error(Code::BadFile, "merge '%s' does not have two parts",
                           text.c_str());
    raw.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return {};
}

static Status readNormalizer(const json &object, TokenizerSpec &spec) {
  if (object.is_null())
    return {};
  std::string type = typeOf(object);
  const json &steps = member(object, "normalizers");
  bool isSpaces = false;
  GIST_TRY(readSpaceNormalizer(object, spec, isSpaces));
  if (isSpaces)
    return {};
  // A sequence of one step is common. Several steps are not supported.
  if (type == "Sequence" && steps.is_array() && steps.size() <= 1)
    return steps.empty() ? Status() : readNormalizer(steps[0], spec);
  if (type == "NFC") {
    spec.normalizer = TokenizerNormalizer::Nfc;
    return {};
  }
  if (type == "BertNormalizer") {
    spec.normalizer = TokenizerNormalizer::Bert;
    spec.cleanText = flagOf(member(object, "clean_text"), true);
    spec.splitChinese = flagOf(member(object, "handle_chinese_chars"), true);
    spec.lowercase = flagOf(member(object, "lowercase"), true);
    // null means: as `lowercase`.
    spec.stripAccents = flagOf(member(object, "strip_accents"), spec.lowercase);
    return {};
  }
  return Status::error(Code::Unsupported,
                       "normalizer '%s' is not supported; supported are NFC, "
                       "BertNormalizer, and Prepend with Replace for spaces",
                       type.c_str());
}

/// The published expressions, as they stand in files.
/// An expression is compared as text. Each has a matcher of its own in
/// TokenizerSplit.cpp, because the runtime has no regular expressions with
/// Unicode classes.
static bool splitOfExpression(std::string_view expression,
                              TokenizerSplit &split) {
  static constexpr std::pair<std::string_view, TokenizerSplit> known[] = {
      {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
       TokenizerSplit::Gpt2},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       TokenizerSplit::Llama3},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       TokenizerSplit::Qwen2},
  };
  for (const auto &[text, value] : known) {
    if (text != expression)
      continue;
    split = value;
    return true;
  }
  return false;
}

/// Takes [Digits] [Split] ByteLevel, in this order.
static Status readBytePreTokenizer(const json &object, TokenizerSpec &spec) {
  json steps = json::array();
  if (typeOf(object) == "Sequence")
    steps = member(object, "pretokenizers");
  else
    steps.push_back(object);

  spec.split = TokenizerSplit::None;
  std::string previous;
  for (const json &step : steps) {
    std::string type = typeOf(step);
    bool last = &step == &steps.back();
    if (type == "Digits" && previous.empty() && !last &&
        flagOf(member(step, "individual_digits"))) {
      spec.splitDigits = true;
    } else if (type == "Split" && previous != "Split" && !last) {
      std::string expression = textOf(member(member(step, "pattern"), "Regex"));
      // Both forms keep what matches: words are isolated, or all that is not a
      // word is removed. The expressions match everything, so nothing is lost.
      bool isolates = textOf(member(step, "behavior")) == "Isolated" &&
                      !flagOf(member(step, "invert"));
      bool keeps = textOf(member(step, "behavior")) == "Removed" &&
                   flagOf(member(step, "invert"));
      if (!(isolates || keeps) || !splitOfExpression(expression, spec.split))
        return Status::error(
            Code::Unsupported,
            "the pre-tokenizer's expression '%s' is not supported; supported "
            "are those of GPT-2, Llama 3 and Qwen2",
            expression.c_str());
    } else if (type == "ByteLevel" && last) {
      spec.prefixSpace = flagOf(member(step, "add_prefix_space"));
      if (flagOf(member(step, "use_regex"), true)) {
        if (spec.split != TokenizerSplit::None)
          return Status::error(Code::Unsupported,
                               "a pre-tokenizer with two expressions is not "
                               "supported");
        spec.split = TokenizerSplit::Gpt2;
      }
      return {};
    } else {
      return Status::error(
          Code::Unsupported,
          "pre-tokenizer '%s' is not supported here; supported for BPE is "
          "ByteLevel, after Digits (individual_digits) or Split",
          type.c_str());
    }
    previous = std::move(type);
  }
  return Status::error(Code::Unsupported,
                       "a BPE model without the pre-tokenizer ByteLevel is not "
                       "supported");
}

/// TemplateProcessing: the special tokens around the text.
/// `single` is the form for one text. The form for a pair is not read.
static Status readTemplate(const json &object, TokenizerSpec &spec) {
  bool after = false;
  for (const json &step : member(object, "single")) {
    if (!member(step, "Sequence").is_null()) {
      after = true;
      continue;
    }
    std::string name = textOf(member(member(step, "SpecialToken"), "id"));
    const json &ids =
        member(member(member(object, "special_tokens"), name.c_str()), "ids");
    if (!ids.is_array())
      return Status::error(Code::BadFile,
                           "the post-processor's token '%s' has no ids",
                           name.c_str());
    for (const json &value : ids) {
      uint32_t id;
      GIST_TRY(idOf(value, "post-processor", id));
      (after ? spec.suffix : spec.prefix).push_back(id);
    }
  }
  return {};
}

static Status readPostProcessor(const json &object, TokenizerSpec &spec) {
  std::string type = typeOf(object);
  if (object.is_null() || type == "ByteLevel") // Moves offsets only.
    return {};
  if (type == "Sequence") {
    for (const json &step : member(object, "processors"))
      GIST_TRY(readPostProcessor(step, spec));
    return {};
  }
  if (type == "TemplateProcessing")
    return readTemplate(object, spec);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    const json &cls = member(object, "cls"), &sep = member(object, "sep");
    uint32_t first, last;
    if (!cls.is_array() || cls.size() != 2 || !sep.is_array() ||
        sep.size() != 2)
      return Status::error(Code::BadFile, "post-processor %s needs cls and sep",
                           type.c_str());
    // Each is a pair of text and id.
    GIST_TRY(idOf(cls[1], "post-processor", first));
    GIST_TRY(idOf(sep[1], "post-processor", last));
    spec.prefix.push_back(first);
    spec.suffix.push_back(last);
    return {};
  }
  return Status::error(
      Code::Unsupported,
      "post-processor '%s' is not supported; supported are ByteLevel, "
      "TemplateProcessing, BertProcessing and RobertaProcessing",
      type.c_str());
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Added tokens first, as the library does. Only used while importing;
/// Tokenizer::findToken has an index.
int32_t detail::findToken(const TokenizerSpec &spec, const std::string &text) {
  for (const AddedToken &token : spec.added)
    if (token.text == text)
      return static_cast<int32_t>(token.id);
  auto it = std::find(spec.vocab.begin(), spec.vocab.end(), text);
  return text.empty() || it == spec.vocab.end()
             ? TokenizerSpec::kNone
             : static_cast<int32_t>(it - spec.vocab.begin());
}

static Status readBpe(const json &root, TokenizerSpec &spec) {
  const json &model = member(root, "model");
  // These belong to character-level BPE, where words end in a mark.
  for (const char *key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!textOf(member(model, key)).empty())
      return Status::error(Code::Unsupported,
                           "a BPE model with %s '%s' is not supported", key,
                           textOf(member(model, key)).c_str());
  // Pieces have no pre-tokenizer or Metaspace; byte-level models have
  // ByteLevel.
  std::string pre = typeOf(member(root, "pre_tokenizer"));
  if (pre.empty() || pre == "Metaspace")
    return readPieceBpe(root, spec);
  if (flagOf(member(model, "byte_fallback")))
    return Status::error(Code::Unsupported,
                         "BPE with byte_fallback and the pre-tokenizer '%s' is "
                         "not supported; supported is byte_fallback with "
                         "Metaspace or without a pre-tokenizer",
                         pre.c_str());
  GIST_TRY(readBytePreTokenizer(member(root, "pre_tokenizer"), spec));
  spec.model = TokenizerModel::ByteBpe;
  spec.ignoreMerges = flagOf(member(model, "ignore_merges"));
  RawVocab raw;
  GIST_TRY(readVocab(member(model, "vocab"), raw.tokens));
  GIST_TRY(readMerges(member(model, "merges"), raw));
  GIST_TRY(setByteVocab(raw, spec));
  spec.unknown = findToken(spec, textOf(member(model, "unk_token")));
  return {};
}

static Status readWordPiece(const json &root, TokenizerSpec &spec) {
  const json &model = member(root, "model");
  std::string pre = typeOf(member(root, "pre_tokenizer"));
  if (pre != "BertPreTokenizer")
    return Status::error(Code::Unsupported,
                         "pre-tokenizer '%s' is not supported here; supported "
                         "for WordPiece is BertPreTokenizer",
                         pre.c_str());
  spec.model = TokenizerModel::WordPiece;
  spec.split = TokenizerSplit::None;
  GIST_TRY(readVocab(member(model, "vocab"), spec.vocab));
  spec.wordPrefix = textOf(member(model, "continuing_subword_prefix"));
  int64_t longest =
      integerOf(member(model, "max_input_chars_per_word")).value_or(100);
  spec.maxWordChars =
      static_cast<uint32_t>(std::clamp<int64_t>(longest, 0, UINT32_MAX));
  spec.unknown = findToken(spec, textOf(member(model, "unk_token")));
  return {};
}

Status detail::readTokenizerJson(std::string_view text, TokenizerSpec &spec) {
  json root;
  GIST_TRY(parseJsonObject(text, root).in("tokenizer.json"));
  // Before the model: setByteVocab must know which ids are added tokens.
  GIST_TRY(readAddedTokens(member(root, "added_tokens"), spec));
  GIST_TRY(readNormalizer(member(root, "normalizer"), spec));
  const json &model = member(root, "model");
  std::string type = typeOf(model);
  // Old files do not name the model; only BPE has merges.
  if (type == "BPE" || (type.empty() && member(model, "merges").is_array()))
    GIST_TRY(readBpe(root, spec));
  else if (type == "WordPiece")
    GIST_TRY(readWordPiece(root, spec));
  else
    return Status::error(Code::Unsupported,
                         "tokenizer model '%s' is not supported; supported are "
                         "BPE and WordPiece",
                         type.c_str());
  return readPostProcessor(member(root, "post_processor"), spec);
}
