//===- Calibrator.cpp - Measures every head alone -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Calibrator.h"

#include "runtime/support/AtomicFile.h"
#include "runtime/support/Hash.h"
#include "tools/running/Observer.h"

#include <algorithm>
#include <cinttypes>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

/// A changed text must not be taken for the one that was measured.
static std::string hashTokens(const std::vector<int32_t> &tokens) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016" PRIx64,
                hashBytes({reinterpret_cast<const uint8_t *>(tokens.data()),
                           tokens.size() * sizeof(int32_t)}));
  return text;
}

/// Everything that can be wrong is found before the first measurement.
Status Calibrator::prepare() {
  GIST_TRY(pool.open(options.model, options.sessions));
  const PlannedModule &module = pool.first().module();
  data.model = pool.first().model().module->spec().model.name;
  data.layers = static_cast<size_t>(module.shape.layers);
  data.kvHeads = static_cast<size_t>(module.shape.kvHeads);
  data.block = module.block;
  data.tokens = options.tokens != 0 ? options.tokens : module.context;
  if (data.tokens > module.context)
    return Status::error(Code::BadArgument,
                         "--tokens: %" PRId64
                         " tokens do not fit a context of %" PRId64,
                         data.tokens, module.context);
  // Half of the sequence is text and half its copy, and each is whole blocks:
  // clusters form at the end of a block.
  if (data.tokens % (2 * data.block) != 0)
    return Status::error(Code::BadArgument,
                         "--tokens: %" PRId64
                         " is not a multiple of two blocks of %" PRId64,
                         data.tokens, data.block);
  data.candidates = options.candidates;
  for (const HeadChoice &choice : data.candidates)
    if (options.isByLayer && choice.kind != HeadKind::Window &&
        choice.kind != HeadKind::Clusters)
      return Status::error(Code::BadArgument,
                           "a candidate is %s; expected windows and clusters",
                           printHead(choice).c_str());
  auto half = static_cast<size_t>(data.tokens / 2);
  for (const std::string &path : options.texts) {
    std::vector<int32_t> tokens;
    GIST_TRY(readTokens(pool.first(), path, tokens));
    if (tokens.size() < half)
      return Status::error(
          Code::BadArgument,
          "%s: the text has %zu tokens, but a sequence takes %zu", path.c_str(),
          tokens.size(), half);
    // The text begins at its start.
    sequences.push_back(repeatHalf(tokens, 0, 2 * half));
    data.texts.push_back({path, hashTokens(sequences.back()), {}});
  }
  checkpoints = data.checkpoints();
  for (size_t head = 0; head < data.layers * data.kvHeads; ++head)
    if (module.isChosen(head))
      heads.push_back(head);
  if (heads.empty())
    return Status::error(Code::BadArgument,
                         "every head of the model sees a window of its own; a "
                         "plan has nothing to choose");
  return resume();
}

/// Takes what an earlier run has measured, if it measured the same.
Status Calibrator::resume() {
  if (!std::filesystem::is_regular_file(options.output))
    return {};
  Calibration old;
  GIST_TRY(readCalibration(options.output, old));
  // Everything that the measurements depend on. The path of a text does not
  // count, its tokens do.
  bool isSame = old.model == data.model && old.layers == data.layers &&
                old.kvHeads == data.kvHeads && old.block == data.block &&
                old.tokens == data.tokens &&
                old.candidates == data.candidates &&
                old.texts.size() == data.texts.size();
  for (size_t i = 0; isSame && i < old.texts.size(); ++i)
    isSame = old.texts[i].hash == data.texts[i].hash;
  if (!isSame)
    return Status::error(Code::BadArgument,
                         "%s: the file exists and is of another model, other "
                         "texts or other candidates; choose another name",
                         options.output.c_str());
  for (size_t i = 0; i < old.texts.size(); ++i)
    data.texts[i].dense = old.texts[i].dense;
  data.runs = std::move(old.runs);
  return {};
}

/// Keeps what concerns one head. The unchanged model is measured first.
Status Calibrator::measure(Prober &prober, const Plan &plan, size_t text,
                           size_t head, HeadRun &run) {
  ProbeRun probe;
  GIST_TRY(prober.run(plan, sequences[text], checkpoints, probe));
  if (dense[text].empty())
    // Only measureDense() gets here, with one thread for each text, so that
    // later measurements may read it without a lock.
    dense[text] = probe.losses;
  const std::vector<float> &before = dense[text];
  // Losses are summed between checkpoints, so that the curve over the length
  // can be computed later.
  size_t begin = 0;
  for (size_t i = 0; i < checkpoints.size(); ++i) {
    auto end = static_cast<size_t>(checkpoints[i]);
    double loss = 0, divergence = 0;
    for (size_t t = begin; t < end; ++t) {
      loss += static_cast<double>(probe.losses[t]);
      divergence +=
          divergenceOf(static_cast<double>(probe.losses[t] - before[t]));
    }
    run.losses.push_back(loss);
    run.divergences.push_back(divergence);
    run.work.push_back(probe.work[i][head]);
    run.clusters.push_back(probe.clusters[i][head]);
    begin = end;
  }
  return {};
}

/// Also fills `dense`, which all later measurements are compared with.
Status Calibrator::measureDense() {
  Plan plan = makeDense(pool.first().module());
  dense.resize(sequences.size());
  return pool.forEach(sequences.size(), [&](Prober &prober, size_t text) {
    HeadRun run;
    GIST_TRY(measure(prober, plan, text, 0, run));
    // Keeps the losses of an earlier run: its measurements are relative to
    // them.
    if (data.texts[text].dense.empty())
      data.texts[text].dense = run.losses;
    return Status();
  });
}

/// Whether a head loses so little that a dearer candidate cannot be worth it.
bool Calibrator::isNegligible(const std::vector<HeadRun> &runs) const {
  for (size_t i = 0; i < runs.size(); ++i)
    // The last checkpoint of the first copy, and all of the second.
    if (data.firstCopyLoss(runs[i], i, checkpoints.size() - 2).estimate() >
            options.negligible ||
        data.secondCopyLoss(runs[i], i).estimate() > 5 * options.negligible)
      return false;
  return true;
}

/// One candidate of one head, with all other heads dense. What is known already
/// is not measured again.
Status Calibrator::measureHead(Prober &prober, size_t head, size_t candidate) {
  const HeadChoice &choice = data.candidates[candidate];
  auto kind = static_cast<size_t>(choice.kind);
  Calibration::Key key(head / data.kvHeads, head % data.kvHeads, candidate);
  std::vector<HeadRun> runs;
  bool isNeeded = false;
  // Other sessions measure other heads at the same time.
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = data.runs.find(key);
    if (known != data.runs.end())
      runs = known->second;
    // Nothing is measured that an earlier run has, or that a cheaper candidate
    // makes needless.
    isNeeded = known == data.runs.end() && !isEnough[head][kind];
  }
  if (isNeeded) {
    Plan plan = makeDense(pool.first().module());
    plan.layers[head / data.kvHeads][head % data.kvHeads] = choice;
    runs.resize(sequences.size());
    for (size_t text = 0; text < sequences.size(); ++text)
      GIST_TRY(measure(prober, plan, text, head, runs[text]));
  }
  std::lock_guard<std::mutex> lock(mutex);
  ++done;
  if (!isEnough[head][kind]) {
    // By kind: a window that loses nothing does not rule out clusters with less
    // work.
    isEnough[head][kind] = isNegligible(runs);
    data.runs[key] = std::move(runs);
  }
  progress->advance();
  // A killed run loses little, and writing takes little of the time.
  std::chrono::duration<double> since =
      std::chrono::steady_clock::now() - written;
  return since.count() > 20 ? write() : Status();
}

/// The file is replaced whole, so that a kill at any time leaves a valid one.
Status Calibrator::write() {
  GIST_TRY(writeWhole(options.output, printCalibration(data)));
  written = std::chrono::steady_clock::now();
  return {};
}

size_t Calibrator::countAll() const {
  return heads.size() * data.candidates.size();
}

/// All heads with one candidate, then all with the next. Of each kind the
/// cheapest comes first, then the second of each, and so on: a calibration that
/// ends early knows every head.
Status Calibrator::measureAll() {
  std::vector<std::pair<size_t, size_t>> order; // rank in its kind, candidate
  // One for each HeadKind.
  std::array<size_t, 4> ranks = {};
  for (size_t i = 0; i < data.candidates.size(); ++i)
    order.emplace_back(ranks[static_cast<size_t>(data.candidates[i].kind)]++,
                       i);
  std::sort(order.begin(), order.end());
  isEnough.resize(data.layers * data.kvHeads);
  for (auto [rank, candidate] : order)
    GIST_TRY(pool.forEach(heads.size(), [&](Prober &prober, size_t number) {
      // What is known takes no time, and is counted even when time is over.
      return measureHead(prober, heads[number], candidate);
    }));
  return {};
}

//===----------------------------------------------------------------------===//
// By layer
//===----------------------------------------------------------------------===//

Status Calibrator::measureMoves(Moves &moves) {
  Prober &prober = pool.first();
  // So many queries of each sequence say enough.
  constexpr size_t kQueries = 256;
  HeadErrors seen(prober.module(), moves.tokens.size(),
                  std::max<size_t>(1, moves.tokens.size() / kQueries));
  GIST_TRY(prober.observe(makeDense(prober.module()), moves.tokens,
                          [&](const run::Observer::Shown &shown, size_t past,
                              size_t count) { seen.add(shown, past, count); }));
  if (!seen.isComplete())
    return Status::error(Code::BadArgument,
                         "%s: the module does not show the queries, keys and "
                         "values of every layer",
                         options.model.path.c_str());
  moves.errors = seen.measure(heads, moves.candidates, moves.checkpoints);
  return countWork(moves);
}

Status Calibrator::countWork(Moves &moves) {
  const PlannedModule &module = pool.first().module();
  for (size_t i = 0; i < moves.candidates.size(); ++i) {
    Plan plan = makeDense(module);
    for (size_t head : heads)
      plan.layers[head / data.kvHeads][head % data.kvHeads] =
          moves.candidates[i];
    std::vector<float> table;
    GIST_TRY(fitPlan(plan, module.table, module.context, table));
    WorkMeter meter(module.shape, module.block, std::move(table));
    std::vector<double> clusters(moves.errors.size());
    ProbeRun &run = moves.work.emplace_back();
    int64_t past = 0;
    for (int64_t end : moves.checkpoints) {
      while (past < end) {
        int64_t count =
            std::min(module.block - past % module.block, end - past);
        for (size_t head : heads)
          clusters[head] =
              moves.errors[head][i]
                  .clusters[static_cast<size_t>(past / module.block)];
        meter.add(past, count, clusters);
        past += count;
      }
      run.work.push_back(meter.heads());
      run.clusters.push_back(clusters);
    }
  }
  return {};
}

/// The candidate of least work whose result is near that of the head as it is;
/// or the nearest.
static size_t chooseNear(const std::vector<HeadError> &candidates,
                         const std::vector<ProbeRun> &work, size_t head) {
  constexpr double kNear = 0.02;
  auto movedOf = [&](size_t i) {
    double sum = 0;
    for (double moved : candidates[i].moved)
      sum += moved;
    return candidates[i].size > 0 ? sum / candidates[i].size : 0;
  };
  auto keysOf = [&](size_t i) { return work[i].work.back()[head].keys; };
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    double moved = movedOf(i), least = movedOf(best);
    bool isNear = moved < kNear, isBestNear = least < kNear;
    if (isNear != isBestNear ? isNear
        : isNear             ? keysOf(i) < keysOf(best)
                             : moved < least)
      best = i;
  }
  return best;
}

Status Calibrator::measureCosts(Prober &prober, size_t begin, size_t end,
                                const Moves &moves,
                                std::array<MeanLoss, 2> &costs) {
  Plan plan = makeDense(prober.module());
  double together[2] = {}; // of the text, and of its copy
  for (size_t head : heads) {
    size_t layer = head / data.kvHeads;
    if (layer < begin || layer >= end)
      continue;
    const std::vector<HeadError> &candidates = moves.errors[head];
    size_t near = chooseNear(candidates, moves.work, head);
    plan.layers[layer][head % data.kvHeads] = moves.candidates[near];
    for (size_t k = 0; k < moves.checkpoints.size(); ++k)
      together[k + 1 == moves.checkpoints.size()] += candidates[near].moved[k];
  }
  ProbeRun probe;
  GIST_TRY(prober.run(plan, moves.tokens, moves.checkpoints, probe));
  size_t half = moves.tokens.size() / 2;
  MeanLoss lost[2];
  // Nothing predicts the first token.
  for (size_t t = 1; t < moves.tokens.size(); ++t) {
    auto change = static_cast<double>(probe.losses[t] - moves.dense[t]);
    lost[t >= half].add({change, divergenceOf(change), 1});
  }
  for (size_t i = 0; i < 2; ++i)
    if (together[i] > 0)
      costs[i] = {lost[i].mean * lost[i].tokens / together[i],
                  lost[i].divergence * lost[i].tokens / together[i], 1};
  return {};
}

Status Calibrator::measureLayers() {
  // A file that is whole has all of them.
  if (data.runs.size() == countAll()) {
    done = countAll();
    progress->advance(done);
    return {};
  }
  data.runs.clear();
  // What is lost is known relative to the model as it is, which is not read at
  // this length.
  for (CalibrationText &text : data.texts)
    text.dense.assign(checkpoints.size(), 0);
  // Runs may be shorter than the sequences in which results move: what a move
  // costs does not depend on the length. Their windows are small, so that
  // results move by more than what rounding changes.
  int64_t tokens = options.runTokens != 0 ? options.runTokens : data.tokens;
  std::vector<HeadChoice> windows;
  for (int64_t window = data.block; windows.empty() || window <= tokens / 8;
       window *= 2)
    windows.push_back({.kind = HeadKind::Window,
                       .window = window,
                       .sinks = std::min<int64_t>(4, data.block)});
  std::vector<Moves> longs, shorts;
  double seconds = 0; // of a run
  for (size_t text = 0; text < sequences.size(); ++text) {
    longs.push_back({sequences[text], data.candidates, checkpoints});
    GIST_TRY(measureMoves(longs.back()));
    shorts.push_back(
        {repeatHalf(sequences[text], 0, static_cast<size_t>(tokens)), windows,
         makeCheckpoints(tokens)});
    GIST_TRY(measureMoves(shorts.back()));
    ProbeRun probe;
    Prober &prober = pool.first();
    double before = limit.taken();
    GIST_TRY(prober.run(makeDense(prober.module()), shorts.back().tokens,
                        shorts.back().checkpoints, probe));
    seconds += limit.taken() - before;
    shorts.back().dense = std::move(probe.losses);
  }
  // Where there is no time for a run of each layer, neighbours share one.
  size_t together = 1;
  constexpr double kPlanned = 1.2;
  while (together < data.layers &&
         kPlanned * seconds * static_cast<double>(data.layers) >
             limit.left() * static_cast<double>(together))
    ++together;
  size_t groups = (data.layers + together - 1) / together;
  return pool.forEach(groups, [&](Prober &prober, size_t group) {
    size_t begin = group * together, end = begin + together;
    std::map<Calibration::Key, std::vector<HeadRun>> found;
    for (size_t text = 0; text < sequences.size(); ++text) {
      std::array<MeanLoss, 2> costs;
      GIST_TRY(measureCosts(prober, begin, end, shorts[text], costs));
      for (size_t head : heads) {
        size_t layer = head / data.kvHeads;
        if (layer < begin || layer >= end)
          continue;
        for (size_t i = 0; i < data.candidates.size(); ++i) {
          HeadRun run;
          for (size_t k = 0; k < checkpoints.size(); ++k) {
            const MeanLoss &cost = costs[k + 1 == checkpoints.size()];
            double moved = longs[text].errors[head][i].moved[k];
            run.losses.push_back(cost.mean * moved);
            run.divergences.push_back(cost.divergence * moved);
            run.work.push_back(longs[text].work[i].work[k][head]);
            run.clusters.push_back(longs[text].work[i].clusters[k][head]);
          }
          found[{layer, head % data.kvHeads, i}].push_back(std::move(run));
        }
      }
    }
    std::lock_guard<std::mutex> lock(mutex);
    done += found.size();
    progress->advance(found.size());
    data.runs.merge(found);
    return Status();
  });
}

/// Heads are measured by several sessions at once; the order in which they end
/// does not matter.
Status Calibrator::run() {
  GIST_TRY(checkWritable(options.output));
  GIST_TRY(prepare());
  pool.stopAt(limit);
  Status status = options.isByLayer ? Status() : measureDense();
  if (!status.ok() && limit.hasStopped() && !limit.isInterrupted())
    return Status::error(
        Code::BadArgument,
        "--seconds: the model as it is takes longer than %g s on these texts; "
        "give more time, or a smaller number of --tokens",
        limit.allowed());
  GIST_TRY(std::move(status));
  written = std::chrono::steady_clock::now();
  Progress bar("measurements", countAll(), 0, &limit);
  progress = &bar;
  status = options.isByLayer ? measureLayers() : measureAll();
  progress = nullptr;
  complete = status.ok();
  // Measurements are kept after an error too.
  if (complete || !data.runs.empty())
    GIST_TRY(write());
  if (complete || !limit.hasStopped())
    return status;
  if (data.runs.empty())
    return Status::error(Code::BadArgument,
                         "--seconds: %g s are over before the first head was "
                         "measured; give more time, or a smaller number of "
                         "--tokens",
                         limit.allowed());
  if (limit.isInterrupted())
    return Status::error(Code::Io, "stopped; what was measured is in %s",
                         options.output.c_str());
  return {};
}
