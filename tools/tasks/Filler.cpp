//===- Filler.cpp - Text in which something is hidden ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Filler.h"

#include <algorithm>

using namespace gist::tasks;
using Words = std::span<const std::string_view>;

static constexpr std::string_view kNouns[] = {
    "anchor",   "apple",    "arrow",   "barrel",   "basket",  "beacon",
    "bell",     "bench",    "bottle",  "bridge",   "bucket",  "butter",
    "cabin",    "camera",   "candle",  "canvas",   "carpet",  "castle",
    "cellar",   "chair",    "chapel",  "cherry",   "circle",  "clock",
    "cloud",    "coast",    "copper",  "cotton",   "cradle",  "crystal",
    "curtain",  "desert",   "diamond", "dinner",   "dollar",  "dragon",
    "drawer",   "engine",   "falcon",  "feather",  "fiddle",  "forest",
    "fountain", "garden",   "ginger",  "glacier",  "glove",   "hammer",
    "harbor",   "helmet",   "honey",   "horizon",  "island",  "jacket",
    "kettle",   "ladder",   "lantern", "lemon",    "letter",  "library",
    "lizard",   "magnet",   "marble",  "market",   "meadow",  "mirror",
    "monkey",   "mountain", "needle",  "notebook", "ocean",   "orchard",
    "oven",     "paddle",   "palace",  "parrot",   "pebble",  "pencil",
    "pepper",   "pillow",   "planet",  "pocket",   "potato",  "prison",
    "rabbit",   "ribbon",   "river",   "rocket",   "saddle",  "sailor",
    "shadow",   "shelter",  "signal",  "silver",   "spider",  "station",
    "statue",   "stone",    "summer",  "table",    "tailor",  "teapot",
    "temple",   "thunder",  "ticket",  "tiger",    "timber",  "tower",
    "trumpet",  "tunnel",   "valley",  "velvet",   "village", "violin",
    "wagon",    "walnut",   "water",   "whistle",  "window",  "winter",
};

static constexpr std::string_view kAdjectives[] = {
    "ancient",  "amber",   "bitter",  "bold",   "brave",   "bright",
    "broken",   "calm",    "careful", "cheap",  "clever",  "cold",
    "crooked",  "curious", "damp",    "dark",   "distant", "dusty",
    "early",    "eager",   "empty",   "famous", "fancy",   "fierce",
    "foreign",  "fragile", "frozen",  "gentle", "golden",  "grand",
    "hidden",   "hollow",  "humble",  "icy",    "jolly",   "kind",
    "lazy",     "little",  "lonely",  "lucky",  "mellow",  "modern",
    "narrow",   "noble",   "old",     "pale",   "patient", "plain",
    "polished", "proud",   "quick",   "quiet",  "rapid",   "rough",
    "round",    "royal",   "rusty",   "sharp",  "shiny",   "silent",
    "simple",   "sleepy",  "small",   "smooth", "solid",   "spare",
    "steady",   "steep",   "strange", "strong", "sunny",   "sweet",
    "tall",     "tender",  "thick",   "tidy",   "tiny",    "upper",
    "warm",     "weary",   "wild",    "wise",   "wooden",  "yellow",
};

static constexpr std::string_view kPeople[] = {
    "teacher",  "farmer",   "baker",   "doctor",   "painter",
    "sailor",   "neighbor", "driver",  "merchant", "singer",
    "gardener", "captain",  "student", "judge",    "carpenter"};

static constexpr std::string_view kVerbs[] = {
    "carried",  "found",   "painted", "repaired",  "sold",   "borrowed",
    "measured", "watched", "cleaned", "described", "bought", "counted",
    "moved",    "lifted",  "admired", "remembered"};

static constexpr std::string_view kTimes[] = {
    "in the morning",     "before noon",      "on the first day of spring",
    "after the rain",     "late at night",    "during the long winter",
    "while others slept", "at the same hour", "a week later",
    "in a great hurry",   "without a word",   "for no clear reason"};

static constexpr std::string_view kPlaces[] = {
    "behind the", "beside the", "not far from the", "in front of the",
    "under the",  "across the", "on the way to the"};

Words gist::tasks::plainNouns() { return kNouns; }
Words gist::tasks::plainAdjectives() { return kAdjectives; }

/// "The old baker sold a lantern beside the quiet river after the rain."
/// Four shapes, so that not every sentence begins alike.
static std::string makeSentence(Random &random) {
  // Words are drawn one statement after the other: the order within an
  // expression would be the compiler's.
  auto phrase = [&](std::initializer_list<Words> lists) {
    std::string text;
    for (Words words : lists) {
      text += text.empty() ? "" : " ";
      text += random.choose<std::string_view>(words);
    }
    return text;
  };
  std::string who = phrase({kAdjectives, kPeople});
  std::string did = phrase({kVerbs});
  did += " the " + phrase({kAdjectives, kNouns});
  std::string where = phrase({kPlaces, kNouns});
  std::string when = phrase({kTimes});
  auto capital = [](std::string text) {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
  };
  switch (random.below(4)) {
  case 0:
    return "The " + who + " " + did + " " + where + ".";
  case 1:
    return capital(when) + ", the " + who + " " + did + ".";
  case 2:
    return capital(where) + ", the " + who + " " + did + " " + when + ".";
  default:
    return "The " + who + " " + did + " " + where + " " + when +
           ", and nobody said anything about it.";
  }
}

/// A sentence ends with a mark and a space or a line. Pieces that are too short
/// or too long to be sentences are left out.
Filler::Filler(std::string_view text) {
  constexpr size_t kFewest = 20, kMost = 400;
  size_t begin = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    bool isEnd = std::string_view(".!?").find(text[i]) != text.npos &&
                 (text[i + 1] == ' ' || text[i + 1] == '\n');
    // An empty line ends whatever came before it.
    bool isGap = text[i] == '\n' && text[i + 1] == '\n';
    if (!isEnd && !isGap)
      continue;
    std::string piece(text.substr(begin, i + 1 - begin));
    begin = i + 1;
    std::replace(piece.begin(), piece.end(), '\n', ' ');
    piece.erase(0, std::min(piece.find_first_not_of(' '), piece.size()));
    if (isEnd && piece.size() >= kFewest && piece.size() <= kMost)
      own.push_back(std::move(piece));
  }
}

std::vector<std::string> Filler::sentences(Random &random, size_t count) const {
  std::vector<std::string> result;
  result.reserve(count);
  size_t first = own.empty() ? 0 : random.below(own.size());
  for (size_t i = 0; i < count; ++i)
    result.push_back(own.empty() ? makeSentence(random)
                                 : own[(first + i) % own.size()]);
  return result;
}
