//===- Tokenizer.cpp - Text to token ids and back -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text becomes tokens in four steps, in the order of Hugging Face's
// tokenizers:
//
//   1. Added tokens that are looked for in the text as it is are cut out.
//   2. What is between is normalised; added tokens are cut out of that too.
//   3. The rest is split into words.
//   4. The model gives the tokens of each word.
//
// TokenizerDecode.cpp has the way back.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"

#include "runtime/support/OutOfMemory.h"
#include "runtime/text/TokenizerModels.h"
#include "runtime/text/TokenizerPieces.h"
#include "runtime/text/TokenizerSplit.h"
#include "runtime/text/Unicode.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

using namespace gist;

namespace {
/// Lets a map of strings be asked with a view.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// The ids of words already seen in a call: texts repeat their words.
class WordCache {
public:
  const std::vector<int32_t> *find(std::string_view word) const {
    auto it = words.find(word);
    return it == words.end() ? nullptr : &it->second;
  }
  void insert(std::string_view word, std::span<const int32_t> ids) {
    if (word.size() <= kMaxWord && words.size() < kMaxWords)
      words.emplace(word, std::vector<int32_t>(ids.begin(), ids.end()));
  }

private:
  // Long words rarely repeat. The number of words is bounded so that a text
  // without repetition does not fill the memory.
  static constexpr size_t kMaxWord = 64, kMaxWords = 1 << 16;
  std::unordered_map<std::string, std::vector<int32_t>, TextHash,
                     std::equal_to<>>
      words;
};

/// What one call of encode carries around.
/// The vectors are kept between words, so that a long text allocates little.
struct EncodeState {
  EncodeOptions options;
  std::vector<int32_t> &ids;
  WordCache cache;
  BpeModel::Workspace workspace;
  PieceModel::Workspace pieceWorkspace;
  std::vector<std::string_view> parts;
  std::vector<std::string_view> words;
  bool atStart = false; ///< The text at hand begins the whole text.

  /// Appends the ids of `words`, by `encode` where they are not known yet.
  template <typename Encode> void encodeWords(Encode encode) {
    for (std::string_view word : words) {
      if (const std::vector<int32_t> *known = cache.find(word)) {
        ids.insert(ids.end(), known->begin(), known->end());
        continue;
      }
      size_t before = ids.size();
      encode(word);
      cache.insert(word, std::span(ids).subspan(before));
    }
  }
};
} // namespace

/// The indices point into `spec` and `normalizedTexts` by views. Impl stays
/// where it is when a Tokenizer moves, so they stay valid.
struct Tokenizer::Impl {
  TokenizerSpec spec;
  TextIndex vocab;
  BpeModel bpe;
  WordPieceModel wordPiece;
  PieceModel pieces;
  LongestMatch alphabet;
  /// Added tokens looked for in the text as it is, and in the normalised one;
  /// the values are places in spec.added.
  LongestMatch rawAdded, normalizedAdded;
  std::vector<std::string> normalizedTexts;
  /// Indexed by id: an index into spec.added, or -1.
  std::vector<int32_t> addedOfId;
  /// Indexed by id, for pieces: the decoded text, and whether it is one byte.
  std::vector<std::string> pieceTexts;
  std::vector<bool> isByte;

  Status build();
  void encodeRaw(std::string_view text, EncodeState &state) const;
  void encodeNormalized(std::string_view text, EncodeState &state) const;
  void encodeWords(std::string_view text, EncodeState &state) const;
  void encodeBytes(std::string_view text, EncodeState &state) const;
  void encodeBpeWords(EncodeState &state) const;
  void encodeAlphabet(std::string_view text, EncodeState &state) const;
  void encodePieces(std::string_view text, EncodeState &state) const;
  void buildPieceTexts();

  template <typename EncodeRest>
  void splitAdded(const LongestMatch &matcher, std::string_view text,
                  EncodeState &state, EncodeRest encodeRest) const;
};

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Tokenizer::Tokenizer() : impl(std::make_unique<Impl>()) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;

Status Tokenizer::Impl::build() {
  vocab.reset(spec.vocab.size());
  for (uint32_t id = 0; id < spec.vocab.size(); ++id)
    // An empty text is a hole: the model cannot produce that id.
    if (!spec.vocab[id].empty())
      vocab.insert(spec.vocab[id], id);

  using Entry = std::pair<std::string_view, uint32_t>;
  std::vector<Entry> raw, normalized;
  // spec.verify() came first: every id of an added token is below this size.
  addedOfId.assign(spec.vocab.size(), -1);
  normalizedTexts.resize(spec.added.size());
  for (uint32_t i = 0; i < spec.added.size(); ++i) {
    const AddedToken &token = spec.added[i];
    addedOfId[token.id] = static_cast<int32_t>(i);
    if (token.normalized) {
      // The text is compared with normalised text, so it is normalised too.
      normalizedTexts[i] = normalizeText(spec, token.text);
      normalized.emplace_back(normalizedTexts[i], i);
    } else {
      raw.emplace_back(token.text, i);
    }
  }
  rawAdded.build(raw);
  normalizedAdded.build(normalized);

  if (hasPieces(spec.model))
    buildPieceTexts();
  switch (spec.model) {
  case TokenizerModel::ByteBpe:
  case TokenizerModel::CharBpe:
    return bpe.build(spec, vocab);
  case TokenizerModel::ScoreBpe:
  case TokenizerModel::Unigram:
    pieces.build(spec);
    return {};
  case TokenizerModel::WordPiece:
    wordPiece.build(spec, vocab);
    return {};
  case TokenizerModel::Alphabet: {
    std::vector<Entry> entries;
    entries.reserve(spec.vocab.size());
    // Special tokens are entries too; encodeAlphabet asks whether they may
    // match.
    for (uint32_t id = 0; id < spec.vocab.size(); ++id)
      entries.emplace_back(spec.vocab[id], id);
    alphabet.build(entries);
    return {};
  }
  }
  return {};
}

void Tokenizer::Impl::buildPieceTexts() {
  size_t count = spec.vocab.size();
  pieceTexts.resize(count);
  isByte.resize(count);
  for (size_t id = 0; id < count; ++id) {
    const std::string &text = spec.vocab[id];
    int byte = byteOfPiece(text);
    isByte[id] = spec.byteFallback && byte >= 0 &&
                 (!hasScores(spec.model) || spec.kinds[id] == PieceKind::Byte);
    pieceTexts[id] = isByte[id] ? std::string(1, static_cast<char>(byte))
                                : unmarkSpaces(text);
  }
}

Status Tokenizer::create(TokenizerSpec spec, Tokenizer &tokenizer) try {
  GIST_TRY(spec.verify());
  Tokenizer result;
  result.impl->spec = std::move(spec);
  GIST_TRY(result.impl->build());
  tokenizer = std::move(result);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

const TokenizerSpec &Tokenizer::spec() const { return impl->spec; }

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// The white space at the end and at the front of a text, in bytes.
static size_t trailingSpace(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    size_t begin = lastUtf8Char(text.substr(0, end));
    if (!(charClass(decodeUtf8(text.substr(begin)).codePoint) & kSpace))
      break;
    end = begin;
  }
  return text.size() - end;
}

static size_t leadingSpace(std::string_view text) {
  size_t size = 0;
  while (size < text.size()) {
    Utf8Char next = decodeUtf8(text.substr(size));
    if (!(charClass(next.codePoint) & kSpace))
      break;
    size += next.size;
  }
  return size;
}

static bool endsInWord(std::string_view text) {
  return !text.empty() &&
         (charClass(decodeUtf8(text.substr(lastUtf8Char(text))).codePoint) &
          kWord);
}

static bool beginsInWord(std::string_view text) {
  return !text.empty() && (charClass(decodeUtf8(text).codePoint) & kWord);
}

/// Gives the text between added tokens to `encodeRest` and appends theirs.
template <typename EncodeRest>
void Tokenizer::Impl::splitAdded(const LongestMatch &matcher,
                                 std::string_view text, EncodeState &state,
                                 EncodeRest encodeRest) const {
  size_t begin = 0; // Of the text not yet encoded.
  for (size_t at = 0; at < text.size();) {
    const AddedToken *token = nullptr;
    size_t size = matcher.match(text.substr(at), [&](uint32_t i) {
      token = &spec.added[i];
      // A special token that may not match does not hide a shorter one that
      // may.
      return state.options.parseSpecial || !token->special;
    });
    if (size == 0) {
      ++at;
      continue;
    }
    size_t first = at, last = at + size;
    at = last;
    // The match is passed over, and its text stays in what is not yet encoded.
    if (token->singleWord &&
        (endsInWord(text.substr(0, first)) || beginsInWord(text.substr(last))))
      continue;
    if (token->stripLeft)
      // Not further back than the token before: its text is taken.
      first -= trailingSpace(text.substr(begin, first - begin));
    if (token->stripRight)
      at = last += leadingSpace(text.substr(last));
    if (first != begin)
      encodeRest(text.substr(begin, first - begin));
    state.ids.push_back(static_cast<int32_t>(token->id));
    begin = last;
  }
  if (begin != text.size())
    encodeRest(text.substr(begin));
}

/// Step 1. Each part between added tokens is normalised by itself, so that a
/// normaliser does not join characters across a token.
void Tokenizer::Impl::encodeRaw(std::string_view text,
                                EncodeState &state) const {
  splitAdded(rawAdded, text, state, [&](std::string_view rest) {
    // The address tells: a part begins the text only if no added token stood in
    // front of it.
    bool begins = rest.data() == text.data();
    state.atStart = begins;
    if (spec.normalizer == TokenizerNormalizer::None) {
      encodeNormalized(rest, state);
      return;
    }
    // A continued text has its space in front from the call before. Later parts
    // get one of their own, unless the model adds it once only.
    bool addPrefix =
        begins ? !state.options.continuesText : !spec.prefixFirstOnly;
    encodeNormalized(normalizeText(spec, rest, addPrefix), state);
  });
}

void Tokenizer::Impl::encodeNormalized(std::string_view text,
                                       EncodeState &state) const {
  bool begins = state.atStart;
  splitAdded(normalizedAdded, text, state, [&](std::string_view rest) {
    state.atStart = begins && rest.data() == text.data();
    encodeWords(rest, state);
  });
}

void Tokenizer::Impl::encodeWords(std::string_view text,
                                  EncodeState &state) const {
  switch (spec.model) {
  case TokenizerModel::ByteBpe: {
    state.parts.clear();
    if (spec.splitDigits)
      splitAtDigits(text, state.parts);
    else
      state.parts.push_back(text);
    for (std::string_view part : state.parts) {
      // The reference adds the space to each part after the digits are split
      // off, not once to the whole text.
      if (spec.prefixSpace && !part.starts_with(' '))
        encodeBytes(" " + std::string(part), state);
      else
        encodeBytes(part, state);
    }
    break;
  }
  case TokenizerModel::WordPiece:
    state.words.clear();
    splitBertWords(text, state.words);
    state.encodeWords(
        [&](std::string_view word) { wordPiece.encode(word, state.ids); });
    break;
  case TokenizerModel::Alphabet:
    encodeAlphabet(text, state);
    break;
  case TokenizerModel::CharBpe:
  case TokenizerModel::ScoreBpe:
  case TokenizerModel::Unigram:
    encodePieces(text, state);
    break;
  }
}

void Tokenizer::Impl::encodePieces(std::string_view text,
                                   EncodeState &state) const {
  std::string marked;
  if (spec.spaceMarks != SpaceMarks::None) {
    bool adds = spec.spaceMarks == SpaceMarks::Always ||
                (spec.spaceMarks == SpaceMarks::First && state.atStart);
    if (state.atStart && state.options.continuesText)
      adds = false;
    // Words are views of `marked`, which lives until they are encoded.
    marked = markSpaces(text);
    if (adds && !marked.starts_with(kSpaceMark))
      marked.insert(0, kSpaceMark);
    text = marked;
  }
  if (hasScores(spec.model)) {
    pieces.encode(text, state.pieceWorkspace, state.ids);
    return;
  }
  state.words.clear();
  if (spec.splitAtMarks)
    splitAtSpaceMarks(text, state.words);
  else
    state.words.push_back(text);
  encodeBpeWords(state);
}

void Tokenizer::Impl::encodeBytes(std::string_view text,
                                  EncodeState &state) const {
  state.words.clear();
  splitText(spec.split, text, state.words);
  encodeBpeWords(state);
}

void Tokenizer::Impl::encodeBpeWords(EncodeState &state) const {
  state.encodeWords([&](std::string_view word) {
    bpe.encode(word, state.workspace, state.ids);
  });
}

/// Entries of the vocabulary where they stand; between them, each run without
/// white space is one unknown token.
void Tokenizer::Impl::encodeAlphabet(std::string_view text,
                                     EncodeState &state) const {
  bool inUnknown = false;
  for (size_t at = 0; at < text.size();) {
    uint32_t id = 0;
    size_t size = alphabet.match(text.substr(at), [&](uint32_t value) {
      id = value;
      int32_t added = addedOfId[value];
      return state.options.parseSpecial || added < 0 ||
             !spec.added[added].special;
    });
    if (size) {
      state.ids.push_back(static_cast<int32_t>(id));
      inUnknown = false;
      at += size;
      continue;
    }
    Utf8Char next = decodeUtf8(text.substr(at));
    bool space = charClass(next.codePoint) & kSpace;
    if (!space && !inUnknown)
      state.ids.push_back(spec.unknown);
    inUnknown = !space;
    at += next.size;
  }
}

void Tokenizer::encode(std::string_view text, std::vector<int32_t> &ids,
                       EncodeOptions options) const {
  // The cache lives for one call: a Tokenizer is const here, and calls may come
  // from several threads.
  // `ids` is appended to, never cleared: a caller may build a prompt in parts.
  EncodeState state{options, ids, {}, {}, {}, {}, {}};
  const TokenizerSpec &spec = impl->spec;
  if (options.addSpecial)
    ids.insert(ids.end(), spec.prefix.begin(), spec.prefix.end());
  if (isUtf8(text))
    impl->encodeRaw(text, state);
  else
    impl->encodeRaw(replaceInvalidUtf8(text), state);
  if (options.addSpecial)
    ids.insert(ids.end(), spec.suffix.begin(), spec.suffix.end());
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// The text of an added token wins: its place in the vocabulary may be a hole.
std::string_view Tokenizer::tokenText(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= impl->addedOfId.size())
    return {};
  int32_t added = impl->addedOfId[id];
  if (added >= 0)
    return impl->spec.added[added].text;
  return impl->pieceTexts.empty() ? impl->spec.vocab[id] : impl->pieceTexts[id];
}

bool Tokenizer::isByte(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < impl->isByte.size() &&
         impl->isByte[id];
}

bool Tokenizer::isSpecial(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= impl->addedOfId.size())
    return false;
  int32_t added = impl->addedOfId[id];
  return added >= 0 && impl->spec.added[added].special;
}

/// Generation ends at any of the stops. eos is one of them even if the file
/// lists others.
bool Tokenizer::isStop(int32_t id) const {
  const TokenizerSpec &spec = impl->spec;
  return id >= 0 && (id == spec.eos ||
                     std::find(spec.stop.begin(), spec.stop.end(),
                               static_cast<uint32_t>(id)) != spec.stop.end());
}

int32_t Tokenizer::findToken(std::string_view text) const {
  for (const AddedToken &token : impl->spec.added)
    if (token.text == text)
      return static_cast<int32_t>(token.id);
  uint32_t id = impl->vocab.find(text);
  return id == TextIndex::kMissing ? TokenizerSpec::kNone
                                   : static_cast<int32_t>(id);
}
