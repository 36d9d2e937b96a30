//===- Passes.td - Every pass, in the order it runs --------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES
#define GIST_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

def RaiseSizesPass : Pass<"gist-raise-sizes", "::mlir::func::FuncOp"> {
  let summary = "sizes of a graph of torch-mlir as formulas of one number";
  let description = [{
    With dynamic sizes torch-mlir computes shapes in 64-bit integers, asserts what
    they must be, and asks at run time whether a size is one. Here every dynamic
    size of an argument is the same number T, at least one: the tokens of a call.
    Sizes that follow from it become index arithmetic, equal ones one value, and
    asserts that hold for every T go.

    ```mlir
    %d = tensor.dim %x, %c1 : tensor<1x?xi64>
    %i = arith.index_cast %d : index to i64
    %n = arith.cmpi sge, %i, %c0_i64 : i64
    cf.assert %n, "..."
    // becomes nothing: T is not negative
    ```

    Arguments lose the dimensions of one before the dynamic one, so that it is the
    first, as in graphs of imported models. An assert in the body of a gather says
    that an index is inside of its table. Kernels cannot abort, so the index is
    clamped instead.

    Refused, at the op: an argument with two dynamic dimensions, or with one that
    is after a dimension of more than one element; an assert that sizes do not
    decide.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseViewsPass : Pass<"gist-raise-views", "::mlir::func::FuncOp"> {
  let summary = "views that torch-mlir computes become views";
  let description = [{
    A `tensor.reshape` to a computed shape becomes `tensor.collapse_shape` and
    `tensor.expand_shape`. A loop that reads another tensor element by element at
    its own indices, as torch-mlir writes broadcasts of dynamic sizes, becomes a
    `linalg.generic` with a map, or nothing where it copies.

    ```mlir
    %y = linalg.generic {...} outs(%e : tensor<4x?xf32>) {
      %j = linalg.index 1 : index
      %is_one = arith.cmpi eq, %t, %c1 : index
      %k = arith.select %is_one, %c0, %j : index
      %v = tensor.extract %x[%i, %k] : tensor<4x?xf32>
    // becomes %x, where %t is the size of both
    ```

    Shapes that cannot be compared, and loops that compute something, are left.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def DropUnitDimsPass : Pass<"gist-drop-unit-dims", "::mlir::func::FuncOp"> {
  let summary = "drop dimensions of one, such as the batch";
  let description = [{
    Models in frameworks work on batches, and here the batch is one. Its dimension
    is dropped wherever ops carry it along, so that rows are tokens: 1 x T x d
    becomes T x d, and a batched product of one matrix a product. Views remain
    where a result of the function has the dimension.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseWeightsPass : Pass<"gist-raise-weights", "::mlir::ModuleOp"> {
  let summary = "constants of a graph become weights";
  let description = [{
    Tensors of numbers that a graph has as constants become `gist.weight`, with the
    content in a `gist.constant_weight`. The name is that of the resource if a
    person has named it; torch-mlir's own names, and constants without one,
    become `constant.0` and so on. Equal constants are one weight.

    ```mlir
    %w = arith.constant dense_resource<h.0.c_fc.weight> : tensor<96x24xf32>
    // becomes
    %w = gist.weight "h.0.c_fc.weight" : tensor<96x24xf32>
    ```

    Weights are f32, f16 or bf16. Integers and booleans are stored as f32 and
    converted where they are read; one that f32 does not hold exactly is an error.
    Constants of one number stay constants.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseAttentionPass
    : Pass<"gist-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "find attention in linalg, as torch-mlir writes it";
  let description = [{
    Two products with a softmax between them become `gist.attention`, which plans
    and kernels know. Heads are what the products call a batch; transposes bring
    the tensors to tokens x heads x width and back.

    ```mlir
    %s = linalg.batch_matmul ins(%q, %k : tensor<4x12x8xf32>, tensor<4x8x12xf32>) ...
    // scaled, masked, and as softmax: the maximum and the sum of each row
    %o = linalg.batch_matmul ins(%p, %v : tensor<4x12x12xf32>, tensor<4x12x8xf32>) ...
    // becomes
    %o = gist.attention %qt, %kt, %vt causal scale 3.53553385e-01
        : tensor<12x4x8xf32>, tensor<12x4x8xf32>, tensor<12x4x8xf32>
    ```

    Scores may be multiplied or divided by constants, and then masked: by adding a
    mask of queries x keys, or by choosing -infinity where a mask of booleans says
    so. A mask that is computed as "the key is not after the query" is `causal`,
    if there are as many keys as queries; any other mask is an operand.

    A query that sees no key is zero in `gist.attention`, as it is in
    `scaled_dot_product_attention`; a softmax that is written out makes it NaN.

    What differs in anything is left as it was: other element types than f32,
    scores that are scaled after they are masked, masks that differ by head,
    products that accumulate. Graphs with a dynamic number of tokens need
    `-gist-raise-sizes` and `-gist-raise-views` before, which remove broadcasts.

    Keys and values that are repeated for each query head of a group are read
    before that: `gist.attention` has fewer KV heads then.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

def RaiseLinearsPass : Pass<"gist-raise-linears", "::mlir::ModuleOp"> {
  let summary = "linear layers as the graph passes know them";
  let description = [{
    A product with a transposed weight becomes the product that plans, packing and
    kernels look for: `linalg.matmul` whose right side is outputs x inputs. A
    weight that is stored the other way is stored turned, under the same name, if
    nothing else reads it.

    ```mlir
    %t = linalg.transpose ins(%w : tensor<96x24xf32>) ... permutation = [1, 0]
    %y = linalg.matmul ins(%x, %t : tensor<?x24xf32>, tensor<24x96xf32>) ...
    // becomes
    %y = linalg.matmul indexing_maps = [(m, n, k) -> (m, k), (n, k), (m, n)]
        ins(%x, %w : tensor<?x24xf32>, tensor<96x24xf32>) ...
    ```

    Products of two computed tensors are left.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect"];
}

def NameLayersPass : Pass<"gist-name-layers", "::mlir::func::FuncOp"> {
  let summary = "find out which layer of a model a weight belongs to";
  let description = [{
    Plans speak of layers. Layers are counted by their attention: what the queries,
    keys and values of an attention are projected with, and every linear layer from
    there to the next one, belongs to it. After the last attention there may be
    heads: linear layers beyond as many as the other layers have there. With one
    layer alone, what is added to nothing afterwards is a head.

    Only weights of linear layers get a layer, and only where all layers have as
    many. A graph without attention is left alone.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

def StoreBooleansPass : Pass<"gist-store-booleans", "::mlir::func::FuncOp"> {
  let summary = "tensors of booleans are stored as bytes";
  let description = [{
    Buffers hold whole bytes. A `linalg.generic` that gives booleans to another
    op gives bytes, 0 or 1, and readers compare them with zero.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def WeightsToArgumentsPass
    : Pass<"gist-weights-to-arguments", "::mlir::func::FuncOp"> {
  let summary = "take weights from the caller instead of the model file";
  let description = [{
    Makes a graph that can be executed by itself, for tests and for other
    compilers. Arguments are appended in the order in which weights are named
    first, one for each name.

    ```mlir
    func.func @f(%x: tensor<?x8xf32>) -> tensor<4x8xf32> {
      %w = gist.weight "w" : tensor<4x8xf32>
      return %w : tensor<4x8xf32>
    }
    // becomes
    func.func @f(%x: tensor<?x8xf32>, %w: tensor<4x8xf32> {gist.name = "w"})
        -> tensor<4x8xf32> {
      return %w : tensor<4x8xf32>
    }
    ```

    A name that stands for two types is an error. Calls are not rewritten.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

//===----------------------------------------------------------------------===//
// The target, once for all passes after this one
//===----------------------------------------------------------------------===//

def SetTargetPass : Pass<"gist-set-target", "::mlir::ModuleOp"> {
  let summary = "write on the module what it is compiled for";
  let description = [{
    Later passes read the target from the module and have no option for it, so
    that what a stage has written can be fed to the next one as it is. The stages
    run this pass first when their options name a target.

    ```mlir
    module { ... }
    // becomes, with target=gfx942
    module attributes {gist.target = #gist.gpu_target<"gfx942", gram = exact>} { ... }
    ```

    A CPU's name, triple and features are written out, also where the options
    leave them open and mean this machine. A module that has a target keeps it;
    options that name another one are an error, as choices made so far would be
    wrong for it.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "cpu, gfx942 or sm_90; when empty what the module says, else cpu">,
    Option<"triple", "triple", "std::string", /*default=*/"",
           "LLVM triple of a CPU; this machine when empty">,
    Option<"cpu", "cpu", "std::string", /*default=*/"",
           "LLVM name of the CPU, or native">,
    Option<"features", "features", "std::string", /*default=*/"",
           "LLVM features on top of the CPU's, such as +i8mm,-sve">,
    Option<"gram", "gram", "std::string", /*default=*/"",
           "precision in which selections compare rows: exact, or fp8 on "
           "GPUs that multiply f8E4M3FNUZ; exact when empty">,
  ];
  let dependentDialects = ["::gist::GistDialect"];
}

//===----------------------------------------------------------------------===//
// Reference: the meaning of the ops
//===----------------------------------------------------------------------===//

def DecomposePass : Pass<"gist-decompose"> {
  let summary = "replace gist ops by their executable definition";
  let description = [{
    Turns every gist op into linalg, tensor, scf, arith and math: what the op
    means, written for clarity and not for speed. Every target is tested
    against it.

    ```mlir
    %s = gist.gram_select %x, 3.0e-1 : tensor<?x64xf32>
    %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<?>
    // becomes loops over tensors that compute %ids, %count, %nearest, %weight
    ```

    A selection that enters or leaves the function through its signature, or
    through an op of another dialect, has no tensors to become and is an error.
    `gist.weight` is left alone: its content is in the model file.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Ranks: a part of the graph for each of several
//===----------------------------------------------------------------------===//

def SplitRanksPass : Pass<"gist-split-ranks", "::mlir::ModuleOp"> {
  let summary = "leave the part of a model that one of several ranks has";
  let description = [{
    Heads of attention and columns between two products are shared out. Rank
    `rank` of `ranks` keeps the weights of its own. The product that sums over
    what was shared out reads all of it, and gives some of its columns:

    ```mlir
    %wq = gist.weight "q" : tensor<576x576xf32>   // and k, v, attention
    %wo = gist.weight "o" : tensor<576x576xf32>
    %y = linalg.matmul ins(%heads, %wo : tensor<?x576xf32>, tensor<576x576xf32>) ...
    // becomes on rank 0 of 2
    gist.weight_part @"q[0:384]" of "q" axis 0 offset 0 size 384
    %wq = gist.weight "q[0:384]" : tensor<384x576xf32>
    gist.weight_part @"o[0:288]" of "o" axis 0 offset 0 size 288
    %wo = gist.weight "o[0:288]" : tensor<288x576xf32>
    %all = gist.all_gather %heads columns [384, 192] : tensor<?x384xf32>
    %part = linalg.matmul ins(%all, %wo : tensor<?x576xf32>, tensor<288x576xf32>) ...
    %y = gist.all_gather %part columns [288, 288] : tensor<?x288xf32>
    ```

    So every number is the same product of the same rows as on one rank. With
    `sums` the product reads the rank's own part and gives a part of the sum,
    with half as many exchanges, in another order of additions:

    ```mlir
    gist.weight_part @"o[:, 0:384]" of "o" axis 1 offset 0 size 384
    %part = linalg.matmul ins(%heads, %wo : tensor<?x384xf32>, tensor<576x384xf32>) ...
    %y = gist.all_reduce %part : tensor<?x576xf32>
    ```

    A rank has whole KV heads with all their queries, or, where ranks are more
    than KV heads, some of the queries of one: then several ranks keep the same
    keys and values. Shares need not be equal. The rows of the product with the
    vocabulary are shared out too, and gathered. What a plan in the module says
    of heads is said of the rank's own.

    What cannot be shared out, because there are more ranks than heads or because
    blocks of weights would be cut, every rank computes whole.
  }];
  let options = [
    Option<"rank", "rank", "int64_t", /*default=*/"0", "which rank's part">,
    Option<"ranks", "ranks", "int64_t", /*default=*/"1",
           "how many ranks there are">,
    Option<"sums", "sums", "bool", /*default=*/"false",
           "add parts of products instead of gathering what they read">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def SplitStagesPass : Pass<"gist-split-stages", "::mlir::ModuleOp"> {
  let summary = "leave the layers of a model that one of several stages has";
  let description = [{
    Stage `stage` of `stages` keeps some of the layers, with their weights and
    their part of the cache. What the first of them reads comes from the stage
    before, and what the last gives goes to the next one:

    ```mlir
    // on stage 1 of 2
    %x = gist.hand_on %shape from 0 to 1 : tensor<?x576xf32>
    ... layers 15 to 29, and logits
    %logits = gist.hand_on %own from 1 to 0 : tensor<1x49152xf32>
    ```

    Every stage has the same `gist.hand_on` in the same order, also those that do
    not concern it. Logits go to the first stage, where tokens are drawn. On the
    other stages a placeholder for them is made of values that the stage has.

    What a plan in the module says of layers is said of the stage's own.
  }];
  let options = [
    Option<"stage", "stage", "int64_t", /*default=*/"0", "which stage's part">,
    Option<"stages", "stages", "int64_t", /*default=*/"1",
           "how many stages there are">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Plan: the graph does less work, where a plan says so
//===----------------------------------------------------------------------===//

def GateLinearsPass : Pass<"gist-gate-linears", "::mlir::ModuleOp"> {
  let summary = "let linear layers read less, as a plan says";
  let description = [{
    Linear layers that read the same rows become one gated projection, or read
    weights in fewer bits:

    ```mlir
    %q = linalg.matmul … ins(%x, %wq : …)
    %k = linalg.matmul … ins(%x, %wk : …)
    // becomes, with a gate,
    %y:2, %level = gist.gated_projection %x, %v, 1.0e-1
        weights(%wq, %wk : …) images(%mq, %mk : …) : …
    // and with only bits
    %b = gist.weight "blk.0.attn_q.weight.q3_1" : tensor<576x18x16xi8>
    %w = gist.dequantize %b format q3_1 : tensor<576x18x16xi8>
    %q = linalg.matmul … ins(%x, %w : …)
    ```

    With bits and a subspace but no gate, two thin products add the error of the
    rounded weight in the subspace again.

    Does what the `gist.plan_linear` ops of the module's `gist.plan` say, and
    removes them. Weights that the model does not have are defined in the module
    (`gist.made_weight`). How many rows took which level of a gate is counted in
    the state `gates`, layers x groups x 3. A plan for another number of layers
    and a subspace of more dimensions than the rows have are refused.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ClusterCachePass : Pass<"gist-cluster-cache", "::mlir::ModuleOp"> {
  let summary = "give a decoder the cache that a plan asks for";
  let description = [{
    Replaces the KV cache of every function by a cache of clusters, and attention
    on rows by attention on that cache:

    ```mlir
    %k1 = tensor.insert_slice %k into %k_cache[3, %past, 0, 0] ...
    %v1 = tensor.insert_slice %v into %v_cache[3, %past, 0, 0] ...
    %o = gist.attention %q, %all_k, %all_v causal : ...
    // becomes
    %heads = gist.weight "plan.heads" : tensor<30x3x8xf32>
    %n:5 = gist.cluster_update %k, %v, %heads, %past, %c3 into(...) block 128 : ...
    %o = gist.cluster_attention %q, %heads, %past, %c3 on(...) block 128 : ...
    ```

    Does what the `gist.plan_head` ops of the module's `gist.plan` say, and
    removes them. Which head keeps what is in the weight, a `gist.head_table`, so the
    functions are the same for every plan but for the sizes of the cache.
    Attention that is not causal, has a window or a mask, or does not read a
    cache is refused, and so is a plan with other layers or heads than the
    model's.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def InsertSelectionsPass : Pass<"gist-insert-selections", "::mlir::ModuleOp"> {
  let summary = "select representatives where a plan asks for them";
  let description = [{
    Before the attention of every layer that has a `gist.plan_select`, the
    tokens are selected: on the residual stream, on the rows that queries are
    projected from, or on the keys of each KV head. Attention itself stays as
    it is; -gist-attend-on-representatives reads the selections.

    ```mlir
    %s0 = gist.gram_select %x0, 3.0e-1 against all causal : tensor<?x576xf32>
    %o0 = gist.attention %q0, %k0, %v0 causal : ...
    ...
    %s1, %gone, %new = gist.cascade_update %x1, %s0, 3.0e-1 rule paper : ...
    %o1 = gist.attention %q1, %k1, %v1 causal : ...
    ```

    With a `k` on normalised rows a selection gets their coefficients in the
    basis of the linear layers that read them, and the norms of the rest
    (`subspace`): pairs that this bound decides are not computed in full.

    Three statistics are kept for each layer and head: the number of
    representatives (`representatives`), and how many of the layer before were
    dropped (`removed`) and how many are new (`added`).

    The residual stream is what is added to the result of attention; the rows
    that queries are projected from are found behind them. The pass refuses
    attention that reads a KV cache (it does not see the whole sequence), or has
    a mask, a window or offsets. It also refuses a plan with another number of
    layers or heads, and a rule that inherits where no layer before has a
    selection.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def AttendOnRepresentativesPass
    : Pass<"gist-attend-on-representatives", "::mlir::ModuleOp"> {
  let summary = "let attention work on the representatives of a plan";
  let description = [{
    ```mlir
    %o = gist.attention %q, %k, %v causal : ...
    // becomes
    %o = gist.attend %q, %k, %v on %s mode keys causal window 128 block 128 : ...
    ```

    with the selection of the layer, or the last one before it, where the layer
    has a `gist.plan_attend`.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

//===----------------------------------------------------------------------===//
// Graph: kernels
//===----------------------------------------------------------------------===//

def AddDecodeEntryPass : Pass<"gist-add-decode-entry", "::mlir::ModuleOp"> {
  let summary = "add an entry for one token";
  let description = [{
    Copies the function `from`, which takes any number of tokens, as `to`, which
    takes one: a product of one row with a matrix is bound by reading the matrix
    and wants a kernel of its own. The size is known everywhere in the copy.

    ```mlir
    func.func @prefill(%tokens: tensor<?xi32>, ...)
    // stays, and there is
    func.func @decode(%tokens: tensor<1xi32>, ...)
    ```

    A module for a GPU gets a second copy of `prefill`, which is called `short`.
    Its number of tokens is dynamic, but at most 16 (`gist.max_tokens`): its
    products read W once, by matrix instructions of 16 rows, and have the norm
    before them inside where rows are short.

    A module without `from`, or with a `to` of its own, is left alone.
  }];
  let options = [
    Option<"from", "from", "std::string", /*default=*/"\"prefill\"",
           "the function to copy">,
    Option<"to", "to", "std::string", /*default=*/"\"decode\"",
           "what the copy is called">,
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ReduceDepthPass : Pass<"gist-reduce-depth", "::mlir::ModuleOp"> {
  let summary = "let tokens walk through fewer layers";
  let description = [{
    Does what the plan's `gist.plan_depth` say: for the bulk of a prompt in a copy
    of the function `from`, a decoder on many tokens, as `to`, which returns its
    state alone; for all tokens (thin layers with `thin_for_all`, and every layer
    of a plan without a bulk, an encoder's) in all functions. With
    n(x) = x / rms(x):

    ```mlir
    // linear: %next, what comes into the next layer, becomes
    %n = ... x / rms(x) of %x, what comes into this one
    %a = linalg.matmul ins(%n, %map : tensor<?x576xf32>, tensor<576x576xf32>)
    %next = ... %x + %a + bias
    // tail: the products that keys and values begin with become
    %k = linalg.matmul ins(%n, %map : tensor<?x576xf32>, tensor<192x576xf32>)
    ```

    What then only computed values that are not read is gone. Maps are weights
    that `gist.fitted_weight` defines. The pass runs behind the others of
    `-gist-plan`, so that caches of clusters are reduced alike.

    Refused: layers whose attention, residual stream, products of keys and values
    or feed-forward block cannot be told from the graph, experts in thin layers,
    products that another part of the plan has replaced, and a last layer that is
    linear for all tokens.

    With `any` layers and the entry `observe` there are two more copies, `target`
    and `fit` (passes/Plan/File/DepthPlan.h).
  }];
  let options = [
    Option<"from", "from", "std::string", /*default=*/"\"prefill\"",
           "the function to copy">,
    Option<"to", "to", "std::string", /*default=*/"\"read\"",
           "what the copy is called">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def AddReadEntryPass : Pass<"gist-add-read-entry", "::mlir::ModuleOp"> {
  let summary = "add an entry that only leaves state";
  let description = [{
    Copies the function `from`, a model on many tokens, as `to`, which returns
    the state and nothing else. A prompt is read by several calls, and only the
    last one is asked for logits.

    ```mlir
    func.func @prefill(%tokens: tensor<?xi32>, %past: index, %cache: ...)
        -> (tensor<1x49152xf32>, ...)
    // stays, and there is
    func.func @read(%tokens: tensor<?xi32>, %past: index, %cache: ...) -> (...)
    ```

    What only made logits is gone: the head, and all of the last layer but its
    keys and values. A module without `from`, or with a `to` of its own, is left
    alone, and so is one whose first result is not called logits or is the only
    one, and one of several stages, which all run the same links of a chain.
  }];
  let options = [
    Option<"from", "from", "std::string", /*default=*/"\"prefill\"",
           "the function to copy">,
    Option<"to", "to", "std::string", /*default=*/"\"read\"",
           "what the copy is called">,
  ];
}

def AddSamplingPass : Pass<"gist-add-sampling", "::mlir::ModuleOp"> {
  let summary = "let an entry draw the token that follows";
  let description = [{
    The function `to` gets an argument behind its tokens, the settings of
    `gist.sample` (`sampling`), and a result behind its others, the token that is
    drawn from its logits (`next`). A caller that needs only this token does not
    read rows as wide as the vocabulary from the device.

    ```mlir
    func.func @prefill(%tokens: tensor<?xi32>, ...)
        -> (tensor<1x49152xf32> {gist.name = "logits"}, ...)
    // becomes
    func.func @prefill(%tokens: tensor<?xi32>, %sampling: tensor<1x5xi64>, ...)
        -> (tensor<1x49152xf32> {gist.name = "logits"}, ...,
            tensor<1xi32> {gist.name = "next"})
    ```

    A function whose first result is not named `logits` is left alone.
  }];
  let options = [
    Option<"to", "to", "std::string", /*default=*/"\"prefill\"",
           "the function that draws">,
  ];
  let dependentDialects = ["::gist::GistDialect"];
}

def NarrowRowsPass : Pass<"gist-narrow-rows", "::mlir::func::FuncOp"> {
  let summary = "compute the last layer of a prompt for its last token alone";
  let description = [{
    Moves the slice of one row up through norms, residual sums, products and
    attention, and what ranks exchange, to the last values of which all rows are
    read: in a decoder, the residual stream before the last layer, and that
    layer's keys and values.

    ```mlir
    %y = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<96x64xf32>) ...
    %last = tensor.extract_slice %y[%row, 0] [1, 96] [1, 1] : ...
    // becomes
    %one = tensor.extract_slice %x[%row, 0] [1, 64] [1, 1] : ...
    %last = linalg.matmul ins(%one, %w : tensor<1x64xf32>, tensor<96x64xf32>) ...
    ```

    Causal attention is narrowed for the last row alone: one query of several
    keys is the last of them. Left alone: functions of a few tokens
    (`gist.max_tokens`), attention with a mask or offsets, attention on clusters,
    and slices above which there is neither a product nor attention.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def AddNllEntryPass : Pass<"gist-add-nll-entry", "::mlir::ModuleOp"> {
  let summary = "add an entry that says how well a text is predicted";
  let description = [{
    Copies the function `from`, which returns the logits of every token, as `to`,
    which takes the tokens that should follow (`targets`) and returns for each
    the negative logarithm of its probability, in f32. The logits then stay on
    the device: rows as wide as the vocabulary become one number.

    ```mlir
    func.func @score(%tokens: tensor<?xi32>, ...) -> (tensor<?x49152xf32>, ...)
    // stays, and there is
    func.func @nll(%tokens: tensor<?xi32>, %targets: tensor<?xi32>, ...)
        -> (tensor<?xf32>, ...)
    ```

    With x the logits of a token, m the largest of them and y its target, the
    result is log(sum(exp(x - m))) + m - x[y]. A module without `from`, or with a
    `to` of its own, is left alone, and so is one whose first result is not rows
    of f32.
  }];
  let options = [
    Option<"from", "from", "std::string", /*default=*/"\"score\"",
           "the function to copy">,
    Option<"to", "to", "std::string", /*default=*/"\"nll\"",
           "what the copy is called">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def AddObserveEntryPass : Pass<"gist-add-observe-entry", "::mlir::ModuleOp"> {
  let summary = "add an entry that shows what linear layers read and give";
  let description = [{
    Copies the function `from` as `to`, which returns instead of its first result
    the rows that linear layers read: one result for all that read the same rows,
    named by layer, group and weights. Calibration takes their second moments.
    Then come the results of the linear layers, before any bias. These, and the
    rows that output projections read, which are the results of attention, let
    two modules be compared layer by layer. Last come the residual stream and the
    keys, values and queries of each layer, where the graph has them. A selection
    may be made on the first two or on the rows that queries read, and calibration
    counts the representatives that there would be; from keys, values and queries
    follows what a head of a plan would change. Queries are such that attention
    scales them by 1/sqrt(D).

    ```mlir
    func.func @prefill(%tokens: tensor<?xi32>, ...) -> (tensor<1x49152xf32>, ...)
    // stays, and there is
    func.func @observe(%tokens: tensor<?xi32>, ...)
        -> (tensor<?x576xf32> {gist.name = "0.qkv:blk.0.attn_q.weight+…"}, ...,
            tensor<?x576xf32> {gist.name = "0.qkv=blk.0.attn_q.weight"}, ...,
            tensor<?x576xf32> {gist.name = "0@residual"},
            tensor<?x3x64xf32> {gist.name = "0@keys"},
            tensor<?x3x64xf32> {gist.name = "0@values"},
            tensor<?x9x64xf32> {gist.name = "0@queries"}, ...)
    ```

    A module without `from` is left alone.
  }];
  let options = [
    Option<"from", "from", "std::string", /*default=*/"\"prefill\"",
           "the function to copy">,
    Option<"to", "to", "std::string", /*default=*/"\"observe\"",
           "what the copy is called">,
  ];
  let dependentDialects = ["::gist::GistDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LowerGatesPass : Pass<"gist-lower-gates", "::mlir::ModuleOp"> {
  let summary = "lower gated projections to products with a guard for each row";
  let description = [{
    With the level of a row as `gist.gated_projection` defines it,

    ```mlir
    %y, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : …) images(%m : …) : …
    // becomes
    %g = x V, %residual = x - V g, %level = …
    %a = gist.guarded_matmul %g, %m where %closed : …
    %b = gist.guarded_matmul %x, %w where %open : …
    %y = a + b
    ```

    Where a gate is open, M g + W (x - V g) is W x: the product with the rows
    themselves is the same and needs no M. Rows that are not f32 are left alone.

    GPUs have kernels of gates, and keep them. In a module with
    `gist.fast_plan`, which is for sm_90, gates of an unknown number of tokens
    become `%y = x W`, with the highest level for all rows, where a model of
    costs says that they would take longer; remarks say which and why.
  }];
  let options = [
    Option<"guards", "guards", "bool", /*default=*/"true",
           "products read the guard of each row; else all rows are multiplied">,
  ];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def FormKernelsPass : Pass<"gist-form-kernels", "::mlir::ModuleOp"> {
  let summary = "cut a model into kernels and calls of them";
  let description = [{
    Turns every function into calls (`gist.dispatch`) of kernels, private
    functions on tensors whose last arguments are destinations. A product,
    attention or selection takes the elementwise ops that follow it: bias,
    activation, residual. Norms, rotary embeddings and other work on rows
    become one kernel each. Rows written into the KV cache are written in place.

    ```mlir
    %p = linalg.matmul ... ins(%x, %w : ...) outs(%zero : ...) -> tensor<?x96xf32>
    %y = linalg.generic ... ins(%p, %bias : ...) outs(%e : ...)
    // becomes
    %y = gist.dispatch @matmul_0(%x, %w, %bias : ...) outs(%e : ...)
    ```

    Weights and the layer are arguments and equal kernels are kept once, so that
    the number of kernels does not grow with depth. A result that is read more
    than once ends a kernel.

    CPU kernels read heads in vectors of four numbers. Where heads have another
    size, and the number of tokens is not known, attention gets rows with zeros
    at their end; so do selections and attention on representatives.

    The upkeep of a cache of clusters is first taken out of the way of the
    layers: `gist.cluster_absorb` lets tokens leave the windows of many layers in
    one launch. On GPUs attention reads the rows of its call before they are in
    the cache as well. Remarks of the category `gist-form-kernels` say why an op
    was not fused.

    On a GPU a launch costs more than computing something twice to save it. For
    a module whose `gist.target` is a GPU, four more things become one kernel: a
    product whose halves meet element by element (gate and up) and what they
    give; the norm before a product of few rows, which every workgroup then
    computes, and that product, unless the norm takes two sums of a long row or
    rows are up to 16 and long; what is computed of the rows of one product:
    rotary embeddings, and keys and values on their way to the cache; and, for
    one token, all of that and its attention, which reads the token's own key
    and value before they are in the cache. On sm_90, where weights are few,
    attention of one token has the products before and behind it as well. The
    one behind it then gives a row for the heads of each KV head, and what reads
    the residual stream adds them up:

    ```mlir
    %o = linalg.matmul ... ins(%heads, %w : ...) -> tensor<1x576xf32>
    %y = linalg.generic ... ins(%x, %o : ...)
    // becomes
    %rows = gist.dispatch @attention_0(..., %w : ...) outs(%e : tensor<1x3x576xf32>)
    %u = gist.dispatch @matmul_0(%x, %rows, ... : ...) outs(...)
    ```
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Graph: products in 16 bits
//===----------------------------------------------------------------------===//

def RoundActivationsPass : Pass<"gist-round-activations"> {
  let summary = "store what products read in 16 bits";
  let description = [{
    Matrix instructions of GPUs multiply numbers of 16 bits, so a product rounds
    the rows that it reads, once for every tile of its result. Here they are
    rounded once, where they are computed; the numbers are the same.

    ```mlir
    %p = linalg.matmul ... ins(%x, %w : tensor<?x96xf32>, tensor<64x96xf16>)
    // becomes
    %h = linalg.generic ... ins(%x : tensor<?x96xf32>) outs(%e : tensor<?x96xf16>)
    %p = linalg.matmul ... ins(%h, %w : tensor<?x96xf16>, tensor<64x96xf16>)
    ```

    The same holds for products with experts, `gist.expert_matmul`. Rows that
    something besides such products reads stay as they are, and so do those of
    products of few rows, which are multiplied in f32. Rows that were
    16-bit numbers before are read as those by any product.
  }];
  let options = [
    Option<"fewRows", "few-rows", "int64_t", /*default=*/"8",
           "products of up to this many rows are multiplied as they are">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def MergeProjectionsPass : Pass<"gist-merge-projections"> {
  let summary = "make one product of those whose results are cut into heads";
  let description = [{
    Queries, keys and values are products of the same rows. With grouped heads
    those of keys and values are narrow: their tiles leave most of a GPU idle.
    They become one product with the weights one below the other, in the order
    of their names, and slices of its result. A bias is added to the slices.

    ```mlir
    %q = linalg.matmul ... ins(%x, %wq : ...) -> tensor<?x576xf32>
    %k = linalg.matmul ... ins(%x, %wk : ...) -> tensor<?x192xf32>
    // becomes
    %p = linalg.matmul ... ins(%x, %w : ...) -> tensor<?x768xf32>
    %q = tensor.extract_slice %p[0, 192] [%t, 576] [1, 1] : ...
    %k = tensor.extract_slice %p[0, 0] [%t, 192] [1, 1] : ...
    ```

    A gate and what it lets through become one product too: two of the same rows
    and as wide as each other, whose results come together element by element.
    What is computed from both is then computed along with the product.

    Products whose weight something else reads stay apart. The parts of a joined
    weight have no bytes of their own: a target that reads them apart finds them
    in the joined one.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Graph: products in 8 bits
//===----------------------------------------------------------------------===//

def QuantizeActivationsPass : Pass<"gist-quantize-activations"> {
  let summary = "multiply quantised weights in 8 bits";
  let description = [{
    ```mlir
    %f = gist.dequantize %w format q4_1 : tensor<192x18x20xi8>
    %y = linalg.matmul ... ins(%x, %f : ...) outs(%zero : ...)
    // becomes
    %q, %s = gist.quantize_rows %x : tensor<?x576xf32>
    %y = gist.quantized_matmul %q, %s, %w format q4_1 : ...
    ```

    Products that share an input share its quantised rows after CSE. A product
    that accumulates, or whose rows are not whole blocks of 32, is left alone.

    For a GPU weights of any format become numbers of 8 bits with a scale for each
    row, and so do rows of more than a few tokens. `numbers` says which: integers
    with scales for blocks of 128 of such a row, integers with one for the row, or
    floats with one for the row, of the type that the GPU multiplies.

    ```mlir
    %w = gist.weight "w" : tensor<192x576xf16>
    %y = linalg.matmul ... ins(%x, %w : ...) outs(%zero : ...)
    // becomes
    %v = gist.weight "w" {gist.by_row = i8} : tensor<192x576xi8>
    %f = gist.weight "w" {gist.by_row = i8} : tensor<192xf32>
    %q, %s = gist.quantize_blocks %x block 128 : tensor<?x576xf32>
    %p = gist.scaled_matmul %q, %s, %v block 128 : ...
    %y = linalg.generic ... ins(%p, %f : ...)   // p[t, n] * f[n]
    ```

    Few rows are multiplied with v * f as they are. A weight that something else
    reads too, such as a tied embedding, is left alone.
  }];
  let options = [
    Option<"numbers", "numbers", "std::string", "\"int8\"",
           "what GPUs multiply: int8, int8-rows or fp8">,
  ];
  let dependentDialects = ["::gist::GistDialect"];
}

def MergeProductsPass : Pass<"gist-merge-products"> {
  let summary = "make one product of those that share their input";
  let description = [{
    Products of the same rows with several weights (queries, keys and values;
    gate and up) become one product with the weights one below the other, and
    slices of its result: one launch instead of three, and the rows are read
    once.

    ```mlir
    %q = gist.quantized_matmul %x, %s, %wq format q4_1 : ...
    %k = gist.quantized_matmul %x, %s, %wk format q4_1 : ...
    // becomes
    %qk = gist.quantized_matmul %x, %s, %wqk format q4_1 : ...
    %q = tensor.extract_slice %qk[0, 0] ...
    %k = tensor.extract_slice %qk[0, 576] ...
    ```

    The bytes of the weights are joined when the module is written. Weights of
    different formats, and weights that are also read otherwise, are left alone.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::tensor::TensorDialect"
  ];
}

def AssignPackingPass : Pass<"gist-assign-packing", "::mlir::ModuleOp"> {
  let summary = "ask for weights in the order that a CPU's kernels read them";
  let description = [{
    ```mlir
    %w = gist.weight "blk.0.attn_k.weight" : tensor<192x18x20xi8>
    %y = gist.quantized_matmul %q, %s, %w format q4_1 : ...
    // becomes, for a CPU with i8mm
    %w = gist.weight "blk.0.attn_k.weight" {gist.format = #gist<block_format q4_1>,
        gist.packing = #gist.packing<columns = 4, …>} : tensor<48x18x80xi8>
    %y = gist.quantized_matmul %q, %s, %w format q4_1 packed <columns = 4, …> : ...
    ```

    The CPU is the one that the module's `gist.target` names. The bytes are packed
    when the module is written. A weight that is also read
    otherwise stays beside its packed form.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

//===----------------------------------------------------------------------===//
// Tile: kernels on tensors become loops over vectors
//===----------------------------------------------------------------------===//

def AddScratchPass : Pass<"gist-add-scratch", "::mlir::ModuleOp"> {
  let summary = "give kernels the memory that they work in on a target";
  let description = [{
    Kernels may need memory besides what their ops read and give. How much is
    known to the generator that writes them for the module's `gist.target`. It
    becomes the kernel's last destinations, and those of its calls: tensors of
    undefined content, then words of control, which are zero when a kernel starts
    and are marked `gist.control`. One kernel clears the words for all calls of a
    kind, and each call takes them from the call before.

    ```mlir
    %s:4 = gist.dispatch @select_0(%x : …) outs(…)
    // becomes
    %zero = gist.dispatch @clear_0() outs(%words : tensor<320xi32>)
    %s:6 = gist.dispatch @select_0(%x : …) outs(…, %memory, %zero : …)
    ```

    Kernels that have scratch already are left alone, so the stages of kernels
    (`-gist-tile`, `-gist-gpu-tile`) and of calls (`-gist-memory`) both begin
    with this pass and agree on what a kernel takes.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def KeepKernelsPass : Pass<"gist-keep-kernels", "::mlir::ModuleOp"> {
  let summary = "remove functions that call kernels";
  let description = [{
    A device runs only kernels. Removes the functions that call them
    (`gist.dispatch`) and the definitions of weights that these read, so that the module of `-gist-kernels` can be lowered as it is; -gist-memory
    and the module's writer take the other half.

    ```mlir
    func.func @prefill(...) { ... gist.dispatch @product_0(...) ... }
    func.func private @product_0(...) attributes {gist.kernel, ...} { ... }
    // becomes
    func.func private @product_0(...) attributes {gist.kernel, ...} { ... }
    ```

    A function that calls no kernel is left alone.

    Facts about the calls of a kernel are written on its arguments before the
    calls are removed. For sm_90, `gist.constant` marks those that are a weight
    in every call: no kernel writes them, so they can be read before earlier
    kernels are over. For GPUs, `gist.by_table` marks kernels whose launches
    sequences share (docs/decisions/016-rows-of-many-sequences.md).
  }];
}

def SelectTileConfigPass
    : Pass<"gist-select-tile-config", "::mlir::ModuleOp"> {
  let summary = "choose how every kernel is cut";
  let description = [{
    The only place that chooses numbers: writes `gist.tile` on every kernel,
    from the row of the module's `gist.target` in the table of targets, and the
    shapes. Later passes obey it; a kernel
    that already has one keeps it.

    ```mlir
    func.func private @k(...) attributes {gist.kernel = #gist.kernel<…>, gist.tile = #gist.cpu_product<
        rows = 32, columns = 64, registers = [8, 4], lanes = 4, instruction = smmla>}
    ```

    Each way to cut a kernel is an attribute of its own, whose verifier says what
    its numbers may be: `#gist.cpu_rows`, `#gist.cpu_product`,
    `#gist.cpu_bf16_product`, `#gist.cpu_attention`, `#gist.cpu_amx_attention`,
    `#gist.gpu_rows`, `#gist.gpu_product`, `#gist.gpu_gemv`,
    `#gist.gpu_gated`, `#gist.gpu_attention`, `#gist.gpu_decode`,
    `#gist.gpu_selection` and `#gist.gpu_clusters`. Later passes refuse a kernel
    that has one of another family than it is cut by.

    A product of one row with packed weights also gets `gist.prefetch = 6 : i64`
    where the target's row says so: it fetches weights that many blocks of 32 ahead.
    Attention of one query gets `gist.prefetch = 64 : i64` on x86: it fetches rows of
    the cache that many keys ahead.

    Where the target says `gram = fp8`, that of a selection has
    `element = f8E4M3FNUZ`: its rows are rounded to 8 bits before they are compared.
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

def TileAndDistributePass
    : Pass<"gist-tile-and-distribute", "::mlir::ModuleOp"> {
  let summary = "cut kernels into workgroups";
  let description = [{
    A kernel becomes one `scf.forall` over workgroups of the size that
    `gist.tile` says, and gains `gist.grid`: the sizes of the grid, x first, as
    functions of the kernel's index arguments and dynamic sizes.

    ```mlir
    %y = linalg.matmul ... -> tensor<?x96xf32>
    // becomes
    %y = scf.forall (%i, %j) = (0, 0) to (%t, 96) step (32, 48) shared_outs(...) {
      ... linalg.matmul ... -> tensor<?x48xf32>
    }
    ```

    Products and attention are tiled together with what they read and what
    follows them; kernels on whole rows run their body on some rows at a time. A
    kernel that is neither becomes one workgroup.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def VectorizeTilesPass
    : Pass<"gist-vectorize-tiles", "::mlir::func::FuncOp"> {
  let summary = "write tiles as loops over vectors";
  let description = [{
    Replaces products, attention, quantisation of rows, elementwise ops and
    reductions along rows by loops over vectors in registers, in the sizes and
    with the instruction that `gist.tile` says. Everything stays on tensors, but for
    scratch that tiles of AMX are loaded from and stored to.

    Ops of the dialect without a kernel of their own are replaced by their
    definition. A structured op that does not walk memory with its last loop
    stays as it is, and becomes scalar loops later. Remarks of the category
    `gist-vectorize-tiles` say what stayed, and why.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::affine::AffineDialect",
    "::mlir::amx::AMXDialect", "::mlir::arith::ArithDialect",
    "::mlir::arm_neon::ArmNeonDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def PlaceBuffersPass : Pass<"gist-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "keep the scratch of kernels on the stack";
  let description = [{
    Kernels allocate nothing: every buffer that bufferisation made becomes a
    piece of the stack, taken once at the start, of the largest size it can
    have. A buffer without a bound is an error. A function then has no results:
    they are in their destinations, or are copied there. Copies become loops.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"1048576",
           "bytes of scratch that one kernel may take">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def GpuTileProductsPass : Pass<"gist-gpu-tile-products", "::mlir::ModuleOp"> {
  let summary = "products of tensors become steps of a workgroup on tiles";
  let description = [{
    Replaces the product of a kernel that `gist.tile` cuts for matrix instructions
    by a `gist.tile_product`: which tile is staged when, what is waited for and
    what is multiplied meanwhile. What stands before and after the product stays
    on tensors.

    ```mlir
    %y = linalg.matmul ... -> tensor<?x192xf32>
    // becomes
    %y = gist.tile_product ins(%x, %w : ...) outs(%e : ...) workgroup [128, 64] waves [2, 2] {
    ^bb0(%row: index, %column: index):
      ...
      scf.for %step = ... {
        gpu.barrier
        %a, %b = gist.tile_load %tx[%stage], %tw[%stage] : ...
        %f = gist.tile_fetch %x[%row, %k] : ...
        %s = gist.tile_multiply %a, %b, %sums with mfma_32x32x8 : ...
        ...
    ```

    Products of few rows, which no matrix instruction multiplies, and kernels of
    several products are left to `-gist-gpu-kernels`.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def GpuKernelsPass : Pass<"gist-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "kernels on tensors become code of one GPU thread on buffers";
  let description = [{
    Writes the kernel of every kernel function for a workgroup of threads, in
    the sizes and with the instruction that `gist.tile` says. Products,
    attention and selections have generators; what stands before and after them
    in the kernel is computed element by element where it is needed, so nothing
    but results is written. Kernels on whole rows reduce along rows with the
    threads of a workgroup.

    ```mlir
    func.func private @k(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>)
        -> tensor<?x64xf32> attributes {gist.kernel = #gist.kernel<…>, gist.tile = …}
    // becomes
    func.func private @k(%x: memref<?x64xf32>, %y: memref<?x64xf32>)
        attributes {gist.kernel = #gist.kernel<…>, gist.grid = [#map], gist.workgroup = array<i64: 256>, …} {
      %thread = gpu.thread_id x
      …
    ```

    Workgroup memory is a `memref.alloca` in that address space.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::affine::AffineDialect",
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Target: GPU
//===----------------------------------------------------------------------===//

def LowerToGPUPass : Pass<"gist-lower-to-gpu", "::mlir::ModuleOp"> {
  let summary = "give kernels the signature a GPU's runtime launches";
  let description = [{
    Kernels on buffers become the functions of one `gpu.module`. Every slot is
    an argument, a pointer to global memory: the address of a buffer, or of a
    64-bit word that holds a number, so that a recorded launch stays right when
    numbers change. Workgroup memory becomes an attribution of the function;
    on sm_90 a part of the dynamic shared memory, whose size the attribute
    `gist.shared_memory` says. The GPU is that of the module's `gist.target`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect"
  ];
}

def ConvertGpuModulesPass
    : Pass<"gist-convert-gpu-modules", "::mlir::ModuleOp"> {
  let summary = "convert the kernels of a gpu.module to the LLVM dialect";
  let description = [{
    Runs the passes of MLIR that convert to the LLVM dialect with the instructions
    of the GPU that `gist.target` names: those of NVIDIA's GPUs or of AMD's.
  }];
}

def WriteGpuCodePass : Pass<"gist-write-gpu-code", "::mlir::ModuleOp"> {
  let summary = "write kernels in the LLVM dialect as code of a GPU";
  let description = [{
    For tests and for people: optimises the module for the GPU of
    its `gist.target` and writes it as
    assembly (ISA or PTX) or, for gfx942, as a code object with one symbol per
    kernel. The module is left as it is.
  }];
  let options = [
    Option<"assembly", "assembly", "bool", /*default=*/"false",
           "write assembly instead of a code object">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "file to write, - for standard output">,
  ];
}

//===----------------------------------------------------------------------===//
// Target: CPU
//===----------------------------------------------------------------------===//

def LowerToCPUPass : Pass<"gist-lower-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "give kernels the signature the runtime calls";
  let description = [{
    A kernel on buffers becomes

    ```mlir
    func.func @k(%slots: !llvm.ptr, %x: i64, %y: i64, %z: i64)
    ```

    Slots are 64-bit words: the address of each buffer or the value of each
    index argument, in order, then the dynamic sizes of the buffers, in order.
    The loop over workgroups becomes the one workgroup x, y, z.

    With `flat` each slot is an argument of its own: other runtimes than ours
    have no slots.

    ```mlir
    func.func @k(%a: !llvm.ptr, %b: !llvm.ptr, %tokens: i64, %x: i64, %y: i64, %z: i64)
    ```
  }];
  let options = [
    Option<"flat", "flat", "bool", /*default=*/"false",
           "take what slots hold as arguments">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def LowerVectorsPass : Pass<"gist-lower-vectors", "::mlir::func::FuncOp"> {
  let summary = "lower vector ops and math functions to what a CPU has";
  let description = [{
    Transfers become loads and stores (masked ones at the edge of a tensor), and
    exp, tanh, erf and their like become polynomials: kernels call no library.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ExpandFloatsPass : Pass<"gist-expand-floats", "::mlir::ModuleOp"> {
  let summary = "expand float ops that a CPU has no instruction for";
  let description = [{
    LLVM would call a library, and kernels call none. On x86-64 without F16C
    conversions from and to f16 become integer operations with the same results,
    arithmetic on f16 becomes arithmetic on f32; without FMA a fused multiply-add
    becomes a product and a sum; without SSE4.1 roundings become additions.

    ```mlir
    %y = math.fma %a, %b, %c : f32
    // becomes, for an x86-64 without FMA
    %p = arith.mulf %a, %b : f32
    %y = arith.addf %p, %c : f32
    ```

    A module for a CPU that has these instructions, or without a CPU target, is
    left as it is.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def WriteCpuCodePass : Pass<"gist-write-cpu-code", "::mlir::ModuleOp"> {
  let summary = "write kernels in the LLVM dialect as machine code";
  let description = [{
    For tests and for people: optimises the module for the CPU of
    its `gist.target` and writes it as
    assembly or as a shared object with one symbol per kernel. The module is
    left as it is.
  }];
  let options = [
    Option<"assembly", "assembly", "bool", /*default=*/"false",
           "write assembly instead of a shared object">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"",
           "file to write, - for standard output">,
  ];
}

//===----------------------------------------------------------------------===//
// Emit: the module file
//===----------------------------------------------------------------------===//

def PlanMemoryPass : Pass<"gist-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every destination a place in the arena";
  let description = [{
    Replaces the `tensor.empty` destinations of kernel calls by `gist.arena`:
    places in one piece of scratch memory, shared by what does not live at the
    same time. Sizes and offsets are polynomials in the tokens of the call, the
    tokens before it and the capacity; the function's attribute
    `gist.arena_size` is their total. The KV cache is updated where it is, and so
    is what another call has written. Results of the function stay `tensor.empty`:
    the caller has memory for them.

    ```mlir
    %e = tensor.empty(%t) : tensor<?x576xf32>
    // becomes
    %e = gist.arena(%t) at affine_map<()[s0, s1, s2] -> (s0 * 2304)> : tensor<?x576xf32>
    ```
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

//===----------------------------------------------------------------------===//
// Iree: text that IREE's compiler takes
//===----------------------------------------------------------------------===//

def InlineKernelsPass : Pass<"gist-inline-kernels", "::mlir::ModuleOp"> {
  let summary = "inline kernels that another compiler compiles";
  let description = [{
    Replaces calls of kernels that have no `gist.grid`, so no code of ours, by
    what the kernels compute, and removes these kernels.

    ```mlir
    %y = gist.dispatch @rows_0(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>)
    // becomes
    %y = linalg.generic ... ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) ...
    ```
  }];
  let dependentDialects = ["::gist::GistDialect"];
}

def ExportToIreePass : Pass<"gist-export-to-iree", "::mlir::ModuleOp"> {
  let summary = "turn weights, state and calls into IREE's ops";
  let description = [{
    The ops are IREE's, which this compiler does not know: they are written in
    their generic form, and the context must allow dialects that are not
    registered.

    - A weight becomes a `util.global` that IREE loads from a file of parameters,
      under the scope `model` and the weight's name.
    - An argument that comes back updated is state, such as the KV cache. It
      becomes a mutable global: functions load it, and store what they return
      for it. Functions that call an argument the same share the global. State
      that is `gist.zero_on_reset` is cleared by a function `reset`.
    - A number becomes an argument of 64 bits.
    - A call of a kernel that has a `gist.grid` becomes a `flow.dispatch` of a
      `stream.executable` that calls the kernel's code in the file `object`. On a
      GPU it becomes a `hal.dispatch.extern`.
    - `gist.cluster_update` and `gist.cluster_absorb` visit tokens in order, and
      what becomes of one depends on those before it. As loops they would run on
      IREE's host, with a dispatch for each token. So the op moves into a
      `flow.dispatch.workgroups` of one workgroup, which updates the cache in
      place; `-gist-decompose` does the rest inside.

    ```mlir
    func.func @decode(%t: tensor<1xi32>, %k: tensor<2x64xf32> {gist.name = "k_cache"})
        -> (tensor<1x8xf32>, tensor<2x64xf32>) {
      %w = gist.weight "w" : tensor<8x8xf32>
      ...
    // becomes
    "util.global"() {initial_value = #stream.parameter.named<"model"::"w"> : tensor<8x8xf32>, ...}
    func.func @decode(%t: tensor<1xi32>) -> tensor<1x8xf32> {
      %k = "util.global.load"() {global = @k_cache} : () -> tensor<2x64xf32>
      %w = "util.global.load"() {global = @w} : () -> tensor<8x8xf32>
      ...
      "util.global.store"(%k2) {global = @k_cache} : (tensor<2x64xf32>) -> ()
    ```

    Ops of this project that are left are for `-gist-decompose`. Attention is best
    replaced before, by `-gist-batch-attention`, which asks the plan how many keys
    there can be.
  }];
  let options = [
    Option<"object", "object", "std::string", /*default=*/"",
           "file with the code of kernels, as IREE's compiler is to find it">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def BatchSelectionsPass : Pass<"gist-batch-selections"> {
  let summary = "selections as products of batches, for IREE";
  let description = [{
    Replaces `gist.gram_select` and `gist.cascade_update` by a
    `linalg.batch_matmul` of all cosines, a batch for each head, by one
    `flow.dispatch.workgroups` that visits tokens in order, and by loops without
    an order. It computes what `-gist-decompose` gives, whose loops over tokens
    IREE would run on its host. The number of kept tokens stays on the device;
    no tensor has it as a size.

    ```mlir
    %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x576xf32>
    // becomes
    %dots = linalg.batch_matmul ... -> tensor<1x?x?xf32>
    %cosines = linalg.generic ...
    %kept, %ids, %count = "flow.dispatch.workgroups"(%cosines, ...)
    %nearest = linalg.generic ...
    %s = gist.pack_selection ...
    ```

    Ragged batches (`offsets`) and `rule inherit`, which computes nothing, are
    left to `-gist-decompose`.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def BatchAttentionPass : Pass<"gist-batch-attention"> {
  let summary = "attention as products of batches, for other compilers";
  let description = [{
    Replaces `gist.attention` by two `linalg.batch_matmul` with a softmax between
    them, a batch for each KV head. The query heads of a group are rows of one
    product. It computes what `-gist-decompose` gives, which has a loop over
    heads; compilers that know linalg make faster code of this.

    `gist.cluster_attention` becomes the same on keys that are gathered first.
    Their number is known only on the device. So the tensor has room for the
    most that the plan allows after that many tokens, if a `gist.head_table`
    defines the plan, else for all tokens; the rest is masked.

    `gist.attend` becomes the same, with a place for every token among the keys:
    the number of representatives is not known either. Products with the means
    of clusters are made in a `flow.dispatch.workgroups`, where sums are added
    up.

    One thing differs: a value that a query does not see is multiplied by zero
    here, so that a NaN there shows in the result. Ragged batches (`offsets`),
    and clusters with rows of their `own`, are left alone, and so are kernels.
  }];
  let dependentDialects = [
    "::gist::GistDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Check: at the end of every stage
//===----------------------------------------------------------------------===//

def CheckStagePass : Pass<"gist-check-stage", "::mlir::ModuleOp"> {
  let summary = "fail where the promise of a stage does not hold";
  let description = [{
    Every stage ends with it, in release too, so that a fault is reported where
    it is made. The diagnostic is at the op, and says what was found and what
    the stage promises:

    | stage | what holds at its end |
    |---|---|
    | `import` | functions on tensors, one block each; the arguments of a function have different names, and so have its results |
    | `graph` | the same; products and their weights agree about the packing |
    | `kernels` | host functions only call kernels; kernels are private and called, no two are equal, and they return their destinations |
    | `memory` | the same; all that calls write is in the arena, in an argument or returned |
    | `tiles` | kernels are on buffers, allocate nothing and have a grid |
    | `gpu-tiles` | the same; kernels have a workgroup and no loop over workgroups |
    | `cpu` | only the LLVM dialect and Arm's instructions; kernels have the type that the runtime calls |
    | `gpu` | only the LLVM dialect and the GPU's; kernels take addresses |

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      // error: 'math.exp' op is left in a host function; the stage 'kernels' …
      %y = math.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"stage", "stage", "std::string", /*default=*/"",
           "the stage whose promise is checked">,
  ];
}

#endif // GIST_PASSES
