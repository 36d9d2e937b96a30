//===- Sampler.cpp - From logits to the next token ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

using namespace gist;

//===----------------------------------------------------------------------===//
// Sampler
//===----------------------------------------------------------------------===//

using Field = SampleSettings::Field;

/// The unit of top-p, and the weight of the best token.
static constexpr int64_t kWholeShare = int64_t{1} << 32;
static constexpr int64_t kWholeWeight = int64_t{1} << 30;

/// How much more likely the best token is than one that far below it, as
/// gist.sample says: whole numbers, so that a text is the same everywhere.
static int64_t getWeight(float logit, float best, float scale) {
  // 2^(-f) on [0, 1], in units of 2^-30. The same numbers are in
  // dialect/SamplingOps.cpp.
  constexpr int64_t kPowers[] = {kWholeWeight, -744261112, 257940802, -59591844,
                                 10304738,     -1386885,   123394};
  constexpr int kFractionBits = 25;
  // Also where both are infinite: their difference would be a NaN.
  if (logit == best)
    return kWholeWeight;
  float distance = (best - logit) * scale;
  // 2^-30 of the best token is less than one unit of weight.
  if (!(distance < 30.0f)) // A NaN never is.
    return 0;
  // Whole steps become a shift below, and the fraction goes into the
  // polynomial.
  auto units = static_cast<int64_t>(distance * (1 << kFractionBits));
  int64_t fraction = units & ((1 << kFractionBits) - 1), power = 0;
  for (size_t i = std::size(kPowers); i-- > 0;)
    power = kPowers[i] + (power * fraction >> kFractionBits);
  return power >> (units >> kFractionBits);
}

/// floor(total * share / 2^32) without overflow.
static int64_t getShare(int64_t total, int64_t share) {
  auto low = static_cast<uint64_t>(total) & 0xffffffff;
  return (total >> 32) * share +
         static_cast<int64_t>(low * static_cast<uint64_t>(share) >> 32);
}

Status gist::noTokenError(size_t logits) {
  return Status::error(Code::BadArgument,
                       "none of the %zu logits is a number above -inf", logits);
}

Status Sampler::create(const SamplerOptions &options, Sampler &sampler) {
  // Written so that NaN is refused too.
  if (!(options.temperature >= 0.0f) || std::isinf(options.temperature))
    return Status::error(
        Code::BadArgument,
        "the temperature is %g; expected a number that is not negative",
        static_cast<double>(options.temperature));
  if (!(options.topP > 0.0f && options.topP <= 1.0f))
    return Status::error(Code::BadArgument,
                         "top-p is %g; expected more than 0 and at most 1",
                         static_cast<double>(options.topP));
  if (!(options.minP >= 0.0f && options.minP <= 1.0f))
    return Status::error(Code::BadArgument, "min-p is %g; expected 0 to 1",
                         static_cast<double>(options.minP));
  AdjustmentList adjustments;
  GIST_TRY(makeAdjustments(options, adjustments));
  sampler.adjustments = std::move(adjustments);
  sampler.state = options.seed;
  sampler.isGreedy = options.temperature == 0.0f;
  // Weights are powers of two, so that e becomes part of the scale. A
  // temperature of 0 gives the largest scale, which top-k 1 makes irrelevant.
  constexpr double kLog2E = 1.4426950408889634;
  auto scale = static_cast<float>(
      std::min(kLog2E / static_cast<double>(options.temperature),
               static_cast<double>(std::numeric_limits<float>::max())));
  auto part = [](float share, int64_t whole) {
    return static_cast<int64_t>(
        std::ceil(static_cast<double>(share) * static_cast<double>(whole)));
  };
  std::array<int64_t, Field::NumFields> &numbers = sampler.settings.numbers;
  // The bits of the float: settings are one tensor of i64.
  numbers[Field::Scale] = std::bit_cast<int32_t>(scale);
  numbers[Field::TopK] = options.topK ? options.topK : INT32_MAX;
  numbers[Field::TopP] = part(options.topP, kWholeShare);
  numbers[Field::Least] =
      // At least 1, so that tokens of no weight are never drawn.
      std::max<int64_t>(1, part(options.minP, kWholeWeight));
  if (sampler.isGreedy)
    numbers[Field::TopK] = 1;
  return {};
}

void Sampler::see(std::span<const int32_t> tokens) {
  for (const std::shared_ptr<LogitsAdjustment> &adjustment : adjustments)
    adjustment->read(tokens);
}

Status Sampler::adjust(std::span<const float> &logits) {
  if (!needsLogits())
    return {};
  adjusted.assign(logits.begin(), logits.end());
  logits = adjusted;
  for (const std::shared_ptr<LogitsAdjustment> &adjustment : adjustments)
    GIST_TRY(adjustment->apply(adjusted));
  return {};
}

/// With the upper half of the next number of SplitMix64.
SampleSettings Sampler::next() {
  // The state stays as it is: no number is used up.
  if (isGreedy)
    return settings;
  state += 0x9E3779B97F4A7C15;
  uint64_t z = state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  z ^= z >> 31;
  settings.numbers[Field::Random] = static_cast<int64_t>(z >> 32);
  return settings;
}

Status Sampler::note(int32_t token) {
  for (const std::shared_ptr<LogitsAdjustment> &adjustment : adjustments)
    GIST_TRY(adjustment->write(token));
  return {};
}

Status Sampler::draw(std::span<const float> logits,
                     const SampleSettings &settings, int32_t &token) {
  GIST_TRY(adjust(logits));
  int64_t total = 0;
  GIST_TRY(filter(logits, settings, total));
  int32_t chosen = pick(total, settings.numbers[Field::Random]);
  GIST_TRY(note(chosen));
  token = chosen;
  return {};
}

/// The largest of some numbers; a NaN never is.
static float getLargest(std::span<const float> numbers) {
  constexpr size_t kLanes = 16; // Comparisons that do not wait for each other.
  std::array<float, kLanes> lanes;
  lanes.fill(-std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] =
          numbers[i + lane] > lanes[lane] ? numbers[i + lane] : lanes[lane];
  for (; i < numbers.size(); ++i)
    lanes[0] = numbers[i] > lanes[0] ? numbers[i] : lanes[0];
  return *std::max_element(lanes.begin(), lanes.end());
}

/// The first of the largest logits, or -1 if none is a number above -inf. One
/// thread looks for all sequences of a pool.
static int32_t findLargest(std::span<const float> logits, float &best) {
  constexpr size_t kBlock = 1024;
  best = -std::numeric_limits<float>::infinity();
  std::span<const float> found;
  for (size_t first = 0; first < logits.size(); first += kBlock) {
    std::span<const float> block =
        logits.subspan(first, std::min(kBlock, logits.size() - first));
    float largest = getLargest(block);
    if (largest > best) {
      best = largest;
      found = block;
    }
  }
  if (found.empty())
    return -1;
  return static_cast<int32_t>(std::find(found.begin(), found.end(), best) -
                              found.begin() + (found.data() - logits.data()));
}

Status Sampler::filter(std::span<const float> logits,
                       const SampleSettings &settings, int64_t &total) {
  float best;
  int32_t bestToken = findLargest(logits, best);
  if (bestToken < 0)
    return noTokenError(logits.size());
  candidates.clear();
  total = kWholeWeight;
  if (settings.numbers[Field::TopK] == 1) {
    candidates.push_back({best, bestToken, kWholeWeight});
    return {};
  }

  auto bits = static_cast<int32_t>(settings.numbers[Field::Scale]);
  auto scale = std::bit_cast<float>(bits);
  int64_t least = settings.numbers[Field::Least];
  total = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    if (int64_t weight = getWeight(logits[i], best, scale)) {
      candidates.push_back({logits[i], static_cast<int32_t>(i), weight});
      total += weight;
    }
  std::optional<Candidate> last = findLast(settings, total);
  std::erase_if(candidates, [&](const Candidate &candidate) {
    return candidate.weight < least || (last && comesBefore(*last, candidate));
  });
  total = 0;
  for (const Candidate &candidate : candidates)
    total += candidate.weight;
  return {};
}

int32_t Sampler::pick(int64_t total, int64_t random) const {
  // Less than the total, because the random number is below 2^32. So a token is
  // found.
  int64_t drawn = getShare(total, random), sum = 0;
  for (const Candidate &candidate : candidates) {
    sum += candidate.weight;
    if (sum > drawn)
      return candidate.token;
  }
  return candidates.back().token;
}

//===----------------------------------------------------------------------===//
// Drafted tokens
//===----------------------------------------------------------------------===//

double Distribution::probability(int32_t token) const {
  auto found = std::lower_bound(
      shares.begin(), shares.end(), token,
      [](const Share &share, int32_t id) { return share.token < id; });
  if (found == shares.end() || found->token != token)
    return 0;
  return static_cast<double>(found->weight) / static_cast<double>(total);
}

double Sampler::random() {
  return static_cast<double>(next().numbers[Field::Random]) /
         static_cast<double>(kWholeShare);
}

Status Sampler::distribution(std::span<const float> logits,
                             Distribution &result) {
  GIST_TRY(adjust(logits));
  GIST_TRY(filter(logits, settings, result.total));
  result.shares.clear();
  for (const Candidate &candidate : candidates)
    result.shares.push_back({candidate.token, candidate.weight});
  return {};
}

int32_t Sampler::drawFrom(const Distribution &from) {
  int64_t drawn = getShare(from.total, next().numbers[Field::Random]), sum = 0;
  for (const Distribution::Share &share : from.shares) {
    sum += share.weight;
    if (sum > drawn)
      return share.token;
  }
  return from.shares.back().token;
}

Status Sampler::verify(std::span<const float> logits, int32_t drafted,
                       const Distribution &draft, int32_t &token) {
  if (isGreedy)
    return sample(logits, token);
  Distribution target;
  GIST_TRY(distribution(logits, target));
  // Taken with the probability min(1, p / q). Otherwise the token is one that
  // was drafted too rarely, by how much too rarely that was: max(0, p - q).
  token = drafted;
  bool isTaken =
      random() * draft.probability(drafted) < target.probability(drafted);
  if (!isTaken) {
    std::vector<double> missing;
    double sum = 0;
    auto other = draft.shares.begin();
    for (const Distribution::Share &share : target.shares) {
      while (other != draft.shares.end() && other->token < share.token)
        ++other;
      double said = other != draft.shares.end() && other->token == share.token
                        ? static_cast<double>(other->weight) /
                              static_cast<double>(draft.total)
                        : 0.0;
      double wanted =
          static_cast<double>(share.weight) / static_cast<double>(target.total);
      missing.push_back(std::max(0.0, wanted - said));
      sum += missing.back();
    }
    double left = random() * sum;
    for (size_t i = 0; i < missing.size() && left >= 0; ++i) {
      left -= missing[i];
      if (missing[i] > 0)
        token = target.shares[i].token;
    }
  }
  return note(token);
}

/// The last of the candidates, whose weights add up to `total`, that top-k and
/// top-p leave; none where they leave all.
std::optional<Sampler::Candidate>
Sampler::findLast(const SampleSettings &settings, int64_t total) {
  auto topK = static_cast<size_t>(settings.numbers[Field::TopK]);
  int64_t topP = settings.numbers[Field::TopP];
  if (topK >= candidates.size() && topP >= kWholeShare)
    return std::nullopt;
  // Few are needed, so they are taken from a heap and the rest never sorted.
  // A copy: draw() walks through the candidates in the order of their ids.
  rest = candidates;
  first.clear();
  auto isLater = [](const Candidate &a, const Candidate &b) {
    return comesBefore(b, a);
  };
  std::make_heap(rest.begin(), rest.end(), isLater);
  auto take = [&] {
    std::pop_heap(rest.begin(), rest.end(), isLater);
    first.push_back(rest.back());
    rest.pop_back();
    return first.back().weight;
  };
  if (topK < rest.size()) {
    total = 0;
    while (first.size() < topK)
      total += take();
  }
  int64_t enough = std::max<int64_t>(1, getShare(total, topP)), kept = 0;
  size_t count = 0;
  while (kept < enough) {
    kept += count < first.size() ? first[count].weight : take();
    ++count;
  }
  return first[count - 1];
}

//===----------------------------------------------------------------------===//
// StopMatcher
//===----------------------------------------------------------------------===//

StopMatcher::StopMatcher(std::vector<std::string> strings)
    : stops(std::move(strings)) {
  // An empty string would be found everywhere.
  std::erase(stops, std::string());
  for (const std::string &stop : stops)
    longest = std::max(longest, stop.size());
}

std::string StopMatcher::push(std::string_view piece) {
  if (done)
    return {};
  held += piece;
  // The stop string that begins first, whichever is complete.
  size_t end = std::string::npos;
  for (const std::string &stop : stops)
    end = std::min(end, held.find(stop));
  done = end != std::string::npos;
  if (!done) {
    // The longest end of the text that some stop string begins with.
    end = held.size() - std::min(held.size(), longest);
    auto mayBegin = [&](size_t at) {
      std::string_view tail = std::string_view(held).substr(at);
      return std::any_of(
          stops.begin(), stops.end(),
          [&](const std::string &stop) { return stop.starts_with(tail); });
    };
    while (end < held.size() && !mayBegin(end))
      ++end;
  }
  std::string shown = held.substr(0, end);
  held.erase(0, done ? held.size() : end);
  return shown;
}

std::string StopMatcher::finish() {
  std::string shown = std::move(held);
  held.clear();
  return shown;
}
