//===- GistPlanOps.td - A plan, and the weights it makes ---*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan stands in the module that it is for, as `gist.plan`. The passes of
// -gist-plan do what it says and take it away again, part by part. What they
// need besides the model's weights they define in the module: `gist.head_table`,
// `gist.constant_weight` and `gist.made_weight` say what a `gist.weight` of that
// name holds. Their content is computed when the module file is written.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PLAN_OPS
#define GIST_PLAN_OPS

include "dialect/GistAttrs.td"
include "dialect/GistPlanEnums.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

/// A number that reads as signed, so that a negative one is refused.
def Gist_PlanCount
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;

/// A list of ops that are records: they compute nothing.
class Gist_PlanListOp<string mnemonic, list<Trait> traits>
    : Op<Gist_Dialect, mnemonic, !listconcat([
        NoTerminator, NoRegionArguments, SingleBlock, IsolatedFromAbove], traits)>;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

def Gist_PlanOp : Gist_PlanListOp<"plan", [
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "what a model does less of";
  let description = [{
    The plan of the module's functions: a `gist.plan_layer` for each layer of the
    model, in order, and a `gist.plan_linear head` where the product with the
    vocabulary reads less. A plan is about a KV cache (heads and linear layers)
    or about whole sequences (selections).

    `block` is the number of tokens that leave windows at a time. `bases` is the
    file of bases. With `trace` a function returns what its selections looked at.
    The bulk of a prompt is all of it but its `first` and its `last` tokens;
    `gist.plan_depth` says which layers it walks through, and the file `maps`
    what replaces the others. With `thin_for_all` thin layers are so for all
    tokens; without `first` and `last` there is no bulk, and all layers are.

    Constraints:
      * (C1) A module has one plan.
      * (C2) The body has layers, and at most one `gist.plan_linear head`.
      * (C3) All layers have the same number of heads.
      * (C4) `block` is positive, and is given if layers have heads.
      * (C5) A plan with selections has neither heads nor linear layers nor
        depths.
      * (C6) `maps` comes with `gist.plan_depth`, and it with `maps`; `first` and
        `last` come together and with `maps`; tokens are from 0 to 2^24.
      * (C7) Layers after one of the tail belong to the tail.
      * (C8) A tail and `thin_for_all` need `first` and `last`.

    Example:

    ```mlir
    gist.plan block 128 {
      gist.plan_layer {
        gist.plan_head dense
        gist.plan_head window 8 theta 6.000000e-01 room 5.000000e-01
        gist.plan_linear o bits 3
      }
    }
    ```
  }];
  let arguments = (ins
    OptionalAttr<Gist_PlanCount>:$block, OptionalAttr<StrAttr>:$bases,
    UnitAttr:$trace, OptionalAttr<Gist_PlanCount>:$first,
    OptionalAttr<Gist_PlanCount>:$last, UnitAttr:$thin_for_all,
    OptionalAttr<StrAttr>:$maps
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`block` $block^)? (`bases` $bases^)? (`trace` $trace^)?
    (`first` $first^)? (`last` $last^)? (`thin_for_all` $thin_for_all^)?
    (`maps` $maps^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Gist_PlanLayerOp : Gist_PlanListOp<"plan_layer", [
    ParentOneOf<["::gist::PlanOp", "::gist::HeadTableOp"]>]> {
  let summary = "what one layer does less of";
  let description = [{
    What is not said stays as the model has it.

    Constraints:
      * (C1) The body has only `gist.plan_head`, `gist.plan_linear`,
        `gist.plan_depth`, `gist.plan_select` and `gist.plan_attend`.
      * (C2) Each group of linear layers is given at most once, and `head` is
        not given.
      * (C3) There is at most one selection, one `gist.plan_attend` and one
        `gist.plan_depth`.

    Example:

    ```mlir
    gist.plan_layer {
      gist.plan_select on residual tau [3.000000e-01] against all
      gist.plan_attend copy log_count
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

class Gist_PlanRecordOp<string mnemonic, list<Trait> traits>
    : Op<Gist_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

def Gist_PlanHeadOp : Gist_PlanRecordOp<"plan_head", [
    HasParent<"::gist::PlanLayerOp">]> {
  let summary = "what one KV head keeps of the past";
  let description = [{
    - `dense`: everything;
    - `window w sinks s`: the last w tokens and the first s;
    - `window w theta c room r`: the last w tokens exactly, and clusters of older
      ones that have a cosine of c and more, with room for r times the context;
    - `window w random r`: the same, with clusters that are drawn at random.

    Constraints:
      * (C1) `dense` stands alone; a window comes with one of `sinks`, `theta` and
        `random`, and `room` with `theta`.
      * (C2) Windows and sinks are from 0 to 2^24.
      * (C3) 0 < theta < 1, and 0 < room, random <= 1.

    Example:

    ```mlir
    gist.plan_head window 64 theta 9.000000e-01 room 2.500000e-01
    ```
  }];
  let arguments = (ins
    OptionalAttr<Gist_PlanCount>:$window, OptionalAttr<Gist_PlanCount>:$sinks,
    OptionalAttr<F64Attr>:$theta, OptionalAttr<F64Attr>:$room,
    OptionalAttr<F64Attr>:$random
  );
  let assemblyFormat = [{
    (`window` $window^) : (`dense`)? (`sinks` $sinks^)? (`theta` $theta^)?
    (`room` $room^)? (`random` $random^)? attr-dict
  }];
}

def Gist_PlanLinearOp : Gist_PlanRecordOp<"plan_linear", [
    ParentOneOf<["::gist::PlanLayerOp", "::gist::PlanOp"]>]> {
  let summary = "what the linear layers of one group read";
  let description = [{
    `bits` rounds their weights, to the nearest or `compensated`, as the file of
    bases has them; of a head the first `exact_rows` stay as stored, or with
    `exact_bits` in 8 bits. `k` gives a subspace of this many dimensions, in which
    they stay exact, and `epsilon` makes that a gate: rows up to `epsilon_low`
    read no weight, those up to `epsilon` the rounded one.

    Constraints:
      * (C1) `bits` is 2, 3, 4 or 8.
      * (C2) `compensated`, `exact_rows` and `epsilon_low` need `bits`.
      * (C3) `exact_rows` is positive and for `head`; `exact_bits` is 8 and needs
        it.
      * (C4) `k` is positive, needs `bits` or `epsilon`, and is not for `head`;
        `epsilon` needs `k`.
      * (C5) 0 <= epsilon_low < epsilon <= 1.

    Example:

    ```mlir
    gist.plan_linear gate_up bits 3 compensated k 32
    ```
  }];
  let arguments = (ins
    Gist_LinearPart:$part, OptionalAttr<Gist_PlanCount>:$bits,
    UnitAttr:$compensated, OptionalAttr<Gist_PlanCount>:$exact_rows,
    OptionalAttr<Gist_PlanCount>:$exact_bits, OptionalAttr<Gist_PlanCount>:$k,
    OptionalAttr<F64Attr>:$epsilon_low, OptionalAttr<F64Attr>:$epsilon
  );
  let assemblyFormat = [{
    $part (`bits` $bits^)? (`compensated` $compensated^)?
    (`exact_rows` $exact_rows^)? (`exact_bits` $exact_bits^)? (`k` $k^)?
    (`epsilon_low` $epsilon_low^)? (`epsilon` $epsilon^)? attr-dict
  }];
}

def Gist_PlanDepthOp : Gist_PlanRecordOp<"plan_depth", [
    HasParent<"::gist::PlanLayerOp">]> {
  let summary = "what a layer does for the bulk of a prompt, or for all tokens";
  let description = [{
    Without this op a layer is full. With n(x) = x / rms(x), x what comes into
    the layer, and maps that were fitted by least squares:

    - `thin neurons m`: attention as it is; the feed-forward block has m of its
      neurons, and another output weight, with a bias;
    - `linear`: keys and values by the layer's own weights, and then
      x + A n(x) + b: no queries, attention, output projection or feed-forward
      block;
    - `tail`: the products that keys and values begin with are B n(x_t) + c,
      with x_t what comes into the first layer of the tail. Nothing else is
      computed;
    - `any`: all of these, added up with weights that a search sets: a plan can
      be tried without compiling it.

    Constraints:
      * (C1) `neurons` is positive and comes with `thin`.

    Example:

    ```mlir
    gist.plan_depth thin neurons 1216
    ```
  }];
  let arguments = (ins
    Gist_DepthKind:$kind, OptionalAttr<Gist_PlanCount>:$neurons
  );
  let assemblyFormat = "$kind (`neurons` $neurons^)? attr-dict";
}

def Gist_PlanSelectOp : Gist_PlanRecordOp<"plan_select", [
    HasParent<"::gist::PlanLayerOp">]> {
  let summary = "the selection before a layer's attention";
  let description = [{
    `on` says what is compared: the residual stream, the rows that queries are
    projected from (`normalised`), or the `keys` of each KV head, then with one
    tau for all heads or one for each, where 0 keeps every token. Without a
    `rule` it is a `gist.gram_select`, with one a `gist.cascade_update` of the
    selection before it. `k` bounds cosines with the subspace of the linear
    layers that read these rows.

    Constraints:
      * (C1) There is a tau, and each is at least 0 and less than 1.
      * (C2) Several taus need `on keys`.
      * (C3) `against` comes without a rule.
      * (C4) `k` is positive and needs `on normalised`.

    Example:

    ```mlir
    gist.plan_select on keys tau [3.000000e-01, 0.000000e+00] similarity signed
    ```
  }];
  let arguments = (ins
    Gist_SelectOn:$on, DenseF64ArrayAttr:$taus,
    DefaultValuedAttr<Gist_AgainstAttr, "::gist::Against::Kept">:$against,
    DefaultValuedAttr<Gist_SimilarityAttr,
                      "::gist::Similarity::Absolute">:$similarity,
    OptionalAttr<Gist_CascadeRuleAttr>:$rule, OptionalAttr<Gist_PlanCount>:$k
  );
  let assemblyFormat = [{
    `on` $on `tau` $taus (`against` $against^)? (`similarity` $similarity^)?
    (`rule` $rule^)? (`k` $k^)? attr-dict
  }];
}

def Gist_PlanAttendOp : Gist_PlanRecordOp<"plan_attend", [
    HasParent<"::gist::PlanLayerOp">]> {
  let summary = "what a layer's attention does with a selection";
  let description = [{
    The `gist.attend` that takes the place of `gist.attention`, on the layer's
    selection or the last one before it.

    Constraints:
      * (C1) `window`, `block` and `merge` are for the mode `keys`, `log_count`
        for `copy`.
      * (C2) `window` is not negative, `block` is positive.

    Example:

    ```mlir
    gist.plan_attend keys window 128 block 128
    ```
  }];
  let arguments = (ins
    Gist_AttendModeAttr:$mode, UnitAttr:$log_count,
    OptionalAttr<Gist_PlanCount>:$window, OptionalAttr<Gist_PlanCount>:$block,
    DefaultValuedAttr<Gist_MergeAttr, "::gist::Merge::Mean">:$merge
  );
  let assemblyFormat = [{
    $mode (`log_count` $log_count^)? (`window` $window^)? (`block` $block^)?
    (`merge` $merge^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Weights that no model has
//===----------------------------------------------------------------------===//

def Gist_HeadTableOp : Gist_PlanListOp<"head_table", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "the table of heads of a KV cache of clusters";
  let description = [{
    Defines the weight of this name: layers x KV heads x 8 numbers in f32, what
    `gist.cluster_update` reads as `heads`, for a context of `capacity` tokens.
    The body has the layers of the plan, with only their heads.

    Constraints:
      * (C1) `capacity` and `block` are positive.
      * (C2) All layers have the same positive number of heads, and nothing else.

    Example:

    ```mlir
    gist.head_table @plan.heads context 8192 block 128 {
      gist.plan_layer {
        gist.plan_head dense
        gist.plan_head window 64 sinks 4
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, Gist_PlanCount:$capacity, Gist_PlanCount:$block
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `context` $capacity `block` $block attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Gist_ConstantWeightOp : Op<Gist_Dialect, "constant_weight", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "a weight of these numbers";
  let description = [{
    Defines the weight of this name: a constant that a session can change, as it
    can every weight.

    Constraints:
      * (C1) The numbers are f32.

    Example:

    ```mlir
    gist.constant_weight @plan.0.taus dense<[3.000000e-01, 0.000000e+00]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$values);
  let assemblyFormat = "$sym_name $values attr-dict";
  let hasVerifier = 1;
}

def Gist_MadeWeightOp : Op<Gist_Dialect, "made_weight", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "a weight that is computed from one of the model's";
  let description = [{
    Defines the weight of this name. With W the weight `of`, of rows x d numbers,
    and V the first k rows of `basis` in the file `in`, turned to d x k:

    | kind | shape | content |
    |---|---|---|
    | `rounded` | rows - exact_rows | W in `bits` bits, from row `exact_rows` on |
    | `exact` | exact_rows | its rows before, as stored or in 8 bits |
    | `basis` | d x k | V |
    | `transposed_basis` | k x d | V turned |
    | `image` | rows x k | W V |
    | `correction` | rows x k | (W - rounded W) V |

    The type is that of the `gist.weight`: blocks are bytes.

    Constraints:
      * (C1) The shape is static, of rank 2, or 3 for blocks.
      * (C2) All kinds but bases have a weight `of`.
      * (C3) `rounded` and `correction` have `bits`: 2, 3, 4 or 8.
      * (C4) `exact` has `exact_rows`, which are not negative; `exact_bits` is 8.
      * (C5) Bases, images and corrections have a `basis` and a positive `k`,
        which is in their type.

    Example:

    ```mlir
    gist.made_weight @blk.0.attn_q.weight.q3_1 rounded of "blk.0.attn_q.weight" bits 3 : tensor<576x18x16xi8>
    gist.made_weight @blk.0.attn_q.weight.image32 image of "blk.0.attn_q.weight" basis "0.qkv.basis" k 32 in "bases.safetensors" : tensor<576x1x34xi8>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, Gist_MadeWeightKind:$kind,
    OptionalAttr<StrAttr>:$source, OptionalAttr<Gist_PlanCount>:$bits,
    UnitAttr:$compensated, OptionalAttr<Gist_PlanCount>:$exact_rows,
    OptionalAttr<Gist_PlanCount>:$exact_bits, OptionalAttr<StrAttr>:$basis,
    OptionalAttr<Gist_PlanCount>:$k, OptionalAttr<StrAttr>:$bases,
    TypeAttrOf<AnyRankedTensor>:$type
  );
  let assemblyFormat = [{
    $sym_name $kind (`of` $source^)? (`bits` $bits^)?
    (`compensated` $compensated^)? (`exact_rows` $exact_rows^)?
    (`exact_bits` $exact_bits^)? (`basis` $basis^)? (`k` $k^)? (`in` $bases^)?
    attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def Gist_FittedWeightOp : Op<Gist_Dialect, "fitted_weight", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "a weight from a file of fitted maps";
  let description = [{
    Defines the weight of this name: the numbers of `tensor` in the file `in`, in
    the type of the `gist.weight`, where blocks are bytes. With a weight `of` the
    model, `tensor` is a list of row numbers, and the weight is these rows, as
    stored.

    Constraints:
      * (C1) The shape is static.

    Example:

    ```mlir
    gist.fitted_weight @depth.18.linear "18.linear" in "maps.safetensors" : tensor<576x18x34xi8>
    gist.fitted_weight @depth.6.blk.6.ffn_up.weight "6.rows" in "maps.safetensors" of "blk.6.ffn_up.weight" : tensor<768x18x20xi8>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, StrAttr:$tensor, StrAttr:$maps,
    OptionalAttr<StrAttr>:$source, TypeAttrOf<AnyRankedTensor>:$type
  );
  let assemblyFormat = [{
    $sym_name $tensor `in` $maps (`of` $source^)? attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

#endif // GIST_PLAN_OPS
