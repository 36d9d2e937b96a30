//===- Intervals.cpp - How sure a measured number is ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/running/Intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace gist;
using namespace gist::run;

/// By bisection: the standard library has erfc, but not its inverse.
double run::normalQuantile(double p) {
  double low = -40, high = 40;
  constexpr int kSteps = 80;
  for (int i = 0; i < kSteps; ++i) {
    double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// The share of Student's t below `t`, by the finite sums that it has for whole
/// degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
static double studentShare(double t, size_t freedom) {
  auto n = static_cast<double>(freedom);
  double angle = std::atan(t / std::sqrt(n));
  double cosine = std::cos(angle), term = 0, sum = 0;
  if (freedom % 2 == 1) {
    term = cosine;
    for (size_t k = 1; k + 2 <= freedom; k += 2) {
      sum += term;
      term *= cosine * cosine * static_cast<double>(k + 1) /
              static_cast<double>(k + 2);
    }
    double within = 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
    return (1 + within) / 2;
  }
  term = 1;
  for (size_t k = 0; k + 2 <= freedom; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) /
            static_cast<double>(k + 2);
  }
  return (1 + std::sin(angle) * sum) / 2;
}

double run::studentQuantile(double p, size_t freedom) {
  // Beyond this the two agree to four digits.
  constexpr size_t kMany = 2000;
  if (freedom > kMany)
    return normalQuantile(p);
  double low = -1e6, high = 1e6;
  constexpr int kSteps = 100;
  for (int i = 0; i < kSteps; ++i) {
    double middle = (low + high) / 2;
    (studentShare(middle, freedom) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval run::wilsonInterval(size_t hits, size_t count, double confidence) {
  double z = normalQuantile((1 + confidence) / 2);
  auto n = static_cast<double>(count);
  double share = static_cast<double>(hits) / n;
  double middle = share + z * z / (2 * n);
  double half = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  double scale = 1 + z * z / n;
  return {std::max(0.0, (middle - half) / scale),
          std::min(1.0, (middle + half) / scale)};
}

Interval Mean::interval(double confidence) const {
  double far = std::numeric_limits<double>::infinity();
  if (count > strata)
    far = studentQuantile((1 + confidence) / 2, count - strata) * error;
  return {value - far, value + far};
}

double Mean::upper(double confidence) const {
  return count > strata
             ? value + studentQuantile(confidence, count - strata) * error
             : std::numeric_limits<double>::infinity();
}

/// By the normal distribution: with two numbers, Student's t would hardly bound
/// the next, and many users have only two texts.
double Mean::upperOfNext(double confidence) const {
  // `error` is s / sqrt(n); the result needs s sqrt(1 + 1 / n).
  return value + normalQuantile(confidence) * error *
                     std::sqrt(static_cast<double>(count) + 1);
}

Mean run::meanOf(std::span<const double> values) {
  Mean mean;
  mean.count = values.size();
  if (values.empty())
    return mean;
  auto n = static_cast<double>(values.size());
  for (double value : values)
    mean.value += value / n;
  double squares = 0;
  for (double value : values)
    squares += (value - mean.value) * (value - mean.value);
  if (values.size() > 1)
    mean.error = std::sqrt(squares / (n - 1) / n);
  return mean;
}

Mean run::pool(std::span<const Mean> groups) {
  Mean mean;
  double sum = 0, squares = 0;
  for (const Mean &group : groups) {
    mean.count += group.count;
    sum += group.value * static_cast<double>(group.count);
  }
  if (mean.count == 0)
    return mean;
  auto n = static_cast<double>(mean.count);
  mean.value = sum / n;
  // What numbers differ from their group's mean, and that from the mean of all.
  for (const Mean &group : groups) {
    auto count = static_cast<double>(group.count);
    double apart = group.value - mean.value;
    squares +=
        group.error * group.error * count * (count - 1) + count * apart * apart;
  }
  if (mean.count > 1)
    mean.error = std::sqrt(squares / (n - 1) / n);
  return mean;
}

Mean run::stratify(std::span<const Mean> groups) {
  Mean mean = pool(groups);
  double variance = 0;
  for (const Mean &group : groups) {
    if (group.count < 2)
      return mean;
    double share =
        static_cast<double>(group.count) / static_cast<double>(mean.count);
    variance += share * share * group.error * group.error;
  }
  mean.error = std::sqrt(variance);
  mean.strata = std::max<size_t>(groups.size(), 1);
  return mean;
}
