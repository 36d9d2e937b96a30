//===- FitTexts.cpp - What maps are fitted with ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/FitTexts.h"

#include "tools/planning/BuiltInTexts.h"
#include "tools/running/Options.h"
#include "tools/tasks/Sample.h"

#include <algorithm>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

Status plan::readSplitTexts(const std::vector<std::string> &paths,
                            int64_t searchTokens,
                            std::vector<SplitText> &texts) {
  for (const std::string &path : paths) {
    SplitText &text = texts.emplace_back();
    text.name = std::filesystem::path(path).filename().string();
    GIST_TRY(run::readText(path, text.fit));
  }
  if (texts.empty())
    for (const BuiltInText &text : builtInTexts())
      if (!text.isHeldOut)
        texts.push_back({text.name, std::string(text.text), {}});
  // About five bytes a token, and some more.
  size_t wanted = static_cast<size_t>(searchTokens) * 6;
  for (SplitText &text : texts) {
    size_t size = text.fit.size();
    size_t part = std::min(size / 2, std::max(size / 4, wanted));
    size_t at = std::min(text.fit.find('\n', size - part), size - part);
    text.search = text.fit.substr(at);
    text.fit.resize(at);
  }
  return {};
}

Status plan::collectFitTokens(const Tokenizer &tokenizer,
                              const std::vector<SplitText> &texts,
                              const FitTokens &options,
                              std::vector<int32_t> &tokens) {
  auto most = static_cast<size_t>(options.most);
  size_t ofTexts = options.hasQuestions ? most - most / 4 : most;
  for (const SplitText &text : texts) {
    std::vector<int32_t> ids;
    tokenizer.encode(text.fit, ids,
                     {.addSpecial = false, .parseSpecial = false});
    ids.resize(std::min(ids.size(), ofTexts / texts.size()));
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  size_t end = tokens.size() + most - ofTexts;
  std::span<const tasks::Task> all = tasks::allTasks();
  tasks::Filler filler;
  for (size_t i = 0; tokens.size() < end; ++i) {
    tasks::Sample sample;
    GIST_TRY(tasks::makeSample(tokenizer, all[i % all.size()], filler,
                               {options.seed, options.window}, i / all.size(),
                               sample));
    std::vector<int32_t> ids = sample.join();
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
  return {};
}
