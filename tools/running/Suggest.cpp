//===- Suggest.cpp - What a user may have meant ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Suggest.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <numeric>

using namespace gist;

/// Letters to add, remove or change, at least, to make one word of the other.
static size_t distance(const std::string &one, const std::string &other) {
  std::vector<size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < one.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < other.size(); ++j) {
      size_t changed = diagonal + (one[i] != other[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string gist::nearestName(const std::string &word,
                              const std::vector<std::string> &names) {
  // Two letters, or a third of a long word.
  size_t least = std::max<size_t>(word.size() / 3, 2) + 1;
  constexpr size_t kLongest = 64; // Longer words are not typing errors.
  std::string nearest;
  for (const std::string &name : names) {
    bool isBegun = word.size() > 3 && name.starts_with(word);
    size_t changes = isBegun                  ? 0
                     : word.size() > kLongest ? least
                                              : distance(word, name);
    if (changes < least) {
      least = changes;
      nearest = name;
    }
  }
  return nearest;
}

static std::string meant(const std::string &nearest) {
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// The command that was named, or the tool itself.
static const CLI::App &innermost(const CLI::App &app) {
  std::vector<CLI::App *> parsed =
      const_cast<CLI::App &>(app).get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

static std::string explainOption(const CLI::App &command, std::string option) {
  // --name=value
  option.resize(std::min(option.find('='), option.size()));
  std::vector<std::string> names;
  for (const CLI::Option *known : command.get_options())
    for (const std::string &name : known->get_lnames())
      names.push_back("--" + name);
  return "there is no option " + option + meant(nearestName(option, names));
}

/// A word stands where a command is expected.
static std::string explainCommand(const CLI::App &app,
                                  const std::string &word) {
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + command->get_name();
  }
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored))
    return "a command is required before " + word +
           "; expected one of: " + list;
  if (word.empty())
    return "a command is required; expected one of: " + list;
  std::string nearest = nearestName(word, names);
  return "there is no command " + word +
         (nearest.empty() ? "; expected one of: " + list : meant(nearest));
}

std::string gist::explainUsage(const CLI::App &app,
                               const CLI::ParseError &error) {
  const CLI::App &command = innermost(app);
  std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  bool needsCommand = app.get_require_subcommand_min() > 0;
  if (needsCommand && &command == &app) {
    auto word = std::find_if(rest.begin(), rest.end(),
                             [](const auto &text) { return text[0] != '-'; });
    return explainCommand(app, word == rest.end() ? "" : *word);
  }
  // An option that is not known leaves its value behind, and other options may
  // then be missing: the unknown one is the reason.
  auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
  bool isOfNames = kind == CLI::ExitCodes::ExtrasError ||
                   kind == CLI::ExitCodes::RequiredError;
  for (const std::string &word : rest)
    if (isOfNames && word.size() > 1 && word[0] == '-' && word != "--" &&
        !std::isdigit(static_cast<unsigned char>(word[1])))
      return explainOption(command, word);
  return error.what();
}

int gist::exitUsage(const CLI::App &app, const CLI::ParseError &error) {
  // Help and version are not errors; everything else is wrong usage.
  if (error.get_exit_code() == 0)
    return app.exit(error);
  std::fprintf(stderr, "%s\nRun with --help for more information.\n",
               explainUsage(app, error).c_str());
  return 2;
}
