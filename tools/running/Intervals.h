//===- Intervals.h - How sure a measured number is --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_INTERVALS_H
#define GIST_TOOLS_RUNNING_INTERVALS_H

#include <cstddef>
#include <span>
#include <vector>

namespace gist::run {

struct Interval {
  double low = 0, high = 0;
};

/// The z below which a share `p` of a normal distribution lies; 0 < p < 1.
double normalQuantile(double p);
/// The same of Student's t with `freedom` degrees of freedom, at least 1.
double studentQuantile(double p, size_t freedom);

/// Wilson's score interval of a share: right also near 0 and 1, and for few
/// samples. `count` is at least 1.
Interval wilsonInterval(size_t hits, size_t count, double confidence);

/// A mean, and how far it may be from that of all there could be.
struct Mean {
  double value = 0;
  double error = 0; ///< standard error; 0 for fewer than two numbers
  size_t count = 0;
  size_t strata = 1; ///< groups that each had a mean of their own

  /// By Student's t, on both sides. The interval of a single number is
  /// infinite.
  Interval interval(double confidence) const;
  /// The mean is below this with the given confidence.
  double upper(double confidence) const;
  /// One more number of the same kind is below this: it scatters as these do,
  /// and so does their mean.
  double upperOfNext(double confidence) const;
};

Mean meanOf(std::span<const double> values);
/// The mean of all numbers of several groups together.
Mean pool(std::span<const Mean> groups);
/// The same where the groups are kinds that are always there in these shares:
/// the error of the mean then depends only on how much numbers of one kind
/// differ, not on how much the kinds do. A group of one number does not say how
/// much its kind scatters, so that all are pooled then.
Mean stratify(std::span<const Mean> groups);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_INTERVALS_H
