//===- ProfileTable.cpp - A profile as a table ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/ProfileTable.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

using namespace gist;
using namespace gist::run;

/// Sums over layers, the most expensive first.
static std::vector<CommandTotal> sumLayers(const Profile &profile) {
  std::map<std::tuple<std::string, std::string, std::string>, CommandTotal>
      sums;
  for (const CommandTotal &total : profile.totals()) {
    CommandTotal &sum = sums[{total.entry, total.label, total.role}];
    sum.entry = total.entry;
    sum.label = total.label;
    sum.role = total.role;
    sum.calls += total.calls;
    sum.nanoseconds += total.nanoseconds;
    sum.flops += total.flops;
    sum.bytes += total.bytes;
  }
  std::vector<CommandTotal> rows;
  for (auto &[key, sum] : sums)
    rows.push_back(std::move(sum));
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    // Ties are broken by name, so that the output repeats.
    return std::tie(b.nanoseconds, a.entry, a.label, a.role) <
           std::tie(a.nanoseconds, b.entry, b.label, b.role);
  });
  return rows;
}

static std::string boundText(const CommandTotal &total,
                             const DeviceLimits &limits) {
  auto [bound, share] = findBound(total, limits);
  if (bound == Bound::Unknown)
    return toString(bound);
  char text[32];
  std::snprintf(text, sizeof text, "%s %.0f %%", toString(bound), 100 * share);
  return text;
}

void run::printProfile(const Profile &profile, const DeviceLimits &limits) {
  std::vector<CommandTotal> rows = sumLayers(profile);
  int64_t all = 0;
  for (const CommandTotal &row : rows)
    all += row.nanoseconds;
  std::fprintf(stderr, "%-10s %-24s %8s %12s %7s %10s %10s  %-12s %s\n",
               "entry", "command", "calls", "ms", "%", "GFLOP/s", "GB/s",
               "bound", "weights");
  for (const CommandTotal &row : rows) {
    // A time of 0 is possible with a coarse clock.
    auto time = static_cast<double>(std::max<int64_t>(row.nanoseconds, 1));
    // Operations per nanosecond are billions per second; the same holds for
    // bytes.
    std::fprintf(stderr,
                 "%-10s %-24s %8llu %12.3f %7.2f %10.2f %10.2f  %-12s %s\n",
                 row.entry.c_str(), row.label.c_str(),
                 static_cast<unsigned long long>(row.calls), time / 1e6,
                 100.0 * time / static_cast<double>(std::max<int64_t>(all, 1)),
                 row.flops / time, row.bytes / time,
                 boundText(row, limits).c_str(), row.role.c_str());
  }
  if (limits.bytesPerSecond > 0)
    std::fprintf(stderr,
                 "bounds: a copy moves %.0f GB/s and a launch takes %.1f us "
                 "(measured), matrix instructions do %.0f TFLOP/s (table)\n",
                 limits.bytesPerSecond / 1e9, limits.launchSeconds * 1e6,
                 limits.flopsPerSecond / 1e12);
}
