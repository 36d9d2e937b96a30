//===- PlanSearch.cpp - Searches the plan that keeps a contract -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/PlanSearch.h"

#include "tools/planning/Certificate.h"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::plan;

double PlanSearch::workOf(const PlanChoice &choice) const {
  const MenuVariant &variant = menu[choice.variant];
  return variant.work + totalWork(variant.places, choice.options);
}

double PlanSearch::predict(const PlanChoice &choice, size_t term) const {
  const MenuVariant &variant = menu[choice.variant];
  double sum = variant.spends.empty() ? 0 : variant.spends[term];
  for (size_t i = 0; i < choice.options.size(); ++i)
    sum += variant.places[i].options[choice.options[i]].spends[term];
  return sum;
}

PlanChoice PlanSearch::choose(const std::vector<double> &budgets) const {
  PlanChoice best = none();
  for (size_t i = 0; i < menu.size(); ++i) {
    std::vector<double> left = budgets;
    for (size_t k = 0; k < menu[i].spends.size(); ++k)
      left[k] -= menu[i].spends[k];
    if (std::ranges::any_of(left, [](double budget) { return budget <= 0; }))
      continue;
    PlanChoice choice = {i, chooseOptions(menu[i].places, left)};
    if (workOf(choice) < workOf(best))
      best = std::move(choice);
  }
  return best;
}

double PlanSearch::shareOf(const Measurement &measured,
                           bool areQuestions) const {
  double share = 0;
  for (size_t k = 0; k < terms.terms().size(); ++k)
    if ((terms.terms()[k].kind == TermKind::Tasks) == areQuestions &&
        !measured.terms[k].parts.empty())
      share =
          std::max(share, terms.boundOfOthers(measured, k, options.confidence) /
                              limitOf(k));
  return share;
}

double PlanSearch::shareOf(const Measurement &measured) const {
  return std::max(shareOf(measured, false), shareOf(measured, true));
}

Status PlanSearch::measure(const PlanChoice &choice, Trial &trial) {
  if (auto known = trials.find(choice); known != trials.end()) {
    trial = known->second;
    progress->advance(terms.countWindows());
    return {};
  }
  trial = {.choice = choice, .work = workOf(choice)};
  // A plan that fails on the texts, or does not improve on the best, is not
  // measured on questions: these take most of the time.
  GIST_TRY(measurePlan(
      choice,
      [&](const Measurement &texts) {
        return trial.work < least.work && shareOf(texts, false) <= 1;
      },
      trial.measured));
  trial.share = shareOf(trial.measured);
  bool holds = trial.share <= 1;
  char line[160];
  std::snprintf(line, sizeof line, "work %.3f spends %.2f of what is allowed%s",
                trial.work / workOf(none()), trial.share,
                holds ? "" : ": too much");
  progress->say(line);
  if (holds && trial.work < least.work)
    least = trial;
  trials[choice] = trial;
  return {};
}

/// How many times as much plans may lose as one that spends this share of what
/// is allowed: losses grow about as budgets do.
static double growth(double share) {
  constexpr double kAim = 0.8, kMost = 4;
  return std::clamp(kAim / std::max(share, kAim / kMost), 1.0, kMost);
}

/// Corrects the budgets: first each by what its term lost together, then all by
/// one factor.
Status PlanSearch::correct() {
  size_t count = terms.terms().size();
  // Places lose more together than alone. Where there is time for few plans,
  // the first of them should keep the quality.
  auto most = static_cast<double>(expectTrials());
  bool areFew = limit.left() < most * denseSeconds;
  constexpr double kTogether = 4, kAim = 0.9;
  std::vector<double> scale(count, areFew ? kTogether : 1), budgets(count);
  double factor = areFew ? kAim : 1;
  auto choose = [&](double factor) {
    for (size_t k = 0; k < count; ++k)
      budgets[k] = factor * limitOf(k) / scale[k];
    return this->choose(budgets);
  };
  Trial trial;
  for (int round = 0; round < options.corrections; ++round) {
    GIST_TRY(measure(choose(factor), trial));
    for (size_t k = 0; k < count; ++k) {
      double predicted = predict(trial.choice, k);
      // Skips terms that hardly matter, whose ratio is noise, and terms that
      // were not measured.
      if (predicted < 0.1 * budgets[k] || trial.measured.terms[k].parts.empty())
        continue;
      double lost = terms.boundOfOthers(trial.measured, k, options.confidence),
             ratio = std::clamp(lost / predicted, 0.1, 10.0);
      // Where the term lost too much, the whole way: another term's budget may
      // bind, and half a step would then choose the same plan again. So too
      // where there are few steps. Else half of the way, as logarithms go: a
      // full step would swing about.
      scale[k] = lost > limitOf(k) ? std::max(scale[k], ratio)
                 : areFew          ? ratio
                                   : std::sqrt(scale[k] * ratio);
    }
    if (!areFew)
      factor *= growth(trial.share);
  }
  // A factor that holds and one that does not, then the middle of them.
  double low = 0, high = 0, failed = 0;
  for (int step = 0; step < options.steps; ++step) {
    GIST_TRY(measure(choose(factor), trial));
    (trial.share <= 1 ? low : high) = factor;
    if (trial.share > 1)
      failed = trial.work;
    // Few places are left between the two: moves tell which of them lose most.
    constexpr double kNear = 0.04;
    if (low > 0 && high > 0 && least.work - failed < kNear * workOf(none()))
      break;
    // A plan that spends far too much is followed by a large step.
    factor = high == 0  ? low * std::max(growth(trial.share), 1.25)
             : low == 0 ? high / std::clamp(trial.share, 1.6, 4.0)
                        : std::sqrt(low * high);
  }
  return {};
}

void PlanSearch::apply(const Move &move, PlanChoice &choice) const {
  const Places &places = menu[choice.variant].places;
  choice.options[move.place] = move.option;
  size_t around = places[move.place].around;
  if (around == SIZE_MAX || std::isfinite(workOf(choice)))
    return;
  PlanChoice best = choice;
  for (size_t j = 0; j < places[around].options.size(); ++j) {
    // Another kind of layer would be a move of its own.
    if (places[around].options[j].spends !=
        places[around].options[choice.options[around]].spends)
      continue;
    PlanChoice other = choice;
    other.options[around] = j;
    if (workOf(other) < workOf(best))
      best = std::move(other);
  }
  choice = std::move(best);
}

std::vector<PlanSearch::Move> PlanSearch::collectMoves() const {
  std::vector<Move> moves;
  const Places &places = menu[least.choice.variant].places;
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t j = 0; j < places[i].options.size(); ++j) {
      const PlaceOption &now = places[i].options[least.choice.options[i]],
                        &next = places[i].options[j];
      Move move{i, j, 0, 0};
      PlanChoice changed = least.choice;
      apply(move, changed);
      for (size_t k = 0; k < next.spends.size(); ++k)
        move.spent =
            std::max(move.spent, (next.spends[k] - now.spends[k]) / limitOf(k));
      move.saved = workOf(least.choice) - workOf(changed);
      if (move.saved > 0)
        moves.push_back(move);
    }
  std::ranges::sort(moves, [](const Move &a, const Move &b) {
    // Compares saved / spent without dividing: moves may spend nothing.
    double left = a.saved * b.spent, right = b.saved * a.spent;
    return left != right
               ? left > right
               : std::pair(a.place, a.option) < std::pair(b.place, b.option);
  });
  std::vector<bool> isThere(places.size());
  std::erase_if(moves, [&](const Move &move) {
    bool wasThere = isThere[move.place];
    isThere[move.place] = true;
    return wasThere;
  });
  return moves;
}

/// Tries places with less work, the best bargains first. What holds is followed
/// by twice as many places at once, what does not by half of its places, so
/// that a plan that may still lose much gets there in few measurements.
Status PlanSearch::tryMoves() {
  std::vector<Move> moves = collectMoves();
  PlanChoice turnsFrom = least.choice; // where this turn of all places began
  size_t next = 0, many = 1;
  for (int tries = 0; tries < options.tries; ++tries) {
    // A place may move again once all others had their turn, from a plan that
    // is another by then.
    if (next == moves.size()) {
      std::vector<Move> later = collectMoves();
      next = 0;
      if (later.empty() || least.choice == turnsFrom)
        break;
      turnsFrom = least.choice;
      moves = std::move(later);
    }
    size_t end = std::min(next + many, moves.size());
    PlanChoice choice = least.choice;
    for (size_t i = next; i < end; ++i)
      apply(moves[i], choice);
    Trial trial;
    GIST_TRY(measure(choice, trial));
    if (least.choice == choice) {
      next = end;
      many *= 2;
    } else if (many > 1) {
      many = std::max<size_t>((end - next) / 2, 1);
    } else {
      ++next;
    }
  }
  return {};
}

const PlanSearch::Trial *PlanSearch::bestWithin(double share,
                                                double above) const {
  const Trial *best = nullptr;
  for (const auto &[choice, trial] : trials)
    if (trial.share <= share && relativeWork(trial) > above &&
        relativeWork(trial) < 1 && (!best || trial.work < best->work))
      best = &trial;
  return best;
}

const PlanSearch::Trial *PlanSearch::leastBroken() const {
  const Trial *best = nullptr;
  for (const auto &[choice, trial] : trials)
    if (trial.share > 1 && (!best || trial.share < best->share))
      best = &trial;
  return best;
}

Status PlanSearch::measureLess(Progress &bar, const PlanChoice &than,
                               double times, Trial &trial) {
  progress = &bar;
  std::vector<double> budgets(terms.terms().size());
  for (size_t k = 0; k < budgets.size(); ++k)
    // A budget of nothing would leave out what loses nothing, too.
    budgets[k] = std::max(times * predict(than, k), 1e-9);
  return measure(choose(budgets), trial);
}

Status PlanSearch::run(Progress &bar, const PlanChoice *start) {
  progress = &bar;
  // The model as it is keeps every contract.
  least = {
      .choice = none(), .measured = terms.asItIs(), .work = workOf(none())};
  trials[none()] = least;
  Trial trial;
  if (start)
    GIST_TRY(measure(*start, trial));
  if (!hasPlan())
    GIST_TRY(correct());
  return tryMoves();
}
