//===- DraftGovernor.cpp - How many tokens to draft -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/DraftGovernor.h"

#include <algorithm>

using namespace gist;

/// Part of the time of texts that drafts may lose, and calls for one token that
/// they may lose before anything was gained.
static constexpr double kAllowance = 0.01, kFirstCredit = 2.2;
/// What drafts saved long ago does not pay for losses now, beyond so many
/// calls.
static constexpr double kMostCredit = 16;
/// Share of a new value in a mean.
static constexpr double kAcceptanceRate = 0.1, kTimeRate = 0.1, kCostRate = 0.3;
/// What is accepted before anything is known: less where guesses are free, and
/// some tell before one is used. Where they are not, acceptance comes back to
/// it while nothing is drafted, so that a draft is tried again some time.
static constexpr double kFreeHope = 0.6, kHope = 0.8, kHopeRate = 0.01;
/// A cost that is older, in plain calls, may have been measured while the
/// machine was busy: it is tried again where half of it would be worth it.
static constexpr size_t kTrustedFor = 256;

void DraftGovernor::begin(bool isFree) {
  this->isFree = isFree;
  acceptance = isFree ? kFreeHope : kHope;
}

void DraftGovernor::noteTrial(size_t rows, int64_t nanoseconds) {
  auto now = static_cast<double>(nanoseconds);
  for (size_t i = 0; i < kSizes.size(); ++i)
    if (kSizes[i] == rows)
      costs[i] = costs[i] == 0 ? now : std::min(costs[i], now);
}

/// What a call of this size takes: no more than one of more rows, which may
/// have been measured while the machine was less busy.
double DraftGovernor::costOf(size_t size) const {
  double cost = costs[size];
  for (size_t i = size + 1; i < costs.size(); ++i)
    cost = costs[i] == 0 ? cost : std::min(cost, costs[i]);
  return cost;
}

DraftGovernor DraftGovernor::ofTexts(size_t count) const {
  DraftGovernor result;
  result.texts = count;
  result.isFree = true;
  result.costs = costs;
  return result;
}

std::vector<std::pair<size_t, double>> DraftGovernor::knownCosts() const {
  std::vector<std::pair<size_t, double>> result;
  if (plain != 0)
    result.emplace_back(texts, plain);
  for (size_t i = 0; i < kSizes.size(); ++i)
    if (costs[i] != 0)
      result.emplace_back(kSizes[i], costs[i]);
  return result;
}

double DraftGovernor::firstHope() { return kFreeHope; }

double DraftGovernor::learn(double acceptance, bool isRight) {
  return acceptance + kAcceptanceRate * (isRight - acceptance);
}

size_t DraftGovernor::choose(size_t most) const {
  std::vector<double> chances;
  for (double chance = acceptance; chances.size() < most; chance *= acceptance)
    chances.push_back(chance);
  return choose(chances);
}

size_t DraftGovernor::choose(std::span<const double> chances) const {
  // Nothing can be said before tokens were drawn without.
  if (plain == 0 || !isMeasured())
    return 0;
  size_t best = 0, count = 0;
  // One token of each text is drawn whatever was drafted.
  auto expected = static_cast<double>(texts);
  double bestRate = expected / plain;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    if (kSizes[i] <= texts)
      continue;
    if (kSizes[i] - texts > chances.size() || costs[i] == 0)
      break;
    for (; count < kSizes[i] - texts; ++count)
      expected += chances[count];
    double cost = costOf(i), drafting = draftToken * static_cast<double>(count);
    if (cost + drafting - plain > account)
      continue;
    if (ages[i] > kTrustedFor)
      cost = std::max(cost / 2, plain);
    if (expected / (cost + drafting) > bestRate) {
      bestRate = expected / (cost + drafting);
      best = count;
    }
  }
  return best;
}

void DraftGovernor::notePlain(int64_t nanoseconds) {
  auto now = static_cast<double>(nanoseconds);
  if (plain == 0)
    account = kFirstCredit * now;
  plain = plain == 0 ? now : plain + kTimeRate * (now - plain);
  account = std::min(account + kAllowance * now, kMostCredit * plain);
  for (size_t &age : ages)
    ++age;
  if (!isFree)
    acceptance += kHopeRate * (std::max(acceptance, kHope) - acceptance);
}

void DraftGovernor::noteGuess(bool isRight) {
  acceptance = learn(acceptance, isRight);
}

void DraftGovernor::noteDrafting(int64_t nanoseconds) {
  draftToken = static_cast<double>(nanoseconds);
  account -= draftToken;
}

void DraftGovernor::noteDraft(size_t drafted, size_t accepted,
                              int64_t draftNanoseconds,
                              int64_t verifyNanoseconds) {
  for (size_t i = 0; i < std::min(accepted + 1, drafted); ++i)
    noteGuess(i < accepted);
  noteDrafts(drafted, accepted + 1, draftNanoseconds, verifyNanoseconds);
}

void DraftGovernor::noteDrafts(size_t drafted, size_t drawn,
                               int64_t draftNanoseconds,
                               int64_t verifyNanoseconds) {
  auto verify = static_cast<double>(verifyNanoseconds);
  auto draft = static_cast<double>(draftNanoseconds);
  for (size_t i = 0; i < kSizes.size(); ++i)
    if (kSizes[i] == drafted + texts) {
      costs[i] += kCostRate * (verify - costs[i]);
      ages[i] = 0;
    }
  double each = draft / static_cast<double>(std::max<size_t>(drafted, 1));
  draftToken += kTimeRate * (each - draftToken);
  double without =
      plain * static_cast<double>(drawn) / static_cast<double>(texts);
  account = std::min(account + without * (1 + kAllowance) - verify - draft,
                     kMostCredit * plain);
}
