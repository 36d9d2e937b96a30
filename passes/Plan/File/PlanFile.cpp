//===- PlanFile.cpp - plan.json, read once --------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "passes/Plan/File/PlanJson.h"
#include "runtime/support/Json.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace gist;

Status gist::parsePlanJson(std::string_view text, PlanJson &json) {
  return parseJsonObject(text, json);
}

Status gist::findLayers(const PlanJson &json, const PlanJson *&layers) {
  auto found = json.find("layers");
  if (found == json.end() || !found->is_array() || found->empty())
    return Status::error(Code::BadFile, "expected a list 'layers'");
  if (found->size() > kMaxPlanLayers)
    return Status::error(Code::BadFile,
                         "has %zu layers, but at most %zu are supported",
                         found->size(), kMaxPlanLayers);
  layers = &*found;
  return {};
}

/// Makes `name`, which is relative to `folder`, relative to the working
/// directory.
static void findBeside(const std::string &folder, std::string &name) {
  if (!name.empty())
    name = (std::filesystem::path(folder) / name).string();
}

Status gist::parsePlanFile(std::string_view text, const std::string &folder,
                           PlanFile &plan) {
  PlanJson json;
  GIST_TRY(parsePlanJson(text, json));
  PlanFile result;
  result.text = text;
  // A file is about selections, or about a KV cache: readSelections()
  // refuses the names of the others.
  result.isOfSelections = hasSelections(json);
  if (result.isOfSelections) {
    GIST_TRY(readSelections(json, result.selections));
  } else {
    GIST_TRY(readHeads(json, result.heads));
    GIST_TRY(readLinears(json, result.linears));
    GIST_TRY(readDepths(json, result.depths));
  }
  // A plan and its files move together, so the name is relative to the plan. An
  // absolute one stays as it is.
  findBeside(folder, result.selections.bases);
  findBeside(folder, result.linears.bases);
  findBeside(folder, result.depths.maps);
  plan = std::move(result);
  return {};
}

Status gist::readPlanFile(const std::string &path, PlanFile &plan) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Status::error(Code::NotFound, "%s: the file cannot be read",
                         path.c_str());
  std::string folder = std::filesystem::path(path).parent_path().string();
  return parsePlanFile(text.str(), folder, plan).in(path);
}
