//===- Calibrator.cpp - Measures every head alone -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Calibrator.h"

#include "passes/Plan/File/LinearPlan.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Hash.h"
#include "tools/running/Observer.h"

#include <algorithm>
#include <cinttypes>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

/// From sets of all tokens to ones of a few.
static constexpr double kTaus[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

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
  // Selections may be measured anew by themselves; the heads stay.
  if (old.selections.window == selectionWindow() &&
      std::ranges::equal(old.selections.taus, kTaus))
    data.selections = std::move(old.selections);
  return {};
}

/// Keeps what concerns the heads of a group. The unchanged model is measured
/// first.
Status Calibrator::measure(Prober &prober, const Plan &plan, size_t text,
                           const Group &group, std::vector<HeadRun> &runs) {
  ProbeRun probe;
  GIST_TRY(prober.run(plan, sequences[text], checkpoints, probe));
  if (dense[text].empty())
    // Only measureDense() gets here, with one thread for each text, so that
    // later measurements may read it without a lock.
    dense[text] = probe.losses;
  const std::vector<float> &before = dense[text];
  runs.assign(group.size(), {});
  auto share = static_cast<double>(group.size());
  // Losses are summed between checkpoints, so that the curve over the length
  // can be computed later.
  size_t begin = 0;
  for (size_t i = 0; i < checkpoints.size(); ++i) {
    auto end = static_cast<size_t>(checkpoints[i]);
    double whole = 0, more = 0, divergence = 0;
    for (size_t t = begin; t < end; ++t) {
      auto change = static_cast<double>(probe.losses[t] - before[t]);
      whole += static_cast<double>(before[t]);
      more += change;
      divergence += divergenceOf(change);
    }
    for (size_t k = 0; k < group.size(); ++k) {
      runs[k].losses.push_back(whole + more / share);
      runs[k].divergences.push_back(divergence / share);
      runs[k].work.push_back(probe.work[i][group[k]]);
      runs[k].clusters.push_back(probe.clusters[i][group[k]]);
    }
    begin = end;
  }
  return {};
}

/// Adds one window's rows in every layer to the curves.
static void
addSelections(const std::map<run::Observed, std::vector<float>> &shown,
              size_t tokens, size_t layers, size_t kvHeads,
              SelectionCurveMeter &meter) {
  auto add = [&](const char *on, size_t layer, size_t heads,
                 const std::vector<float> &rows) {
    size_t stride = rows.size() / tokens, width = stride / heads;
    // Heads lie side by side in a row.
    for (size_t head = 0; head < heads; ++head)
      meter.add(on, layer, head,
                {rows.data() + head * width, tokens, width, stride});
  };
  for (const auto &[what, rows] : shown) {
    auto layer = static_cast<size_t>(what.layer);
    if (what.layer < 0 || layer >= layers)
      continue;
    switch (what.kind) {
    case ObservationKind::Residual:
      add("residual", layer, 1, rows);
      break;
    case ObservationKind::Keys:
      add("keys", layer, kvHeads, rows);
      break;
    case ObservationKind::Input:
      // These linear layers read the rows that queries are projected from.
      if (what.group == linearGroupName(LinearGroup::Qkv))
        add("normalised", layer, 1, rows);
      break;
    case ObservationKind::Product:
      break;
    }
  }
}

/// Also fills `dense`, which all later measurements are compared with.
Status Calibrator::measureDense() {
  Plan plan = makeDense(pool.first().module());
  dense.resize(sequences.size());
  return pool.forEach(sequences.size(), [&](Prober &prober, size_t text) {
    std::vector<HeadRun> runs;
    GIST_TRY(measure(prober, plan, text, {0}, runs));
    // Keeps the losses of an earlier run: its measurements are relative to
    // them.
    if (data.texts[text].dense.empty())
      data.texts[text].dense = runs.front().losses;
    return Status();
  });
}

int64_t Calibrator::selectionWindow() const {
  return std::min(options.window, data.tokens / 2);
}

/// Counts the representatives that each layer would have, on the text without
/// its second copy: a token and its copy are always alike.
Status Calibrator::measureSelections() {
  if (data.selections.windows > 0 || !options.wantsSelections)
    return {};
  if (!pool.first().model().session->hasEntry(kEntryObserve)) {
    std::fprintf(
        stderr,
        "the calibration has no part about selections, because the module has "
        "no entry 'observe'; compile the model with gist-compile --observe\n");
    return {};
  }
  auto window = static_cast<size_t>(selectionWindow());
  size_t windows = static_cast<size_t>(data.tokens / 2) / window;
  Plan plan = makeDense(pool.first().module());
  SelectionCurveMeter meter(selectionWindow(),
                            {std::begin(kTaus), std::end(kTaus)});
  Progress bar("windows for selections", windows * sequences.size());
  for (const std::vector<int32_t> &sequence : sequences)
    for (size_t i = 0; i < windows; ++i) {
      if (limit.isOver())
        return Status::error(Code::Io, limit.isInterrupted()
                                           ? "stopped; nothing was measured"
                                           : "--seconds: there was no time for "
                                             "more than selections");
      std::span<const int32_t> tokens(sequence);
      std::map<run::Observed, std::vector<float>> rows;
      GIST_TRY(
          pool.first().observe(plan, tokens.subspan(i * window, window), rows));
      addSelections(rows, window, data.layers, data.kvHeads, meter);
      bar.advance();
    }
  data.selections = meter.finish();
  return {};
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
Status Calibrator::measureGroup(Prober &prober, const Group &group,
                                size_t candidate) {
  const HeadChoice &choice = data.candidates[candidate];
  auto kind = static_cast<size_t>(choice.kind);
  auto keyOf = [&](size_t head) {
    return Calibration::Key(head / data.kvHeads, head % data.kvHeads,
                            candidate);
  };
  std::map<size_t, std::vector<HeadRun>> runs;
  bool isNeeded = false;
  // Other sessions measure other heads at the same time.
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (size_t head : group) {
      auto known = data.runs.find(keyOf(head));
      if (known != data.runs.end())
        runs[head] = known->second;
      // Nothing is measured that an earlier run has, or that a cheaper
      // candidate makes needless.
      isNeeded |= known == data.runs.end() && !isEnough[head][kind];
    }
  }
  if (isNeeded) {
    runs.clear();
    Plan plan = makeDense(pool.first().module());
    for (size_t head : group)
      plan.layers[head / data.kvHeads][head % data.kvHeads] = choice;
    for (size_t text = 0; text < sequences.size(); ++text) {
      std::vector<HeadRun> found;
      GIST_TRY(measure(prober, plan, text, group, found));
      for (size_t k = 0; k < group.size(); ++k)
        runs[group[k]].push_back(std::move(found[k]));
    }
  }
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t head : group) {
    ++done;
    if (!isEnough[head][kind]) {
      // By kind: a window that loses nothing does not rule out clusters with
      // less work.
      isEnough[head][kind] = isNegligible(runs[head]);
      data.runs[keyOf(head)] = std::move(runs[head]);
    }
  }
  progress->advance(group.size());
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
  std::vector<Group> groups;
  for (size_t head : heads)
    if (options.isByLayer && !groups.empty() &&
        groups.back().front() / data.kvHeads == head / data.kvHeads)
      groups.back().push_back(head);
    else
      groups.push_back({head});
  for (auto [rank, candidate] : order)
    GIST_TRY(pool.forEach(groups.size(), [&](Prober &prober, size_t number) {
      // What is known takes no time, and is counted even when time is over.
      return measureGroup(prober, groups[number], candidate);
    }));
  return {};
}

/// Heads are measured by several sessions at once; the order in which they end
/// does not matter.
Status Calibrator::run() {
  GIST_TRY(checkWritable(options.output));
  GIST_TRY(prepare());
  pool.stopAt(limit);
  GIST_TRY(measureSelections());
  Status status = measureDense();
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
  status = measureAll();
  progress = nullptr;
  complete = status.ok();
  // Measurements are kept after an error too.
  if (complete || !data.runs.empty() || data.selections.windows > 0)
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
