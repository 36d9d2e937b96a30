//===- Candidates.cpp - What a head may be asked to do --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Candidates.h"

#include "runtime/support/Json.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

using namespace gist;
using Json = nlohmann::ordered_json;

std::vector<HeadChoice> plan::defaultCandidates() {
  std::vector<HeadChoice> result;
  for (int64_t window : {128, 512, 1024})
    result.push_back({.kind = HeadKind::Window, .window = window, .sinks = 4});
  struct Clusters {
    double theta;
    int64_t window;
  };
  for (auto [theta, window] : std::initializer_list<Clusters>{{0.5, 128},
                                                              {0.7, 128},
                                                              {0.8, 128},
                                                              {0.8, 512},
                                                              {0.9, 128},
                                                              {0.9, 512},
                                                              {0.95, 256}})
    result.push_back({.kind = HeadKind::Clusters,
                      .window = window,
                      .theta = theta,
                      .room = 1});
  return result;
}

Status plan::readCandidates(const std::string &path,
                            std::vector<HeadChoice> &candidates) {
  std::string text;
  GIST_TRY(run::readText(path, text));
  Json json;
  GIST_TRY(parseJson(text, json).in(path));
  if (!json.is_array() || json.empty())
    return Status::error(Code::BadFile, "%s: expected a list of heads",
                         path.c_str());
  std::vector<HeadChoice> result;
  for (const Json &entry : json) {
    result.emplace_back();
    std::string where = path + ": head " + std::to_string(result.size() - 1);
    GIST_TRY(parseHead(entry.dump(), result.back()).in(where));
    if (result.back().kind == HeadKind::Dense)
      return Status::error(
          Code::BadFile,
          "%s: expected a list without \"dense\", which is always a choice",
          where.c_str());
  }
  candidates = std::move(result);
  return {};
}
