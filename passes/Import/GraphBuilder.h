//===- GraphBuilder.h - The words graphs are written in ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits linalg, tensor and gist ops for what architectures are made of. An
// architecture reads like its paper; shapes, storage formats, the KV cache and
// the names in the two kinds of model files are kept in here.
//
// An activation is a tensor of tokens x features in f32; the number of tokens
// of a call is dynamic, everything else is static.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IMPORT_GRAPHBUILDER_H
#define GIST_PASSES_IMPORT_GRAPHBUILDER_H

#include "passes/Import/Architecture.h"
#include "passes/Import/Files/Lora.h"
#include "passes/Import/Files/Weights.h"
#include "passes/Import/ImportModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>
#include <set>

namespace gist {

enum class Bias {
  Yes,      ///< Must be in the model.
  IfStored, ///< Added where the model has one.
};

/// What is added to linear layers.
struct GraphAdapters {
  LoraAdapter merged; ///< into weights
  /// Of which each token has one or none.
  std::vector<LoraAdapter> chosen;
};

/// Builds `@forward`. A weight that is missing or of another shape is kept as
/// the first error, and building goes on with a placeholder of the expected
/// shape, so that architectures need no checks; takeStatus() returns the error.
class GraphBuilder {
public:
  GraphBuilder(mlir::ModuleOp module, const Architecture &architecture,
               const ModelConfig &config, const ModelSource &source,
               const ImportOptions &options, GraphAdapters &adapters,
               WeightMap &weights);

  /// Names that begin with a dot are those of this layer from now on.
  void enterLayer(int64_t layer) { currentLayer = layer; }
  void leaveLayers() { currentLayer = -1; }

  //===--- Embeddings -----------------------------------------------------===//

  /// The rows of a table that the tokens name.
  mlir::Value embedding(std::string_view name, int64_t rows, int64_t columns);
  /// The rows of a table for the tokens' positions; the table has
  /// `rows + offset` of them.
  mlir::Value positions(std::string_view name, int64_t rows, int64_t columns,
                        int64_t offset = 0);
  /// Adds row `row` of a table to every token.
  mlir::Value addRow(mlir::Value x, std::string_view name, int64_t rows,
                     int64_t row);
  /// Zeroes tokens equal to `token` and scales the rest by (1 - trained) /
  /// (1 - their share), to make up for the ones dropped in training.
  mlir::Value dropToken(mlir::Value x, int64_t token, double trained);

  //===--- Linear layers and norms ----------------------------------------===//

  /// x times the transposed weight (outputs x inputs), plus the bias.
  mlir::Value linear(mlir::Value x, std::string_view name, int64_t outputs,
                     Bias bias = Bias::IfStored);
  mlir::Value rmsNorm(mlir::Value x, std::string_view name);
  mlir::Value layerNorm(mlir::Value x, std::string_view name);
  /// Adds the bias of a linear layer to every token.
  mlir::Value addBias(mlir::Value x, std::string_view name);
  /// `rmsNorm` of every head of tokens x heads x size.
  mlir::Value headNorm(mlir::Value heads, std::string_view name);
  /// `rmsNorm` of whole rows that have been split into heads.
  mlir::Value rowNorm(mlir::Value heads, std::string_view name);
  mlir::Value scale(mlir::Value x, double factor);
  /// The model's own activation function.
  mlir::Value activation(mlir::Value x);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value columns(mlir::Value x, int64_t first, int64_t count);

  //===--- Mixtures of experts --------------------------------------------===//

  /// Which experts tokens have, and how much each counts.
  struct Routes {
    mlir::Value experts; ///< tokens x `count`, i32: the likeliest first
    llvm::SmallVector<mlir::Value> shares; ///< one for each token, of each
  };
  /// From logits of tokens x experts; ties go to the earlier expert.
  Routes route(mlir::Value logits);
  /// tokens x (experts of a token * outputs): `linear` by the experts that
  /// tokens have. `x` has one row of `inputs` for a token, or one for each of
  /// its experts. In the names of a folder `#` is the number of the expert.
  mlir::Value expertLinear(mlir::Value x, std::string_view name, int64_t inputs,
                           int64_t outputs, const Routes &routes);
  /// What experts gave, added up by their shares.
  mlir::Value addShares(mlir::Value parts, const Routes &routes);
  /// x times sigmoid(h w), a number for each token.
  mlir::Value gateRows(mlir::Value x, mlir::Value h, std::string_view name);

  //===--- Attention ------------------------------------------------------===//

  /// tokens x (count * size) as tokens x count x size.
  mlir::Value heads(mlir::Value x, int64_t count);
  /// tokens x (count * parts * size), of which every head has `parts` vectors,
  /// as tokens x count x size: one vector of each.
  mlir::Value headsOfPart(mlir::Value x, int64_t count, int64_t part,
                          int64_t parts);
  mlir::Value rotary(mlir::Value heads);
  /// Attention of heads, as tokens x features. A decoder's sees, causally, what
  /// the cache holds of this layer and then these tokens, and adds them to it.
  mlir::Value attention(mlir::Value q, mlir::Value k, mlir::Value v);

  //===--- Results --------------------------------------------------------===//

  /// The tokens whose logits are asked for: the last, or all.
  mlir::Value rowsOfLogits(mlir::Value x);
  /// The linear layer `name`, or the embedding's table where the model has tied
  /// the two.
  mlir::Value logits(mlir::Value x, std::string_view name,
                     std::string_view embedding, Bias bias = Bias::IfStored);
  mlir::Value meanOfRows(mlir::Value x);
  mlir::Value toUnitLength(mlir::Value x);
  bool hasTensor(std::string_view name) const;

  /// Returns the result, and the caches of a decoder, from `@forward`.
  void finish(mlir::Value result);

  /// The first error, also when a stored tensor was never used: the model then
  /// has something that the architecture does not know.
  Status takeStatus();

private:
  /// An operand of an elementwise op and the loop dimensions that index it.
  struct Operand {
    mlir::Value value;
    llvm::SmallVector<unsigned, 3> dims;
  };
  using Body = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                              mlir::ValueRange)>;

  /// A weight's op, and how its content is stored.
  struct LoadedWeight {
    mlir::Value value;
    WeightFormat format;
  };

  std::string folderName(std::string_view module) const;
  std::string fullName(std::string_view module, const char *suffix) const;
  /// What an adapter has of the layer `module`; null: nothing.
  LoraAdapter::Update *updateOf(LoraAdapter &adapter, std::string_view module);
  /// Of how many heads the halves alternate in rows of the layer `module`.
  int64_t alternatingHeads(std::string_view module) const;
  /// Merges what the adapter has of the layer `module`.
  Status adapt(std::string_view module, Weight &matrix);
  /// Takes the numbers of adapters out of the tokens.
  void splitTokens();
  bool isAdapted(std::string_view module) const;
  /// The factors of all chosen adapters of a layer, side by side.
  Status loadFactors(std::string_view module, int64_t outputs, int64_t inputs,
                     WeightFormat format);
  /// Adds to what a linear layer gives of x what the tokens' adapters do.
  mlir::Value addChosen(mlir::Value product, mlir::Value x,
                        std::string_view module, WeightFormat format);
  const StoredTensor *find(std::string_view module, const char *suffix,
                           std::string &name);
  /// How the source holds a weight.
  enum class Stored {
    AsIs,
    Transposed, ///< Columns for rows.
    LessOne,    ///< Every number is one too small.
    Stacked,    ///< Matrices of one shape, one below the other.
  };
  /// A weight that `weights` has by now, or none after an error.
  struct NamedWeight {
    std::string name;
    std::optional<WeightFormat> format;
  };
  NamedWeight loadWeight(std::string_view module, const char *suffix,
                         const std::vector<int64_t> &shape, Stored how);
  LoadedWeight weight(std::string_view module, const char *suffix,
                      const std::vector<int64_t> &shape,
                      Stored how = Stored::AsIs);
  /// The weights of all experts of a layer, one below the other.
  LoadedWeight expertWeight(std::string_view module, int64_t outputs,
                            int64_t inputs);
  mlir::Value emitWeight(const std::string &name, mlir::IntegerAttr layer = {});
  mlir::Value numbers(mlir::Value stored, WeightFormat format);
  mlir::Value project(mlir::Value x, std::string_view name, int64_t outputs,
                      Bias bias, Stored how);
  mlir::Value gatherRows(mlir::Value table, mlir::Value numbers);
  mlir::Value tableRows(std::string_view module, mlir::OpFoldResult first,
                        mlir::OpFoldResult count, int64_t rows,
                        int64_t columns);
  mlir::Value rotaryTable(const std::string &name,
                          const std::vector<float> &frequencies,
                          double (*function)(double));
  /// A KV cache: rows of heads, and of 8-bit integers what each row is scaled
  /// by.
  struct Cache {
    mlir::Value rows, scales;
  };
  mlir::Type getCacheElement();
  /// Puts rows of this call, tokens x heads (x size), behind those of a layer.
  mlir::Value insertRows(mlir::Value cache, mlir::Value rows);
  /// All rows of this layer up to those of this call.
  mlir::Value extractRows(mlir::Value cache);
  mlir::Value updateCache(Cache &cache, mlir::Value rows);
  /// Rows of heads as 8-bit integers, with a scale for each.
  Cache quantizeRows(mlir::Value rows);
  mlir::Value expandRows(const Cache &quantized);
  /// Makes the numbers of a key alike in size where the layer has a bias.
  void balanceKeys(mlir::Value &q, mlir::Value &k);
  mlir::Value convert(mlir::Value x, mlir::Type element);
  /// tokens x (count * size) as tokens x count x size.
  mlir::Value splitRows(mlir::Value x, int64_t count, int64_t size);

  mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape) const;
  mlir::Value empty(mlir::RankedTensorType type);
  mlir::Value zeros(mlir::RankedTensorType type);
  mlir::Value elementwise(mlir::RankedTensorType type,
                          llvm::ArrayRef<Operand> operands, Body body,
                          mlir::Value init = {});
  mlir::Value addOperand(mlir::Value x, Operand y);
  /// Sums `body` over the rows or the columns of a matrix: loop dimension
  /// `kept` is the one that stays.
  mlir::Value sum(unsigned kept, int64_t size, llvm::ArrayRef<Operand> operands,
                  Body body);
  /// The same over `rank` loops of which several stay, with these sizes.
  mlir::Value sum(unsigned rank, llvm::ArrayRef<unsigned> kept,
                  llvm::ArrayRef<int64_t> sizes,
                  llvm::ArrayRef<Operand> operands, Body body);
  /// The same, from zeros, with what `combine` makes of two numbers.
  mlir::Value reduce(unsigned rank, llvm::ArrayRef<unsigned> kept,
                     llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<Operand> operands, Body body, Body combine);
  /// max |x| over each row of tokens x heads x size; NaN where a row holds one.
  mlir::Value largestOfRows(mlir::Value heads);
  mlir::Value normWeight(std::string_view name, int64_t size);
  void fail(Status status);

  const Architecture &architecture;
  const ModelConfig &config;
  const ModelSource &source;
  const ImportOptions &options;
  GraphAdapters &adapters;
  WeightMap &weights;
  const bool hasCache; ///< of keys and values: tokens before this call

  mlir::ImplicitLocOpBuilder b;
  mlir::func::FuncOp function;
  mlir::Value tokens, past;
  Cache keyCache, valueCache;
  int64_t chosenRank = 0; ///< of all chosen adapters together
  /// Tokens x chosenRank: 1 for factors of the token's adapter, and 0.
  mlir::Value chosenShares;
  mlir::Value numTokens; ///< Of this call.
  mlir::Value total;     ///< Cached tokens and those of this call.
  /// For layers without and with a window.
  std::array<mlir::Value, 2> cosines, sines;
  int64_t currentLayer = -1;
  std::map<std::string, mlir::Value> emitted;
  std::set<const StoredTensor *> used;
  Status firstError;
};

} // namespace gist

#endif // GIST_PASSES_IMPORT_GRAPHBUILDER_H
