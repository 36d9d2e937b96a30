//===- ReportData.h - Reading evaluations -----------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluations are written by several programs, and each knows only a part of
// what a page can show. So nothing is required of them here: missing values are
// null, NaN or an empty list.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_REPORT_REPORTDATA_H
#define GIST_TOOLS_REPORT_REPORTDATA_H

#include "tools/planning/Calibration.h"

#include "nlohmann/json.hpp"

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace gist::plan {

inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// The part of `from` at the end of a path of keys, or null.
const nlohmann::json &find(const nlohmann::json &from,
                           std::initializer_list<const char *> path);
double number(const nlohmann::json &from,
              std::initializer_list<const char *> path);
std::string text(const nlohmann::json &from, const char *key);
/// The elements of a list, none if there is no list.
const nlohmann::json &list(const nlohmann::json &from, const char *key);
/// The numbers of a list; what is not a number is kNothing.
std::vector<double> numbers(const nlohmann::json &from, const char *key);

/// A number that sorts, even where it is missing: those come first.
double orderable(double value);
/// The larger of two numbers, of which one may be missing.
double larger(double a, double b);
/// The mean of the numbers that are not NaN.
double meanOf(const std::vector<double> &values);
/// The standard deviation of a sample; kNothing for fewer than two numbers.
double deviationOf(const std::vector<double> &values);

/// Brings what another program than bench/plan_quality.py wrote into the form
/// of an evaluation: `gist-run eval --json`, a plan with its contract,
/// bench/linear_curve.py, bench/gptj_layer.py and bench/papers.py. Anything
/// else stays as it is. `name` is what the file is called.
nlohmann::json toEvaluation(const nlohmann::json &file,
                            const std::string &name);

/// The same of what `gist-plan calibrate` wrote: what each head loses alone.
nlohmann::json toEvaluation(const Calibration &calibration);

/// Maps and tables of the first of these.
std::string drawCalibrations(const nlohmann::json &calibrations);

} // namespace gist::plan

#endif // GIST_TOOLS_REPORT_REPORTDATA_H
