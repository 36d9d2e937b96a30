//===- ProfileTable.cpp - A profile as a table ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/ProfileTable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

using namespace gist;
using namespace gist::run;

namespace {
/// A sum over layers.
struct Row : CommandTotal {
  int32_t firstLayer = INT32_MAX, lastLayer = -1;
};
} // namespace

/// Sums over layers, the most expensive first.
static std::vector<Row> sumLayers(const Profile &profile) {
  std::map<std::tuple<std::string, std::string, std::string>, Row> sums;
  for (const CommandTotal &total : profile.totals()) {
    Row &sum = sums[{total.entry, total.label, total.role}];
    sum.firstLayer = std::min(sum.firstLayer, total.layer);
    sum.lastLayer = std::max(sum.lastLayer, total.layer);
    sum.entry = total.entry;
    sum.label = total.label;
    sum.role = total.role;
    sum.calls += total.calls;
    sum.nanoseconds += total.nanoseconds;
    sum.flops += total.flops;
    sum.bytes += total.bytes;
  }
  std::vector<Row> rows;
  for (auto &[key, sum] : sums)
    rows.push_back(std::move(sum));
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    // Ties are broken by name, so that the output repeats.
    return std::tie(b.nanoseconds, a.entry, a.label, a.role) <
           std::tie(a.nanoseconds, b.entry, b.label, b.role);
  });
  return rows;
}

/// "0-29", "3", or "-" for what is not in a layer.
static std::string layersText(const Row &row) {
  if (row.lastLayer < 0)
    return "-";
  std::string last = std::to_string(row.lastLayer);
  return row.firstLayer == row.lastLayer
             ? last
             : std::to_string(std::max(row.firstLayer, 0)) + "-" + last;
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

/// What a module does not count has no rate.
static std::string rateText(double count, double nanoseconds) {
  if (count == 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", count / nanoseconds);
  return text;
}

void run::printProfile(const Profile &profile, const DeviceLimits &limits) {
  std::vector<Row> rows = sumLayers(profile);
  int64_t all = 0;
  for (const Row &row : rows)
    all += row.nanoseconds;
  std::fprintf(stderr, "%-10s %-24s %8s %12s %7s %10s %10s  %-12s %-7s %s\n",
               "entry", "command", "calls", "ms", "%", "GFLOP/s", "GB/s",
               "bound", "layers", "role");
  for (const Row &row : rows) {
    // A time of 0 is possible with a coarse clock.
    auto time = static_cast<double>(std::max<int64_t>(row.nanoseconds, 1));
    // Operations per nanosecond are billions per second; the same holds for
    // bytes.
    std::fprintf(
        stderr, "%-10s %-24s %8llu %12.3f %7.2f %10s %10s  %-12s %-7s %s\n",
        row.entry.c_str(), row.label.c_str(),
        static_cast<unsigned long long>(row.calls), time / 1e6,
        100.0 * time / static_cast<double>(std::max<int64_t>(all, 1)),
        rateText(row.flops, time).c_str(), rateText(row.bytes, time).c_str(),
        boundText(row, limits).c_str(), layersText(row).c_str(),
        row.role.c_str());
  }
  if (limits.bytesPerSecond > 0)
    std::fprintf(stderr,
                 "bounds: a copy moves %.0f GB/s and a launch takes %.1f us "
                 "(measured), matrix instructions do %.0f TFLOP/s (table)\n",
                 limits.bytesPerSecond / 1e9, limits.launchSeconds * 1e6,
                 limits.flopsPerSecond / 1e12);
}
