//===- TokenizerJsonPieces.cpp - Pieces of tokenizer.json -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BPE of characters with marks for spaces, as Llama 2's and Mistral's
// tokenizer.json have it: the normalizer or the pre-tokenizer that marks
// spaces, the model, and the decoder that takes the marks away.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerJson.h"
#include "runtime/text/TokenizerPieces.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

using namespace gist;
using namespace gist::detail;

/// The steps of a Sequence, or the object itself as the only one.
static json stepsOf(const json &object, const char *key) {
  if (typeOf(object) == "Sequence")
    return member(object, key);
  return json::array({object});
}

/// Replace with a plain text, from `from` to `to`.
static bool isReplace(const json &step, std::string_view from,
                      std::string_view to) {
  return typeOf(step) == "Replace" &&
         textOf(member(member(step, "pattern"), "String")) == from &&
         textOf(member(step, "content")) == to;
}

Status detail::readSpaceNormalizer(const json &object, TokenizerSpec &spec,
                                   bool &isOne) {
  json steps = stepsOf(object, "normalizers");
  isOne = false;
  if (!steps.is_array() || steps.empty() || steps.size() > 2)
    return {};
  bool prepends = steps.size() == 2;
  if (!isReplace(steps.back(), " ", kSpaceMark) ||
      (prepends && (typeOf(steps[0]) != "Prepend" ||
                    textOf(member(steps[0], "prepend")) != kSpaceMark)))
    return {};
  spec.normalizer = TokenizerNormalizer::Spaces;
  spec.prefixSpace = prepends;
  isOne = true;
  return {};
}

static Status readMetaspace(const json &object, TokenizerSpec &spec) {
  if (object.is_null())
    return {};
  if (textOf(member(object, "replacement")) != kSpaceMark)
    return Status::error(
        Code::Unsupported,
        "pre-tokenizer 'Metaspace' with the mark '%s' is not "
        "supported; supported is U+2581",
        printable(textOf(member(object, "replacement"))).c_str());
  std::string scheme = textOf(member(object, "prepend_scheme"));
  // Older files have add_prefix_space.
  if (scheme.empty())
    scheme =
        flagOf(member(object, "add_prefix_space"), true) ? "always" : "never";
  if (scheme == "always")
    spec.spaceMarks = SpaceMarks::Always;
  else if (scheme == "first")
    spec.spaceMarks = SpaceMarks::First;
  else if (scheme == "never")
    spec.spaceMarks = SpaceMarks::Never;
  else
    return Status::error(Code::Unsupported,
                         "pre-tokenizer 'Metaspace' with the prepend_scheme "
                         "'%s' is not supported",
                         printable(scheme).c_str());
  spec.splitAtMarks = flagOf(member(object, "split"), true);
  return {};
}

/// Replace, ByteFallback, Fuse and Strip, or Metaspace. What they do together
/// is known; any other step, or another order, is not.
static Status readDecoder(const json &root, TokenizerSpec &spec) {
  const json &object = member(root, "decoder");
  std::string pre = typeOf(member(root, "pre_tokenizer"));
  std::string where = pre.empty() ? "without a pre-tokenizer"
                                  : "with the pre-tokenizer '" + pre + "'";
  if (object.is_null())
    return Status::error(Code::Unsupported,
                         "BPE %s and without a decoder is not supported",
                         where.c_str());
  json steps = stepsOf(object, "decoders");
  bool replaces = false, bytes = false, fuses = false, done = false;
  for (const json &step : steps) {
    std::string type = typeOf(step);
    const json &start = member(step, "start"), &stop = member(step, "stop");
    if (done) {
      // Nothing may follow Strip or Metaspace.
    } else if (isReplace(step, kSpaceMark, " ") && !replaces && !fuses) {
      replaces = true;
      continue;
    } else if (type == "ByteFallback" && !bytes && !fuses) {
      bytes = true;
      continue;
    } else if (type == "Fuse" && !fuses) {
      fuses = true;
      continue;
    } else if (type == "Strip" && fuses &&
               textOf(member(step, "content")) == " " && start == 1 &&
               stop == 0) {
      spec.leadingSpace = LeadingSpace::DropOne;
      done = true;
      continue;
    } else if (type == "Metaspace" && steps.size() == 1 &&
               textOf(member(step, "replacement")) == kSpaceMark) {
      std::string scheme = textOf(member(step, "prepend_scheme"));
      bool keeps = scheme.empty()
                       ? !flagOf(member(step, "add_prefix_space"), true)
                       : scheme == "never";
      spec.leadingSpace =
          keeps ? LeadingSpace::Keep : LeadingSpace::DropInFirstToken;
      replaces = done = true;
      continue;
    }
    return Status::error(Code::Unsupported,
                         "decoder '%s' is not supported for BPE %s; supported "
                         "are Metaspace alone, and Replace, ByteFallback, Fuse "
                         "and Strip in this order",
                         printable(type).c_str(), where.c_str());
  }
  if (!replaces || bytes < spec.byteFallback)
    return Status::error(Code::Unsupported, "BPE %s needs a decoder that %s",
                         where.c_str(),
                         replaces ? "has ByteFallback, as its model has "
                                    "byte_fallback"
                                  : "replaces U+2581 by spaces; this one is "
                                    "not supported");
  return {};
}

/// Merges name their parts by text; ids are what counts later.
static Status setCharVocab(RawVocab raw, TokenizerSpec &spec) {
  std::unordered_map<std::string_view, uint32_t> ids;
  for (uint32_t id = 0; id < raw.tokens.size(); ++id)
    if (!raw.tokens[id].empty())
      ids.emplace(raw.tokens[id], id);
  for (const auto &[left, right] : raw.merges) {
    auto a = ids.find(left), b = ids.find(right);
    if (a == ids.end() || b == ids.end() || !ids.contains(left + right))
      return Status::error(
          Code::BadFile,
          "merge '%s %s' names tokens that the vocabulary does not have",
          printable(left).c_str(), printable(right).c_str());
    spec.merges.push_back({a->second, b->second});
  }
  spec.vocab = std::move(raw.tokens);
  return {};
}

Status detail::readPieceBpe(const json &root, TokenizerSpec &spec) {
  const json &model = member(root, "model");
  spec.model = TokenizerModel::CharBpe;
  spec.split = TokenizerSplit::None;
  spec.byteFallback = flagOf(member(model, "byte_fallback"));
  spec.fuseUnknown = flagOf(member(model, "fuse_unk"));
  spec.ignoreMerges = flagOf(member(model, "ignore_merges"));
  if (member(model, "dropout").is_number() && member(model, "dropout") != 0)
    return Status::error(Code::Unsupported,
                         "a BPE model with dropout is not supported");
  GIST_TRY(readMetaspace(member(root, "pre_tokenizer"), spec));
  GIST_TRY(readDecoder(root, spec));
  RawVocab raw;
  GIST_TRY(readVocab(member(model, "vocab"), raw.tokens));
  GIST_TRY(readMerges(member(model, "merges"), raw));
  GIST_TRY(setCharVocab(std::move(raw), spec));
  spec.unknown = findToken(spec, textOf(member(model, "unk_token")));
  return {};
}
