//===- Accounting.h - What a module with a plan did -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_ACCOUNTING_H
#define GIST_TOOLS_RUNNING_ACCOUNTING_H

#include "passes/Plan/File/PlannedModule.h"
#include "tools/running/Options.h"

#include "nlohmann/json_fwd.hpp"

#include <optional>

namespace gist::run {

/// What attention did in one part of an evaluation.
struct AttentionWork {
  double multiplyAdds = 0, denseMultiplyAdds = 0;
  std::vector<HeadWork> heads; ///< by layer, then KV head
  /// In each head's cache, at the end of the last sequence.
  std::vector<double> clusters;

  double relative() const {
    return denseMultiplyAdds > 0 ? multiplyAdds / denseMultiplyAdds : 1;
  }
};

/// Counts the work of a module's plan call by call, and its cache. A module
/// without a plan leaves it inactive.
class Accounting {
public:
  /// Makes the session that is opened with these options tell of its calls.
  /// This must outlive it.
  void listen(ModelOptions &model);
  Status open(const Runner &runner);

  /// Ends one part of an evaluation.
  AttentionWork take();

  bool isActive() const { return meter.has_value(); }
  /// Bytes of the cache, as a share of a dense one.
  double cacheShare() const;

  nlohmann::json toJson(const AttentionWork &windows,
                        const std::optional<AttentionWork> &recall) const;
  /// Adds what each layer did to a list of layers.
  void addTo(const AttentionWork &work, nlohmann::json &layers) const;
  void print(const AttentionWork &windows,
             const std::optional<AttentionWork> &recall) const;

private:
  PlannedModule planned;
  uint64_t cacheBytes = 0;
  std::optional<WorkMeter> meter;
  std::vector<double> clusters; ///< at the end of the last sequence
};

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_ACCOUNTING_H
