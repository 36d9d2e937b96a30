//===- ReportCommand.cpp - gist-plan report -------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan report`: one page from measurements of several programs.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/SideBySide.h"
#include "tools/report/Report.h"
#include "tools/report/ReportData.h"
#include "tools/running/Options.h"

#include "nlohmann/json.hpp"

#include <filesystem>

using namespace gist;
using namespace gist::plan;

namespace {
struct Options {
  std::vector<std::string> evaluations;
  std::string output;
};
} // namespace

/// Adds the texts of a module to an earlier entry of the same module. False:
/// there is no such entry.
static bool joinModule(nlohmann::json &plans, const nlohmann::json &plan) {
  std::string module = text(plan, "module");
  for (nlohmann::json &old : plans)
    if (!module.empty() && text(old, "module") == module) {
      for (const nlohmann::json &run : list(plan, "texts"))
        old["texts"].push_back(run);
      return true;
    }
  return false;
}

/// Adds the lists of one evaluation to those of another, so that measurements
/// of several programs become one page.
static void append(nlohmann::json &all, const nlohmann::json &more) {
  for (const auto &[key, value] : more.items()) {
    nlohmann::json &place = all[key];
    if (key == "plans" && place.is_array() && value.is_array()) {
      for (const nlohmann::json &plan : value)
        if (!joinModule(place, plan))
          place.push_back(plan);
    } else if (place.is_array() && value.is_array())
      place.insert(place.end(), value.begin(), value.end());
    // What is not a list is taken from the first file that has it.
    else if (place.is_null())
      place = value;
  }
}

/// A file that is wrong by itself is named, before it disappears in the sum.
Status plan::writePage(const std::vector<std::string> &files,
                       const std::string &output) {
  GIST_TRY(checkWritable(output));
  nlohmann::json all = nlohmann::json::object();
  for (const std::string &path : files) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    nlohmann::json one;
    GIST_TRY(parseJson(text, one).in(path));
    // A calibration is shown as an evaluation of its own.
    if (one.contains("gist_calibration")) {
      Calibration calibration;
      GIST_TRY(parseCalibration(text, calibration).in(path));
      one = toEvaluation(calibration);
    }
    one = toEvaluation(one, std::filesystem::path(path).stem().string());
    if (!one.is_object())
      return Status::error(Code::BadFile, "%s: the file is not a JSON object",
                           path.c_str());
    std::string page; // Every file must be an evaluation, not only their sum.
    GIST_TRY(writeReport(one, page).in(path));
    append(all, one);
  }
  std::string page;
  GIST_TRY(writeReport(all, page));
  return writeWhole(output, page);
}

void plan::addReport(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "report", "A page with plots of what plans keep and save");
  command
      ->add_option("evaluation", options->evaluations,
                   "What gist-run eval --json, gist-plan auto, calibrate and "
                   "solve, or a program of the folder bench wrote")
      ->type_name("EVALUATION")
      ->required();
  command
      ->add_option("-o,--output", options->output, "The page (HTML) to write")
      ->type_name("FILE")
      ->required();
  command->footer("Example:\n"
                  "  gist-run eval small.gist --against dense.gist --text "
                  "book.txt --recall 1024 --json > evaluation.json\n"
                  "  gist-plan report evaluation.json -o report.html");
  command->callback([options, &action] {
    action = [options] {
      return writePage(options->evaluations, options->output);
    };
  });
}
