//===- PlanFinder.cpp - From a menu to a plan that keeps a contract -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/PlanFinder.h"

#include <algorithm>
#include <cmath>
#include <mutex>

using namespace gist;
using namespace gist::plan;

/// Its duration tells how much time to keep for the measurements after the
/// search.
Status PlanFinder::measureDense() {
  if (isDenseKnown)
    return {};
  double before = limit.taken();
  GIST_TRY(menu.follow({}));
  GIST_TRY(terms.measureDense(pool));
  denseSeconds = limit.taken() - before;
  isDenseKnown = true;
  double pace = denseSeconds /
                static_cast<double>(std::max<size_t>(terms.countTokens(), 1));
  double wanted = pace * static_cast<double>(tokensAfter);
  limit.reserve(std::min(wanted, 0.3 * limit.allowed()));
  return {};
}

/// Gives clusters room for what was measured and some more, and measures that.
Status PlanFinder::giveRoom(FoundPlan &found) {
  Plan &plan = found.plan.heads;
  const std::vector<double> clusters = found.measured.clusters;
  auto context = static_cast<double>(pool.first().module().context);
  double headroom = 1.25, share = 0;
  constexpr int kTimes = 3;
  for (int i = 0; i < kTimes; ++i, headroom *= 1.5) {
    bool hasClusters = false;
    size_t number = 0;
    for (std::vector<HeadChoice> &layer : plan.layers)
      for (HeadChoice &head : layer) {
        double most = clusters[number++];
        if (head.kind != HeadKind::Clusters)
          continue;
        hasClusters = true;
        // A head that formed hardly any clusters here may need some on other
        // texts.
        constexpr double kFewest = 16;
        double share = std::max(most * headroom, kFewest) / context;
        // Three digits, rounded up, so that the room is never smaller.
        head.room = std::min(1.0, std::ceil(share * 1000) / 1000);
      }
    if (!hasClusters)
      return {};
    Measurement measured;
    auto always = [](const Measurement &) { return true; };
    Status status = limit.isOver()
                        ? Status::error(Code::Io, "no time")
                        : trier.measure(terms, found.plan, always, measured);
    // There is room for more clusters than were formed, so that the same texts
    // give the same numbers: those of the search.
    if (!status.ok() && limit.hasStopped())
      return {};
    GIST_TRY(std::move(status));
    found.measured = std::move(measured);
    share = search->shareOf(found.measured);
    if (share <= 1)
      return {};
  }
  std::fprintf(
      stderr,
      "with as many clusters as it was given room for, the plan spends "
      "%.2f of what is allowed; the certificate tells what it keeps\n",
      share);
  return {};
}

Status PlanFinder::take(const PlanSearch::Trial &trial, FoundPlan &found) {
  trier.keep(trial.choice);
  taken = trial.choice;
  found.measured = trial.measured;
  found.work = search->relativeWork(trial);
  found.share = trial.share;
  return trier.make(trial.choice, found.plan);
}

bool PlanFinder::retreat(FoundPlan &found) {
  // What other texts lose more is seldom less than this.
  constexpr double kLess = 0.6;
  double work = found.work, times = kLess;
  if (!search->hasPlan() && work >= 1) {
    // A search that ended before it found a plan goes on from one that lost too
    // much.
    const PlanSearch::Trial *broken =
        isDenseKnown ? search->leastBroken() : nullptr;
    if (!broken)
      return false;
    taken = broken->choice;
    work = search->relativeWork(*broken);
    times /= broken->share;
  }
  PlanSearch::Trial next;
  if (const PlanSearch::Trial *known =
          search->bestWithin(kLess * found.share, work)) {
    next = *known;
  } else {
    Progress bar("sequences", terms.countWindows());
    if (!search->measureLess(bar, taken, times, next).ok())
      return false;
    double needed = search->relativeWork(next);
    if (needed <= work || needed >= 1)
      return false;
    bar.finish();
  }
  return take(next, found).ok() && giveRoom(found).ok();
}

Status PlanFinder::find(const SearchOptions &options, const JobTime &time,
                        FoundPlan &found) {
  pool.stopAt(limit);
  menu.build(terms, time);
  search = std::make_unique<PlanSearch>(
      options, terms, menu.variants(), limit,
      [&](const PlanChoice &choice, const PlanSearch::WantsQuestions &wanted,
          Measurement &result) {
        trier.keep(search->best().choice);
        return trier.measure(terms, choice, wanted, result);
      });
  // The model as it is, the search, and the plan with room at the end.
  Progress bar("sequences", (search->expectTrials() + 2) * terms.countWindows(),
               0, &limit);
  std::mutex mutex;
  terms.afterWindow = [&] {
    std::lock_guard<std::mutex> lock(mutex);
    bar.advance();
  };
  PlanChoice first;
  Status status = measureDense();
  search->denseSeconds = denseSeconds;
  if (status.ok() && start)
    status = menu.findHeads(*start, first);
  if (status.ok())
    status = search->run(bar, start ? &first : nullptr);
  complete = status.ok();
  if (isDenseKnown && (complete || limit.hasStopped())) {
    status = take(search->best(), found);
    if (status.ok() && (search->hasPlan() || complete))
      status = giveRoom(found);
  } else if (limit.hasStopped()) {
    status = {};
  }
  if (complete && status.ok())
    bar.finish();
  terms.afterWindow = nullptr;
  limit.reserve(0);
  return status;
}
