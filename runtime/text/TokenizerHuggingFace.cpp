//===- TokenizerHuggingFace.cpp - Hugging Face tokenizer files ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the tokenizer of a Hugging Face folder. A folder has tokenizer.json (a
// "fast" tokenizer, which says everything), or the older vocab.json with
// merges.txt, tokenizer.model, or vocab.txt (the "slow" tokenizers, where the
// class in the library's code knows the rest). The other files add special
// tokens, stops and the chat template.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerImport.h"
#include "runtime/text/TokenizerJson.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using namespace gist;
using namespace gist::detail;

//===----------------------------------------------------------------------===//
// Vocabularies of slow tokenizers
//===----------------------------------------------------------------------===//

/// The lines of a text file, with either kind of line end.
static std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// GPT-2's form: printable stand-ins for bytes, one merge on a line.
static Status readVocabAndMerges(const HuggingFaceTokenizer &files,
                                 TokenizerSpec &spec) {
  json vocab;
  GIST_TRY(parseJsonObject(files.vocabJson, vocab).in("vocab.json"));
  RawVocab raw;
  GIST_TRY(readVocab(vocab, raw.tokens));
  for (const std::string &line : linesOf(files.mergesTxt)) {
    size_t space = line.find(' ');
    // The first line names the version of the format.
    if (space != std::string::npos && !line.starts_with("#version"))
      raw.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return setByteVocab(raw, spec);
}

/// One token on each line; the line is the id. The options are the defaults of
/// BertTokenizer and EsmTokenizer.
static void readVocabLines(const HuggingFaceTokenizer &files,
                           const json &config, TokenizerSpec &spec) {
  spec.vocab = linesOf(files.vocabTxt);
  spec.split = TokenizerSplit::None;
  if (textOf(member(config, "tokenizer_class")).starts_with("Esm")) {
    spec.model = TokenizerModel::Alphabet;
    return;
  }
  spec.model = TokenizerModel::WordPiece;
  spec.normalizer = TokenizerNormalizer::Bert;
  spec.cleanText = true;
  spec.splitChinese = flagOf(member(config, "tokenize_chinese_chars"), true);
  spec.lowercase = flagOf(member(config, "do_lower_case"), true);
  // Without an answer accents go when case goes.
  spec.stripAccents = flagOf(member(config, "strip_accents"), spec.lowercase);
  spec.wordPrefix = "##";
  spec.maxWordChars = 100;
}

//===----------------------------------------------------------------------===//
// tokenizer_config.json and the rest
//===----------------------------------------------------------------------===//

/// The text of bos_token and its like: a string, or an object with `content`.
static std::string specialText(const json &config, const json &map,
                               const char *key) {
  // tokenizer_config.json overrules special_tokens_map.json.
  for (const json *source : {&config, &map}) {
    const json &value = member(*source, key);
    std::string text =
        value.is_object() ? textOf(member(value, "content")) : textOf(value);
    if (!text.empty())
      return text;
  }
  return {};
}

/// Sets an id from its text and makes it a special token if it is not one.
static void setSpecial(TokenizerSpec &spec, const std::string &text,
                       int32_t &id) {
  if (text.empty())
    return;
  int32_t found = findToken(spec, text);
  // A name that the vocabulary does not have is left out: the model has no
  // weights for it.
  if (found == TokenizerSpec::kNone)
    return;
  id = found;
  auto isIt = [&](const AddedToken &token) { return token.text == text; };
  if (std::none_of(spec.added.begin(), spec.added.end(), isIt)) {
    AddedToken token;
    token.text = text;
    token.id = static_cast<uint32_t>(found);
    token.special = true;
    spec.added.push_back(std::move(token));
  }
}

static void readSpecials(const json &config, const json &map,
                         TokenizerSpec &spec) {
  auto set = [&](const char *key, int32_t &id, const char *fallback) {
    std::string text = specialText(config, map, key);
    setSpecial(spec, text.empty() ? fallback : text, id);
  };
  bool bert = spec.model == TokenizerModel::WordPiece;
  bool esm = spec.model == TokenizerModel::Alphabet;
  // The fallbacks are the defaults of the tokenizers' classes.
  if (bert || esm) {
    set("cls_token", spec.bos, bert ? "[CLS]" : "<cls>");
    set(bert ? "sep_token" : "eos_token", spec.eos, bert ? "[SEP]" : "<eos>");
    set("unk_token", spec.unknown, bert ? "[UNK]" : "<unk>");
    set("mask_token", spec.mask, bert ? "[MASK]" : "<mask>");
    set("pad_token", spec.pad, bert ? "[PAD]" : "<pad>");
    return;
  }
  set("bos_token", spec.bos, "");
  set("eos_token", spec.eos, "");
  set("pad_token", spec.pad, "");
  int32_t unused = TokenizerSpec::kNone;
  set("unk_token", unused, ""); // Special, but not what the model falls to.
}

/// The object of tokenizer_config.json maps ids to tokens. It becomes the list
/// that tokenizer.json has, so that one function reads both.
static Status readAddedTokensDecoder(const json &config, TokenizerSpec &spec) {
  json added = json::array();
  for (const auto &entry : member(config, "added_tokens_decoder").items()) {
    json token = entry.value();
    if (token.is_object())
      token["id"] = std::strtoull(entry.key().c_str(), nullptr, 10);
    added.push_back(std::move(token));
  }
  return readAddedTokens(added, spec);
}

/// tokenizer.model, and what LlamaTokenizer's options change of it.
static Status readSentencePieceFolder(const HuggingFaceTokenizer &files,
                                      const json &config, TokenizerSpec &spec) {
  GIST_TRY(readSentencePieceSpec(files.sentencePiece, spec));
  // The pieces' own tokens stand behind: of two with one text the first counts.
  std::vector<AddedToken> own = std::exchange(spec.added, {});
  GIST_TRY(readAddedTokensDecoder(config, spec));
  spec.added.insert(spec.added.end(), own.begin(), own.end());
  if (!flagOf(member(config, "add_prefix_space"), true)) {
    spec.prefixSpace = false;
    spec.leadingSpace = LeadingSpace::Keep;
  }
  spec.prefixFirstOnly = !flagOf(member(config, "legacy"), true);
  return {};
}

/// add_bos_token and add_eos_token overrule the post-processor.
static void readAddFlags(const json &config, TokenizerSpec &spec) {
  const json &addBos = member(config, "add_bos_token");
  const json &addEos = member(config, "add_eos_token");
  if (addBos.is_boolean() && spec.bos != TokenizerSpec::kNone) {
    spec.prefix.clear();
    if (addBos.get<bool>())
      spec.prefix.push_back(static_cast<uint32_t>(spec.bos));
  }
  if (addEos.is_boolean() && spec.eos != TokenizerSpec::kNone) {
    spec.suffix.clear();
    if (addEos.get<bool>())
      spec.suffix.push_back(static_cast<uint32_t>(spec.eos));
  }
}

/// A template, or a list of named ones of which "default" is meant.
static std::string readTemplate(const json &value) {
  if (!value.is_array())
    return textOf(value);
  for (const json &entry : value)
    if (textOf(member(entry, "name")) == "default")
      return textOf(member(entry, "template"));
  return {};
}

/// eos_token_id of a model: one id or several that end a text.
static Status readStops(const json &value, TokenizerSpec &spec) {
  if (value.is_null())
    return {};
  const json list = value.is_array() ? value : json::array({value});
  for (const json &entry : list) {
    uint32_t id;
    GIST_TRY(idOf(entry, "eos_token_id", id));
    // An id beyond the vocabulary can never be produced.
    if (id < spec.vocab.size())
      spec.stop.push_back(id);
  }
  return {};
}

/// On error `spec` is left as it was.
Status gist::importTokenizer(const HuggingFaceTokenizer &files,
                             TokenizerSpec &spec) {
  json config, map, generation;
  if (!files.configJson.empty())
    GIST_TRY(
        parseJsonObject(files.configJson, config).in("tokenizer_config.json"));
  if (!files.specialMapJson.empty())
    GIST_TRY(parseJsonObject(files.specialMapJson, map)
                 .in("special_tokens_map.json"));
  if (!files.generationJson.empty())
    GIST_TRY(parseJsonObject(files.generationJson, generation)
                 .in("generation_config.json"));

  TokenizerSpec result;
  bool slow = files.tokenizerJson.empty();
  if (!slow) {
    GIST_TRY(readTokenizerJson(files.tokenizerJson, result));
  } else if (!files.vocabJson.empty()) {
    result.prefixSpace = flagOf(member(config, "add_prefix_space"));
    GIST_TRY(readAddedTokensDecoder(config, result));
    GIST_TRY(readVocabAndMerges(files, result));
  } else if (!files.sentencePiece.empty()) {
    GIST_TRY(readSentencePieceFolder(files, config, result));
  } else if (!files.vocabTxt.empty()) {
    readVocabLines(files, config, result);
  } else {
    return Status::error(Code::NotFound,
                         "no tokenizer was found; expected tokenizer.json, "
                         "vocab.json, tokenizer.model or vocab.txt");
  }

  // Added tokens may lie behind the vocabulary. Their places there are empty:
  // the model cannot produce them.
  for (const AddedToken &token : result.added)
    result.growVocab(token.id + size_t{1});
  readSpecials(config, map, result);
  // A fast tokenizer's post-processor says what goes around a text. A slow one
  // knows it by its class: BERT and ESM put CLS before and SEP behind, Llama
  // puts BOS before.
  bool pieces = hasPieces(result.model);
  if (slow && result.model != TokenizerModel::ByteBpe) {
    if (result.bos != TokenizerSpec::kNone)
      result.prefix.push_back(static_cast<uint32_t>(result.bos));
    if (result.eos != TokenizerSpec::kNone && !pieces)
      result.suffix.push_back(static_cast<uint32_t>(result.eos));
  }
  if (result.model == TokenizerModel::ByteBpe || pieces)
    readAddFlags(config, result);
  GIST_TRY(readStops(member(generation, "eos_token_id"), result));
  addKnownStops(result);
  result.chatTemplate = files.chatTemplate.empty()
                            ? readTemplate(member(config, "chat_template"))
                            : std::string(files.chatTemplate);
  GIST_TRY(result.verify());
  spec = std::move(result);
  return {};
}
