//===- DepthPlan.h - Layers that a prompt does not walk through -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a plan that is about depth:
//
//   "depth": {"first": 4, "last": 128, "maps": "plan.maps.safetensors",
//             "least": {"cpu": 100}},
//   "layers": [
//     {"depth": "full"},
//     {"depth": {"thin": 768}},
//     {"depth": "linear"},
//     {"depth": "tail"}
//   ]
//
// The bulk of a prompt is all of it but its first and last tokens. For the bulk
// a layer is full, as without a plan; thin, with so many neurons of its
// feed-forward block; linear, keys and values and one map in place of the rest;
// or, from one layer on, of the tail: keys and values are maps of what comes
// into the first layer of the tail, and nothing else is computed
// (`gist.plan_depth` in dialect/GistPlanOps.td). A bulk of fewer tokens than
// "least" says for a device is read whole there. With "thin_for_all": true
// beside first and last, thin layers hold for all tokens: the ends of a prompt
// and what is written, too. Without first and last there is no bulk, and all
// layers hold for all tokens, as those of an encoder have to.
//
// The file of maps is safetensors, all of it f32. With l a layer, d the width
// of the model, W the name of a weight and m its rows:
//
//   l.linear         d x d    A of x + A n(x) + b
//   l.linear.bias    d        b
//   l.thin.rows      neurons  which neurons are left, from the first on
//   l.thin           d x neurons, and l.thin.bias, d: the output weight
//   W.tail           m x d    in place of W x of a layer of the tail
//   W.tail.bias      m
//   weights          hash of the model, four numbers of 16 bits
//
// For a search a layer is "any", all of the kinds at once. With h what the
// output weight of the feed-forward block reads and gates of ones and zeros:
//
//   next  = x + l.gate (layer(x) - x) + l.linear n(x) + l.linear.bias, where
//           the output weight of the layer is l.thin, d x all neurons
//   keys  = W.tail.gate (W x) + W.tail n(x) + W.tail.bias, and values
//
// A tail is layers that leave x as it is.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_FILE_DEPTHPLAN_H
#define GIST_PASSES_PLAN_FILE_DEPTHPLAN_H

#include "passes/Import/Files/Safetensors.h"
#include "passes/Import/Files/Weights.h"
#include "runtime/support/MappedFile.h"

namespace gist {

/// `Any` is for a search: what the layer does is a matter of its weights.
enum class LayerDepth { Full, Thin, Linear, Tail, Any };

struct DepthChoice {
  LayerDepth kind = LayerDepth::Full;
  int64_t neurons = 0; ///< of a thin layer

  bool operator==(const DepthChoice &) const = default;
};

struct DepthPlan {
  /// Without it layers are for all tokens; first and last do not matter then.
  bool hasBulk = true;
  /// Tokens at both ends of a prompt that walk through all layers.
  int64_t first = 4, last = 128;
  bool thinForAll = false; ///< where there is a bulk
  /// By the device's name, where it was measured: tokens of a bulk from which
  /// on the plan saves time.
  std::map<std::string, int64_t, std::less<>> least;
  std::string maps; ///< a file, as seen from here
  std::vector<DepthChoice> layers;

  /// Something other than full layers.
  bool isNeeded() const;
  /// The layers that hold for all tokens, or those that hold for the bulk
  /// alone; the others are full.
  DepthPlan partFor(bool allTokens) const;
};

/// What the plan's JSON has under "depth", and under that name in a layer.
std::string printDepth(const DepthPlan &plan);
std::string printDepth(const DepthChoice &choice);

/// Entries of a module whose layers are "any" and that is made with --observe,
/// for fitting. Both return values of the bulk by name. kTargetEntry is the
/// model as it is: "stream.5", what comes into layer 5, "5.sum", the rows that
/// its feed-forward block is added to with what the block gives, unless these
/// are what comes into layer 6, and under the name of its map what a product of
/// keys or values gives. kFitEntry does as the weights say: the same streams
/// and sums, and under the names of the linear and the thin map what these
/// read.
inline constexpr const char *kTargetEntry = "target", *kFitEntry = "fit";
std::string streamName(int64_t layer);
std::string sumName(int64_t layer);

/// The names of tensors in the file of maps.
std::string linearMapName(int64_t layer);
std::string thinMapName(int64_t layer);
std::string thinRowsName(int64_t layer);
std::string tailMapName(const std::string &weight);
std::string biasName(const std::string &map);
/// Of a layer that is "any", and of a product for its keys or values.
std::string gateName(int64_t layer);
std::string gateName(const std::string &tailMap);
/// The plan whose layers are all "any", and what `--plan` calls it.
inline constexpr const char *kDepthsPlan = "depths";
DepthPlan makeOpenDepths(int64_t layers);

class DepthMaps {
public:
  static Status open(const std::string &path, DepthMaps &maps);

  /// The tensor called `name`. Refuses one that is not there, of another shape,
  /// or with numbers that are not finite.
  Status find(const std::string &name, const std::vector<int64_t> &shape,
              std::vector<float> &values) const;
  /// Refuses maps that were fitted for other weights than those of the model
  /// with this hash.
  Status checkModel(uint64_t hash) const;

private:
  std::string path;
  std::unique_ptr<MappedFile> file;
  SafetensorsFile tensors;
};

/// A hash of the names, shapes and first bytes of a model's weights, and its
/// form in the tensor `kModelTensor`.
uint64_t hashOfModel(const WeightMap &model);
std::vector<float> wordsOfHash(uint64_t hash);
inline constexpr const char *kModelTensor = "weights";

/// The numbers `values` in `format`.
Weight fittedWeight(WeightFormat format, std::vector<int64_t> shape,
                    const std::vector<float> &values);
/// Rows of `source`, in the order of `rows`, as stored.
Status pickedWeight(const Weight &source, const std::vector<float> &rows,
                    Weight &picked);

} // namespace gist

#endif // GIST_PASSES_PLAN_FILE_DEPTHPLAN_H
