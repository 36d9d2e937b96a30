//===- Report.h - What a plan does, as a page -------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An evaluation is JSON that bench/plan_quality.py and its siblings write:
//
//   {
//     "gist_evaluation": 1,
//     "model": "SmolLM2", "machine": "...", "command": "...",
//     "plans": [{
//       "name": "quality 1.01", "quality": 1.01, "plan": { a plan },
//       "texts": [{"text": "prose", "tokens": 4096,
//                  "windows": {...}, "recall": {...}, "work": {...},
//                  "layers": [{"attention_error": 0.01, ...}]}],
//       "speed": [{"test": "prefill", "tokens": 2048, "dense": 900,
//                  "plan": 1100, "predicted": 1.2}]
//     }],
//     "linears": [{"weights": "f16",
//                  "series": [{"name": "plain rounding",
//                              "points": [{"bytes": 1, "ratio": 1.01,
//                                          "note": "4 bits"}]}]}],
//     "gates": [{"k": 64, "epsilon": 0.1, "open": 0.9, "ratio": 1.009}],
//     "selections": [{"model": "MiniLM", "text": "...",
//                     "series": {"r, independent": [..], ...}}]
//   }
//
// Every part may be missing, and so may every number.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_REPORT_REPORT_H
#define GIST_TOOLS_REPORT_REPORT_H

#include "nlohmann/json_fwd.hpp"
#include "runtime/support/Status.h"

#include <string>

namespace gist::plan {

/// The page of an evaluation, with everything it needs in it.
Status writeReport(const nlohmann::json &evaluation, std::string &page);

} // namespace gist::plan

#endif // GIST_TOOLS_REPORT_REPORT_H
