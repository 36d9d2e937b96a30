//===- Planner.cpp - Searches the plan that keeps a contract --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Planner.h"

#include <algorithm>
#include <cmath>
#include <mutex>

using namespace gist;
using namespace gist::plan;

Status Planner::check() const {
  const PlannedModule &module = pool.first().module();
  const std::string &name = pool.first().model().module->spec().model.name;
  if (calibration.layers != static_cast<size_t>(module.shape.layers) ||
      calibration.kvHeads != static_cast<size_t>(module.shape.kvHeads) ||
      // Windows move by blocks, so that measurements at another block are of
      // other heads.
      calibration.block != module.block || calibration.model != name)
    return Status::error(
        Code::BadArgument,
        "the calibration is of another model: %s, %zu layers with %zu KV heads "
        "and blocks of %lld; the module is %s, %lld layers with %lld KV heads "
        "and blocks of %lld",
        calibration.model.c_str(), calibration.layers, calibration.kvHeads,
        static_cast<long long>(calibration.block), name.c_str(),
        static_cast<long long>(module.shape.layers),
        static_cast<long long>(module.shape.kvHeads),
        static_cast<long long>(module.block));
  if (calibration.texts.empty() || calibration.runs.empty())
    return Status::error(Code::BadArgument,
                         "the calibration has no measurements");
  return {};
}

//===----------------------------------------------------------------------===//
// Options of the heads
//===----------------------------------------------------------------------===//

bool Planner::isAllowed(const HeadChoice &choice) const {
  switch (options.kinds) {
  case HeadKinds::All:
    return true;
  case HeadKinds::Windows:
    return choice.kind == HeadKind::Window;
  case HeadKinds::Representatives:
    return choice.kind == HeadKind::Clusters;
  }
  return false;
}

int64_t Planner::longest() const {
  int64_t most = 0;
  for (const Term &term : terms.terms())
    most = std::max(most, term.tokens);
  return most;
}

/// Multiply-adds for sequences of `tokens`, the mean over texts. Between and
/// beyond checkpoints work is a power of the length.
double Planner::workAt(const std::vector<HeadRun> &runs, int64_t tokens) const {
  std::vector<int64_t> checkpoints = calibration.checkpoints();
  size_t high = 1;
  while (high + 1 < checkpoints.size() && checkpoints[high] < tokens)
    ++high;
  const AttentionShape &shape = pool.first().module().shape;
  double below = 0, above = 0;
  for (const HeadRun &run : runs) {
    below += countMultiplyAdds(run.work[high - 1], shape);
    above += countMultiplyAdds(run.work[high], shape);
  }
  double step = std::log2(static_cast<double>(checkpoints[high]) /
                          static_cast<double>(checkpoints[high - 1]));
  double beyond = std::log2(static_cast<double>(tokens) /
                            static_cast<double>(checkpoints[high]));
  return above / static_cast<double>(runs.size()) *
         // Two points of a power law are a line between logarithms.
         std::pow(above / below, beyond / step);
}

/// The loss of one head alone in a term, never negative: gains by chance are
/// not spent. Half of it is the loss on the mean text, which is known better
/// than that of a single text.
double Planner::spend(const std::vector<HeadRun> &runs,
                      const Term &term) const {
  std::vector<int64_t> checkpoints = calibration.checkpoints();
  size_t last =
      0; // The longest measured prefix that is not longer than the term.
  while (last + 2 < checkpoints.size() && checkpoints[last + 1] <= term.tokens)
    ++last;
  auto loss = [&](size_t text) {
    // Answers are found in what was read long before, as second copies are.
    HeadLoss found = term.kind != TermKind::Perplexity
                         ? calibration.secondCopyLoss(runs[text], text)
                         : calibration.firstCopyLoss(runs[text], text, last);
    return std::max(found.estimate(), options.caution * found.divergence);
  };
  double sum = 0;
  for (size_t text = 0; text < runs.size(); ++text)
    sum += loss(text);
  double mean = sum / static_cast<double>(runs.size());
  // Other texts are taken to lose as much as those of the calibration.
  return texts.empty() && term.kind != TermKind::Tasks
             ? (loss(term.text) + mean) / 2
             : mean;
}

void Planner::collectOptions() {
  const AttentionShape &shape = pool.first().module().shape;
  double dense = countMultiplyAdds(denseWork(longest()), shape);
  const PlannedModule &module = pool.first().module();
  auto count = static_cast<double>(module.countChosen());
  for (size_t layer = 0; layer < calibration.layers; ++layer)
    for (size_t head = 0; head < calibration.kvHeads; ++head) {
      double whole =
          module.isChosen(layer * calibration.kvHeads + head) ? 1 / count : 0;
      std::vector<HeadOption> list = {
          {whole, std::vector<double>(terms.terms().size())}};
      std::vector<HeadChoice> choices = {{}};
      for (size_t i = 0; i < calibration.candidates.size(); ++i) {
        auto found = calibration.runs.find({layer, head, i});
        if (found == calibration.runs.end() ||
            !isAllowed(calibration.candidates[i]))
          continue;
        HeadOption option{workAt(found->second, longest()) / dense / count, {}};
        // Options that do not save work are left out.
        if (option.work >= list.front().work)
          continue;
        for (const Term &term : terms.terms())
          option.spends.push_back(spend(found->second, term));
        list.push_back(std::move(option));
        choices.push_back(calibration.candidates[i]);
      }
      heads.push_back(std::move(list));
      choicesOf.push_back(std::move(choices));
    }
}

Plan Planner::makePlan(const Choices &choices) const {
  Plan plan;
  plan.block = calibration.block;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i % calibration.kvHeads == 0)
      plan.layers.emplace_back();
    plan.layers.back().push_back(choicesOf[i][choices[i]]);
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

Status Planner::measure(const Choices &choices, Trial &trial) {
  if (auto known = trials.find(choices); known != trials.end()) {
    trial = known->second;
    progress->advance(terms.countWindows());
    return {};
  }
  trial = {choices, {}, 0, 0};
  Plan plan = makePlan(choices);
  GIST_TRY(terms.measureTexts(pool, plan, trial.measured));
  auto judgeAll = [&](bool areQuestions) {
    for (size_t k = 0; k < terms.terms().size(); ++k)
      if ((terms.terms()[k].kind == TermKind::Tasks) == areQuestions)
        trial.share =
            std::max(trial.share, judge(trial.measured, k) / limitOf(k));
  };
  judgeAll(/*areQuestions=*/false);
  for (size_t k = 0; k < terms.terms().size(); ++k)
    if (terms.terms()[k].tokens == longest())
      trial.work = std::max(trial.work, trial.measured.terms[k].work);
  // A plan that fails on the texts, or does not improve on the best, is not
  // measured on questions: these take most of the time.
  if (asksAlways || (trial.share <= 1 && trial.work < best.work)) {
    GIST_TRY(terms.askQuestions(pool, plan, trial.measured));
    judgeAll(/*areQuestions=*/true);
  }
  bool holds = trial.share <= 1;
  char line[128];
  std::snprintf(line, sizeof line, "work %.3f spends %.2f of what is allowed%s",
                trial.work, trial.share, holds ? "" : ": too much");
  progress->say(line);
  if (holds && trial.work < best.work)
    best = trial;
  trials[choices] = trial;
  return {};
}

/// Plans that a search measures: with each budget corrected, with all of them,
/// and in a round that refines.
static constexpr int kCorrections = 3, kSteps = 9, kRefineSteps = 8;

/// Corrects the budgets: first each by what its term lost together, then all by
/// one factor.
Status Planner::search() {
  size_t count = terms.terms().size();
  std::vector<double> scale(count, 1), budgets(count);
  auto choose = [&](double factor) {
    for (size_t k = 0; k < count; ++k)
      budgets[k] = factor * limitOf(k) / scale[k];
    return chooseOptions(heads, budgets);
  };
  Trial trial;
  // Heads lose more together than alone. Where there is time for few plans, the
  // first of them should keep the quality.
  double factor = limit.left() < kSteps * denseSeconds ? 0.25 : 1;
  for (int round = 0; round < kCorrections; ++round) {
    GIST_TRY(measure(choose(factor), trial));
    for (size_t k = 0; k < count; ++k) {
      double predicted = 0;
      for (size_t i = 0; i < heads.size(); ++i)
        predicted += heads[i][trial.choices[i]].spends[k];
      // Skips terms that hardly matter, whose ratio is noise, and terms that
      // were not measured.
      if (predicted < 0.1 * limitOf(k) || trial.measured.terms[k].parts.empty())
        continue;
      double ratio = judge(trial.measured, k) / predicted;
      // Half of the way, as logarithms go: a full step would swing about.
      scale[k] = std::sqrt(scale[k] * std::clamp(ratio, 0.1, 10.0));
    }
  }
  // A factor that holds and one that does not, then the middle of them.
  double low = 0, high = 0;
  for (int step = 0; step < kSteps; ++step) {
    GIST_TRY(measure(choose(factor), trial));
    (trial.share <= 1 ? low : high) = factor;
    // A plan that spends far too much is followed by a large step.
    factor = high == 0  ? low * 1.6
             : low == 0 ? high / std::clamp(trial.share, 1.6, 4.0)
                        : std::sqrt(low * high);
  }
  return {};
}

Status Planner::measureNeighbours(const Trial &start,
                                  std::vector<std::vector<HeadOption>> &moves,
                                  std::vector<std::vector<size_t>> &options) {
  size_t count = terms.terms().size();
  for (size_t i = 0; i < heads.size(); ++i) {
    size_t now = start.choices[i];
    // The next cheaper and the next dearer.
    size_t below = now, above = now;
    for (size_t j = 0; j < heads[i].size(); ++j) {
      double work = heads[i][j].work, here = heads[i][now].work;
      if (work < here && (below == now || work > heads[i][below].work))
        below = j;
      if (work > here && (above == now || work < heads[i][above].work))
        above = j;
    }
    moves.push_back({{heads[i][now].work, std::vector<double>(count)}});
    options.push_back({now});
    for (size_t j : {below, above}) {
      if (j == now)
        continue;
      Choices choices = start.choices;
      choices[i] = j;
      Trial trial;
      GIST_TRY(measure(choices, trial));
      HeadOption move{heads[i][j].work, {}};
      for (size_t k = 0; k < count; ++k)
        move.spends.push_back(terms.loss(trial.measured, k) -
                              terms.loss(start.measured, k));
      moves.back().push_back(std::move(move));
      options.back().push_back(j);
    }
  }
  return {};
}

/// Chooses again among each head's present option and its neighbours, by
/// measurements inside the plan: a head's loss depends on the others.
Status Planner::refine() {
  std::vector<std::vector<HeadOption>> moves;
  std::vector<std::vector<size_t>> options;
  // A copy: `best` moves while neighbours are measured.
  Trial start = best;
  asksAlways = true;
  GIST_TRY(measureNeighbours(start, moves, options));
  asksAlways = false;
  // Scales the rest of the budgets until the sum is right.
  double low = 0, high = 0, factor = 1;
  for (int step = 0; step < kRefineSteps; ++step) {
    std::vector<double> budgets;
    for (size_t k = 0; k < terms.terms().size(); ++k)
      budgets.push_back(factor * std::max(limitOf(k) - judge(start.measured, k),
                                          // A budget must not be 0: the solver
                                          // divides by it.
                                          0.01 * limitOf(k)));
    Choices choices = chooseOptions(moves, budgets), plan;
    for (size_t i = 0; i < choices.size(); ++i)
      plan.push_back(options[i][choices[i]]);
    Trial trial;
    GIST_TRY(measure(plan, trial));
    (trial.share <= 1 ? low : high) = factor;
    factor = high == 0  ? low * 1.6
             : low == 0 ? high / 1.6
                        : std::sqrt(low * high);
  }
  return {};
}

std::vector<Planner::Move> Planner::collectMoves() const {
  std::vector<Move> moves;
  for (size_t i = 0; i < heads.size(); ++i)
    for (size_t j = 0; j < heads[i].size(); ++j) {
      const HeadOption &now = heads[i][best.choices[i]], &next = heads[i][j];
      double spent = 0;
      for (size_t k = 0; k < next.spends.size(); ++k)
        spent = std::max(spent, (next.spends[k] - now.spends[k]) / limitOf(k));
      if (next.work < now.work)
        moves.push_back({i, j, now.work - next.work, spent});
    }
  std::sort(moves.begin(), moves.end(), [](const Move &a, const Move &b) {
    // Compares saved / spent without dividing: moves may spend nothing.
    double left = a.saved * b.spent, right = b.saved * a.spent;
    return left != right
               ? left > right
               : std::pair(a.head, a.option) < std::pair(b.head, b.option);
  });
  std::vector<bool> isThere(heads.size());
  std::erase_if(moves, [&](const Move &move) {
    bool wasThere = isThere[move.head];
    isThere[move.head] = true;
    return wasThere;
  });
  return moves;
}

/// Tries heads with less work, the best bargains first. What holds is followed
/// by twice as many heads at once, what does not by half of its heads, so that
/// a plan that may still lose much gets there in few measurements.
Status Planner::tryMoves() {
  std::vector<Move> moves = collectMoves();
  Choices turnsFrom = best.choices; // where this turn of all heads began
  size_t next = 0, many = 1;
  for (int tries = 0; tries < options.tries; ++tries) {
    // A head may move again once all others had their turn, from a plan that
    // is another by then.
    if (next == moves.size()) {
      std::vector<Move> later = collectMoves();
      next = 0;
      if (later.empty() || best.choices == turnsFrom)
        break;
      turnsFrom = best.choices;
      moves = std::move(later);
    }
    size_t end = std::min(next + many, moves.size());
    Choices choices = best.choices;
    for (size_t i = next; i < end; ++i)
      choices[moves[i].head] = moves[i].option;
    Trial trial;
    GIST_TRY(measure(choices, trial));
    if (best.choices == choices) {
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

/// Gives clusters room for what was measured and some more, and measures that.
Status Planner::giveRoom(Plan &plan, Measurement &measured) {
  double headroom = 1.25;
  constexpr int kTimes = 3;
  for (int i = 0; i < kTimes; ++i, headroom *= 1.5) {
    for (size_t number = 0; number < best.measured.clusters.size(); ++number) {
      HeadChoice &head = plan.layers[number / calibration.kvHeads]
                                    [number % calibration.kvHeads];
      if (head.kind != HeadKind::Clusters)
        continue;
      // A head that formed hardly any clusters here may need some on other
      // texts.
      constexpr double kFewest = 16;
      double share =
          std::max(best.measured.clusters[number] * headroom, kFewest) /
          static_cast<double>(context());
      // Three digits, rounded up, so that the room is never smaller.
      head.room = std::min(1.0, std::ceil(share * 1000) / 1000);
    }
    Status status = limit.isOver() ? Status::error(Code::Io, "no time")
                                   : terms.measure(pool, plan, measured);
    // There is room for more clusters than were formed, so that the same texts
    // give the same numbers: those of the search.
    if (!status.ok() && limit.hasStopped()) {
      measured = best.measured;
      return {};
    }
    GIST_TRY(std::move(status));
    bool holds = true;
    for (size_t k = 0; k < terms.terms().size(); ++k)
      holds &= judge(measured, k) <= limitOf(k);
    if (holds)
      return {};
  }
  return {};
}

size_t Planner::expectTrials() const {
  auto rounds = static_cast<size_t>(options.rounds),
       tries = static_cast<size_t>(options.tries);
  // The model as it is, the search, and the plan with room at the end.
  return 1 + kCorrections + kSteps +
         rounds * (2 * heads.size() + kRefineSteps) + tries + 1;
}

/// Its duration tells how much time to keep for the measurements after the
/// search.
Status Planner::measureDense() {
  double before = limit.taken();
  GIST_TRY(terms.measureDense(pool));
  denseSeconds = limit.taken() - before;
  double pace = denseSeconds /
                static_cast<double>(std::max<size_t>(terms.countTokens(), 1));
  double wanted = pace * static_cast<double>(tokensAfter);
  limit.reserve(std::min(wanted, 0.3 * limit.allowed()));
  return {};
}

Status Planner::findChoices(const Plan &plan, Choices &choices) const {
  if (plan.block != calibration.block)
    return Status::error(Code::BadArgument,
                         "--start: the plan has blocks of %lld tokens, the "
                         "calibration of %lld",
                         static_cast<long long>(plan.block),
                         static_cast<long long>(calibration.block));
  choices.assign(heads.size(), 0);
  for (size_t i = 0; i < heads.size(); ++i) {
    size_t layer = i / calibration.kvHeads, number = i % calibration.kvHeads;
    if (layer >= plan.layers.size() || number >= plan.layers[layer].size())
      return Status::error(Code::BadArgument,
                           "--start: the plan has no head %zu in layer %zu",
                           number, layer);
    HeadChoice wanted = plan.layers[layer][number];
    auto found =
        std::ranges::find_if(choicesOf[i], [&](const HeadChoice &choice) {
          HeadChoice other = choice;
          other.room = wanted.room;
          return other == wanted;
        });
    if (found == choicesOf[i].end())
      return Status::error(Code::BadArgument,
                           "--start: head %zu of layer %zu does what the "
                           "calibration has not measured: %s",
                           number, layer, printHead(wanted).c_str());
    choices[i] = static_cast<size_t>(found - choicesOf[i].begin());
  }
  return {};
}

Status Planner::searchAll() {
  Choices first;
  if (start)
    GIST_TRY(findChoices(*start, first));
  GIST_TRY(measureDense());
  // The model as it is keeps every contract.
  Trial dense;
  GIST_TRY(measure(Choices(heads.size()), dense));
  Trial trial;
  if (start)
    GIST_TRY(measure(first, trial));
  if (!hasPlan())
    GIST_TRY(search());
  for (int round = 0; round < options.rounds; ++round)
    GIST_TRY(refine());
  return tryMoves();
}

Status Planner::solve(const std::vector<int64_t> &lengths, Plan &plan,
                      Measurement &measured) {
  std::vector<std::string> paths = texts;
  if (paths.empty())
    for (const CalibrationText &text : calibration.texts)
      paths.push_back(text.path);
  GIST_TRY(terms.open(pool, paths, lengths));
  if (tasks.samples > 0)
    GIST_TRY(terms.addTasks(pool, tasks));
  collectOptions();
  // More than the dense model's 1, so that the first plan that holds is better.
  best.work = 2;
  pool.stopAt(limit);
  Progress bar("sequences", expectTrials() * terms.countWindows(), 0, &limit);
  std::mutex mutex;
  progress = &bar;
  terms.afterWindow = [&] {
    std::lock_guard<std::mutex> lock(mutex);
    bar.advance();
  };
  Status status = searchAll();
  complete = status.ok();
  if (!complete && !limit.hasStopped())
    return status;
  if (best.choices.empty())
    best.choices = Choices(heads.size());
  plan = makePlan(best.choices);
  if (hasPlan() || complete)
    GIST_TRY(giveRoom(plan, measured));
  if (complete)
    bar.finish();
  progress = nullptr;
  terms.afterWindow = nullptr;
  limit.reserve(0);
  return {};
}
