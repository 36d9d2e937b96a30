// RUN: gist-opt %s -gist-decompose -split-input-file -verify-diagnostics | FileCheck %s --implicit-check-not="gist."

// What the loops compute is compared with NumPy in test/numeric; here is what
// they are made of. Implicitly: no gist op is left.

// theta = 1 - 0.3^2 = 0.91, to f32; rows widen before they are multiplied; the scan over
// tokens carries flags, ids and their number, and compares with kept tokens only.
// CHECK-LABEL: func @select_kept
// CHECK-SAME:    %[[X:[a-z0-9_-]+]]: tensor<?x7xf16>
// CHECK-DAG:     %[[ZERO:[a-z0-9_-]+]] = arith.constant 0 : index
// CHECK-DAG:     %[[THETA:[a-z0-9_-]+]] = arith.constant 0.909999966 : f32
// CHECK-DAG:     %[[LOWEST:[a-z0-9_-]+]] = arith.constant 0xFF800000 : f32
// Tokens without heads are one head.
// CHECK:         %[[HEAD:[a-z0-9_-]+]] = tensor.expand_shape %[[X]] {{.+}} : tensor<?x7xf16> into tensor<1x?x7xf16>
// CHECK:         %[[ROWS:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[HEAD]] : tensor<1x?x7xf16>)
// CHECK:           arith.extf %{{.+}} : f16 to f32
// CHECK:         %[[DOTS:[a-z0-9_-]+]] = linalg.batch_matmul {{.+}} ins(%[[ROWS]], %[[ROWS]] : tensor<1x?x7xf32>, tensor<1x?x7xf32>)
// CHECK-SAME:      outs({{.+}} : tensor<1x?x?xf32>)
// The sum of squares, its root, and NaN for a row without a direction.
// CHECK:         linalg.generic {{.+}} ins(%[[ROWS]] : tensor<1x?x7xf32>)
// CHECK:         math.sqrt
// The cosine: one norm after the other, then its magnitude.
// CHECK:         %[[COS:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[DOTS]],
// CHECK:         ^bb0(%[[DOT:[a-z0-9_-]+]]: f32, %[[BY_T:[a-z0-9_-]+]]: f32, %[[BY_S:[a-z0-9_-]+]]: f32, %{{.+}}: f32):
// CHECK:           %[[HALF:[a-z0-9_-]+]] = arith.mulf %[[DOT]], %[[BY_S]] : f32
// CHECK:           %[[BOTH:[a-z0-9_-]+]] = arith.mulf %[[HALF]], %[[BY_T]] : f32
// CHECK:           %[[ABS:[a-z0-9_-]+]] = math.absf %[[BOTH]] : f32
// CHECK:           %[[IS:[a-z0-9_-]+]] = arith.cmpf ord, %[[ABS]], %[[ABS]] : f32
// CHECK:           arith.select %[[IS]], %[[ABS]], %[[LOWEST]] : f32
// CHECK:         %[[THETAS:[a-z0-9_-]+]] = linalg.fill ins(%[[THETA]] : f32) outs({{.+}} : tensor<1xf32>)
// CHECK:         scf.for %[[H:[a-z0-9_-]+]] = %[[ZERO]]
// CHECK:           scf.for %[[T:[a-z0-9_-]+]] = %[[ZERO]] {{.+}} iter_args(%[[FLAGS:[a-z0-9_-]+]] = {{.+}}, %[[IDS:[a-z0-9_-]+]] = {{.+}}, %[[SIZE:[a-z0-9_-]+]] = %[[ZERO]]) -> (tensor<1x?xi32>, tensor<1x?xi32>, index)
// CHECK:             scf.for %[[J:[a-z0-9_-]+]] = %[[ZERO]] to %[[SIZE]] {{.+}} -> (i1)
// CHECK:               %[[ID:[a-z0-9_-]+]] = tensor.extract %[[IDS]][%[[H]], %[[J]]]
// CHECK:               %[[S:[a-z0-9_-]+]] = arith.index_cast %[[ID]] : i32 to index
// CHECK-DAG:           %[[C:[a-z0-9_-]+]] = tensor.extract %[[COS]][%[[H]], %[[T]], %[[S]]]
// CHECK-DAG:           %[[BOUND:[a-z0-9_-]+]] = tensor.extract %[[THETAS]][%[[H]]]
// CHECK:               arith.cmpf oge, %[[C]], %[[BOUND]] : f32
// CHECK:             tensor.insert %{{.+}} into %[[FLAGS]][%[[H]], %[[T]]]
// CHECK:             tensor.insert %{{.+}} into %[[IDS]][%[[H]], %[[SIZE]]]
// Nearest is causal: s <= t.
// CHECK:         linalg.generic
// CHECK:           arith.cmpi sle
// CHECK:         return
func.func @select_kept(%x: tensor<?x7xf16>)
    -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>) {
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x7xf16>
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<?>
  return %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
}

// -----

// Against all earlier tokens no order is needed: the loops over heads and tokens
// only make the list of ids. The magnitude is not taken.
// CHECK-LABEL: func @select_all_signed
// CHECK-NOT:     math.absf
// CHECK-NOT:     scf.for
// CHECK:         arith.cmpf oge
// CHECK:         arith.cmpi slt
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NOT:         scf.for
// CHECK:             tensor.insert
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @select_all_signed(%x: tensor<12x7xf32>) -> tensor<12xi32> {
  %s = gist.gram_select %x, 3.0e-1 against all similarity signed : tensor<12x7xf32>
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<12>
  return %ids : tensor<12xi32>
}

// -----

// tau = 0: no cosine reaches infinity.
// CHECK-LABEL: func @select_with_tau_zero
// CHECK:         %[[THETA:[a-z0-9_-]+]] = arith.constant 0x7F800000 : f32
// CHECK:         %[[THETAS:[a-z0-9_-]+]] = linalg.fill ins(%[[THETA]] : f32)
// CHECK:         %[[BOUND:[a-z0-9_-]+]] = tensor.extract %[[THETAS]]
// CHECK:         arith.cmpf oge, %{{.+}}, %[[BOUND]] : f32
func.func @select_with_tau_zero(%x: tensor<?x7xf32>) -> tensor<?xi32> {
  %s = gist.gram_select %x, 0.0 : tensor<?x7xf32>
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<?>
  return %ids : tensor<?xi32>
}

// -----

// All heads at once: they come first in the rows and in the results.
// CHECK-LABEL: func @select_per_head_ragged
// CHECK-SAME:    %[[X:[a-z0-9_-]+]]: tensor<?x3x7xbf16>, %[[STARTS:[a-z0-9_-]+]]: tensor<5xi32>
// CHECK-DAG:     %[[HEADS:[a-z0-9_-]+]] = arith.constant 3 : index
// CHECK:         %[[WIDE:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[X]] : tensor<?x3x7xbf16>)
// CHECK:         linalg.transpose ins(%[[WIDE]] : tensor<?x3x7xf32>) outs({{.+}} : tensor<3x?x7xf32>) permutation = [1, 0, 2]
// Which sequence a token is in is counted once for all heads.
// CHECK:         linalg.generic {{.+}} ins(%[[STARTS]] : tensor<5xi32>)
// CHECK:         linalg.batch_matmul
// CHECK:         tensor.extract %[[STARTS]]
// CHECK:         %[[KEPT:[a-z0-9_-]+]]:3 = scf.for %{{.+}} to %[[HEADS]] {{.+}} -> (tensor<3x?xi32>, tensor<3x?xi32>, tensor<3xi32>)
// CHECK:         %[[NEAREST:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[KEPT]]#0, %{{.+}} : tensor<3x?xi32>, tensor<3x?xi32>)
// CHECK:         return %[[KEPT]]#1, %[[NEAREST]]
func.func @select_per_head_ragged(%x: tensor<?x3x7xbf16>, %starts: tensor<5xi32>)
    -> (tensor<3x?xi32>, tensor<3x?xi32>) {
  %s = gist.gram_select %x, 4.0e-1 offsets(%starts : tensor<5xi32>)
      : tensor<?x3x7xbf16>
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<3x?>
  return %ids, %nearest : tensor<3x?xi32>, tensor<3x?xi32>
}

// -----

// The scan of gram_select; the inherited ids are only counted against.
// CHECK-LABEL: func @cascade_covering
// CHECK-SAME:    %[[IDS:[a-z0-9_-]+]]: tensor<?xi32>, %[[COUNT:[a-z0-9_-]+]]: tensor<i32>
// CHECK-DAG:     %[[THETA:[a-z0-9_-]+]] = arith.constant 7.5{{0*}}e-01 : f32
// CHECK:         %[[THETAS:[a-z0-9_-]+]] = linalg.fill ins(%[[THETA]] : f32)
// CHECK-DAG:     %[[LIST:[a-z0-9_-]+]] = tensor.expand_shape %[[IDS]] {{.+}} into tensor<1x?xi32>
// CHECK-DAG:     %[[SIZE:[a-z0-9_-]+]] = tensor.expand_shape %[[COUNT]] [] {{.+}} into tensor<1xi32>
// CHECK:         %[[OLD:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[LIST]], %[[SIZE]] : tensor<1x?xi32>, tensor<1xi32>)
// CHECK:         %[[KEPT:[a-z0-9_-]+]]:3 = scf.for
// CHECK-NOT:       %[[OLD]]
// CHECK:           %[[BOUND:[a-z0-9_-]+]] = tensor.extract %[[THETAS]]
// CHECK:           arith.cmpf oge, %{{.+}}, %[[BOUND]] : f32
// CHECK-DAG:     linalg.generic {{.+}} ins(%[[OLD]], %[[KEPT]]#0 : tensor<1x?xi32>, tensor<1x?xi32>)
// CHECK-DAG:     linalg.generic {{.+}} ins(%[[KEPT]]#0, %[[OLD]] : tensor<1x?xi32>, tensor<1x?xi32>)
// CHECK:         return
func.func @cascade_covering(%x: tensor<?x7xf32>, %ids: tensor<?xi32>,
                            %count: tensor<i32>, %nearest: tensor<?xi32>,
                            %weight: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<i32>, tensor<i32>) {
  %old = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %s, %removed, %added = gist.cascade_update %x, %old, 5.0e-1 causal
      : tensor<?x7xf32>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %removed, %added : tensor<?xi32>, tensor<i32>, tensor<i32>
}

// -----

// Algorithm 1: inherited against earlier inherited, others against what is left
// of them on both sides. No token is visited in order.
// CHECK-LABEL: func @cascade_paper
// CHECK:         %[[COS:[a-z0-9_-]+]] = linalg.generic {{.+}} outs({{.+}} : tensor<1x?x?xf32>)
// CHECK:         %[[OLD:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<1x?xi32>, tensor<1xi32>)
// CHECK:         %[[REPEATED:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[COS]], %[[OLD]],
// CHECK:           arith.cmpf oge
// CHECK:           arith.cmpi slt
// CHECK:         %[[VALID:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[OLD]], %[[REPEATED]] :
// CHECK:         %[[COVERED:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[COS]], %[[VALID]],
// CHECK:           arith.cmpf oge
// CHECK-NOT:       arith.cmpi slt
// CHECK:         linalg.generic {{.+}} ins(%[[OLD]], %[[VALID]], %[[COVERED]] :
// CHECK:         return
func.func @cascade_paper(%x: tensor<?x7xf32>, %ids: tensor<?xi32>,
                         %count: tensor<i32>, %nearest: tensor<?xi32>,
                         %weight: tensor<?xi32>) -> tensor<?xi32> {
  %old = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %s, %removed, %added = gist.cascade_update %x, %old, 5.0e-1 rule paper
      : tensor<?x7xf32>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i : tensor<?xi32>
}

// -----

// Nothing is computed; only what is known of T changes.
// CHECK-LABEL: func @cascade_inherit
// CHECK-SAME:    %[[IDS:[a-z0-9_-]+]]: tensor<?xi32>
// CHECK:         %[[NONE:[a-z0-9_-]+]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %[[CAST:[a-z0-9_-]+]] = tensor.cast %[[IDS]] : tensor<?xi32> to tensor<12xi32>
// CHECK-NEXT:    return %[[CAST]], %[[NONE]], %[[NONE]]
func.func @cascade_inherit(%x: tensor<12x7xf32>, %ids: tensor<?xi32>,
                           %count: tensor<i32>, %nearest: tensor<?xi32>,
                           %weight: tensor<?xi32>)
    -> (tensor<12xi32>, tensor<i32>, tensor<i32>) {
  %old = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %s, %removed, %added = gist.cascade_update %x, %old, 5.0e-1 rule inherit
      : tensor<12x7xf32>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<12>
  return %i, %removed, %added : tensor<12xi32>, tensor<i32>, tensor<i32>
}

// -----

// CHECK-LABEL: func @keep_all
// CHECK-SAME:    %[[T:[a-z0-9_-]+]]: index
// CHECK-DAG:     %[[ONE:[a-z0-9_-]+]] = arith.constant 1 : i32
// CHECK-DAG:     %[[COUNT:[a-z0-9_-]+]] = arith.index_cast %[[T]] : index to i32
// CHECK-DAG:     %[[NUMBERS:[a-z0-9_-]+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<3x?xi32>)
// CHECK-DAG:       linalg.index 1
// CHECK-DAG:     %[[COUNTS:[a-z0-9_-]+]] = linalg.fill ins(%[[COUNT]] : i32) outs(%{{.+}} : tensor<3xi32>)
// CHECK-DAG:     %[[ONES:[a-z0-9_-]+]] = linalg.fill ins(%[[ONE]] : i32) outs(%{{.+}} : tensor<3x?xi32>)
// CHECK:         return %[[NUMBERS]], %[[COUNTS]], %[[NUMBERS]], %[[ONES]]
func.func @keep_all(%t: index)
    -> (tensor<3x?xi32>, tensor<3xi32>, tensor<3x?xi32>, tensor<3x?xi32>) {
  %s = gist.keep_all(%t) : !gist.selection<3x?>
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<3x?>
  return %ids, %count, %nearest, %weight
      : tensor<3x?xi32>, tensor<3xi32>, tensor<3x?xi32>, tensor<3x?xi32>
}

// -----

// CHECK-LABEL: func @pack_and_unpack
// CHECK-SAME:    %[[IDS:[a-z0-9_-]+]]: tensor<9xi32>, %[[COUNT:[a-z0-9_-]+]]: tensor<i32>
// CHECK-NEXT:    return %[[IDS]], %[[COUNT]]
func.func @pack_and_unpack(%ids: tensor<9xi32>, %count: tensor<i32>)
    -> (tensor<9xi32>, tensor<i32>) {
  %s = gist.pack_selection %ids, %count, %ids, %ids
      : tensor<9xi32>, tensor<i32>, tensor<9xi32>, tensor<9xi32>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<9>
  return %i, %c : tensor<9xi32>, tensor<i32>
}

// -----

// Six query heads share two KV heads: head h uses h / 3. Scale 1/sqrt(16).
// CHECK-LABEL: func @attention_grouped
// CHECK-SAME:    %[[Q:[a-z0-9_-]+]]: tensor<?x6x16xf16>, %[[K:[a-z0-9_-]+]]: tensor<?x2x16xf16>, %[[V:[a-z0-9_-]+]]: tensor<?x2x5xf16>
// CHECK-DAG:     %[[GROUP:[a-z0-9_-]+]] = arith.constant 3 : index
// CHECK-DAG:     %[[SCALE:[a-z0-9_-]+]] = arith.constant 2.5{{0*}}e-01 : f32
// CHECK-DAG:     %[[HIDDEN:[a-z0-9_-]+]] = arith.constant 0xFF800000 : f32
// CHECK:         scf.for %[[H:[a-z0-9_-]+]] = %{{.+}} -> (tensor<?x6x5xf16>)
// CHECK:           %[[G:[a-z0-9_-]+]] = arith.divui %[[H]], %[[GROUP]]
// CHECK:           %[[QH:[a-z0-9_-]+]] = tensor.extract_slice %[[Q]][0, %[[H]], 0]
// CHECK:           %[[KH:[a-z0-9_-]+]] = tensor.extract_slice %[[K]][0, %[[G]], 0]
// CHECK:           %[[VH:[a-z0-9_-]+]] = tensor.extract_slice %[[V]][0, %[[G]], 0]
// CHECK:           linalg.generic {{.+}} ins(%[[QH]], %[[KH]] : tensor<?x16xf16>, tensor<?x16xf16>)
// CHECK-COUNT-2:     arith.extf
// CHECK:             arith.mulf %{{.+}}, %[[SCALE]] : f32
// j <= position.
// CHECK:             %[[SEES:[a-z0-9_-]+]] = arith.cmpi sle
// CHECK:             arith.select %[[SEES]], %{{.+}}, %[[HIDDEN]] : f32
// CHECK:             arith.maximumf
// CHECK:             math.exp
// CHECK:           linalg.generic {{.+}} %[[VH]] :
// CHECK:             arith.extf
// CHECK:             arith.truncf %{{.+}} : f32 to f16
// CHECK-NOT:         arith.truncf
// CHECK:           tensor.insert_slice {{.+}}[0, %[[H]], 0]
// CHECK:         return
func.func @attention_grouped(%q: tensor<?x6x16xf16>, %k: tensor<?x2x16xf16>,
                             %v: tensor<?x2x5xf16>) -> tensor<?x6x5xf16> {
  %o = gist.attention %q, %k, %v causal
      : tensor<?x6x16xf16>, tensor<?x2x16xf16>, tensor<?x2x5xf16>
  return %o : tensor<?x6x5xf16>
}

// -----

// Without causal every key is seen. A dynamic head size makes its scale at run
// time.
// CHECK-LABEL: func @attention_of_any_size
// CHECK-SAME:    %{{.+}}: tensor<?x?x?xf32>, %[[K:[a-z0-9_-]+]]: tensor<?x?x?xf32>
// CHECK:         %[[D:[a-z0-9_-]+]] = tensor.dim %[[K]], %c2
// CHECK:         %[[ROOT:[a-z0-9_-]+]] = math.sqrt
// CHECK:         %[[SCALE:[a-z0-9_-]+]] = arith.divf %{{.+}}, %[[ROOT]] : f32
// CHECK-NOT:     arith.cmpi
// CHECK:         arith.mulf %{{.+}}, %[[SCALE]] : f32
// CHECK-NOT:     arith.cmpi
// CHECK:         return
func.func @attention_of_any_size(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>)
    -> tensor<?x?x?xf32> {
  %o = gist.attention %q, %k, %k
      : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>
  return %o : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: func @attention_window_mask_ragged
// CHECK-SAME:    %[[MASK:[a-z0-9_-]+]]: tensor<?x?xf32>, %[[STARTS:[a-z0-9_-]+]]: tensor<4xi32>, %[[KEYS:[a-z0-9_-]+]]: tensor<4xi32>
// CHECK-DAG:     %[[SINKS:[a-z0-9_-]+]] = arith.constant 11 : index
// CHECK-DAG:     %[[WINDOW:[a-z0-9_-]+]] = arith.constant 13 : index
// CHECK-DAG:     %[[SCALE:[a-z0-9_-]+]] = arith.constant 1.25{{0*}}e-01 : f32
// CHECK:         linalg.generic {{.+}} ins(%[[STARTS]] : tensor<4xi32>)
// CHECK:         scf.for
// CHECK:           linalg.generic {{.+}} ins(%{{.+}}, %[[MASK]] : tensor<?x?xf32>, tensor<?x?xf32>)
// CHECK:             arith.addf
// CHECK:             %[[J:[a-z0-9_-]+]] = linalg.index 1
// CHECK:             tensor.extract %[[STARTS]]
// CHECK:             tensor.extract %[[KEYS]]
// CHECK:             arith.subi %{{.+}}, %[[WINDOW]]
// CHECK:             %[[NEAR:[a-z0-9_-]+]] = arith.cmpi sgt, %[[J]]
// CHECK:             %[[END:[a-z0-9_-]+]] = arith.addi %{{.+}}, %[[SINKS]]
// CHECK:             %[[SINK:[a-z0-9_-]+]] = arith.cmpi slt, %[[J]], %[[END]]
// CHECK:             arith.ori %[[NEAR]], %[[SINK]]
// CHECK:         return
func.func @attention_window_mask_ragged(
    %q: tensor<?x6x16xf32>, %k: tensor<?x2x16xf32>, %mask: tensor<?x?xf32>,
    %starts: tensor<4xi32>, %keys: tensor<4xi32>) -> tensor<?x6x16xf32> {
  %o = gist.attention %q, %k, %k mask(%mask : tensor<?x?xf32>) causal
      scale 1.25e-1 window 13 sinks 11
      offsets(%starts, %keys : tensor<4xi32>, tensor<4xi32>)
      : tensor<?x6x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>
  return %o : tensor<?x6x16xf32>
}

// -----

// Representatives, their own nearest, see one another; the others copy.
// CHECK-LABEL: func @attend_copy
// CHECK-SAME:    %[[NEAREST:[a-z0-9_-]+]]: tensor<?xi32>, %{{[a-z0-9]+}}: tensor<?xi32>)
// CHECK-NOT:     math.log
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %[[NEAREST]], %[[NEAREST]] : tensor<?x?xf32>, tensor<?xi32>, tensor<?xi32>)
// CHECK-COUNT-2:   arith.cmpi eq
// CHECK-NOT:       arith.cmpi sle
// CHECK:           math.exp
// CHECK:         linalg.generic {{.+}} ins(%[[NEAREST]] : tensor<?xi32>) outs(%{{.+}} : tensor<?x16xf32>)
// CHECK:         ^bb0(%[[R:[a-z0-9_-]+]]: i32, %{{.+}}: f32):
// CHECK:           %[[ROW:[a-z0-9_-]+]] = arith.index_cast %[[R]]
// CHECK:           tensor.extract %{{.+}}[%[[ROW]], %{{.+}}] : tensor<?x16xf32>
// CHECK:         return
func.func @attend_copy(%q: tensor<?x6x16xf32>, %k: tensor<?x2x16xf32>,
                       %ids: tensor<?xi32>, %count: tensor<i32>,
                       %nearest: tensor<?xi32>, %weight: tensor<?xi32>)
    -> tensor<?x6x16xf32> {
  %s = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %o = gist.attend %q, %k, %k on %s mode copy
      : tensor<?x6x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !gist.selection<?>
  return %o : tensor<?x6x16xf32>
}

// -----

// The selection is that of the KV head, h / 3. Members are counted up to each
// query.
// CHECK-LABEL: func @attend_copy_counted
// CHECK-SAME:    %[[NEAREST:[a-z0-9_-]+]]: tensor<2x?xi32>, %{{[a-z0-9]+}}: tensor<2x?xi32>)
// CHECK:         scf.for %[[H:[a-z0-9_-]+]] =
// CHECK:           %[[G:[a-z0-9_-]+]] = arith.divui %[[H]]
// CHECK:           %[[OF_HEAD:[a-z0-9_-]+]] = tensor.extract_slice %[[NEAREST]][%[[G]], 0]
// CHECK:           scf.for %[[I:[a-z0-9_-]+]] = %{{.+}} -> (tensor<?x?xi32>)
// CHECK:             %[[END:[a-z0-9_-]+]] = arith.addi %[[I]], %c1
// CHECK:             scf.for %[[M:[a-z0-9_-]+]] = %{{.+}} to %[[END]]
// CHECK:               tensor.extract %[[OF_HEAD]][%[[M]]]
// CHECK:           math.log
// CHECK:         return
func.func @attend_copy_counted(%q: tensor<?x6x16xf32>, %k: tensor<?x2x16xf32>,
                               %ids: tensor<2x?xi32>, %count: tensor<2xi32>,
                               %nearest: tensor<2x?xi32>, %weight: tensor<2x?xi32>)
    -> tensor<?x6x16xf32> {
  %s = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<2x?xi32>, tensor<2xi32>, tensor<2x?xi32>, tensor<2x?xi32>
  %o = gist.attend %q, %k, %k on %s mode copy log_count causal
      : tensor<?x6x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>, !gist.selection<2x?>
  return %o : tensor<?x6x16xf32>
}

// -----

// e = max(0, t / block * block - window), then sums of keys and of values over
// the members before e, in f32, divided by their number.
// CHECK-LABEL: func @attend_keys_mean
// CHECK-DAG:     %[[ZERO:[a-z0-9_-]+]] = arith.constant 0 : index
// CHECK-DAG:     %[[BLOCK:[a-z0-9_-]+]] = arith.constant 32 : index
// CHECK-DAG:     %[[WINDOW:[a-z0-9_-]+]] = arith.constant 48 : index
// CHECK:         scf.for %[[H:[a-z0-9_-]+]] =
// CHECK:           scf.for %[[T:[a-z0-9_-]+]] = %{{.+}} -> (tensor<?x5xf32>)
// CHECK:             %[[B:[a-z0-9_-]+]] = arith.divui %[[T]], %[[BLOCK]]
// CHECK:             %[[FIRST:[a-z0-9_-]+]] = arith.muli %[[B]], %[[BLOCK]]
// CHECK:             %[[START:[a-z0-9_-]+]] = arith.subi %[[FIRST]], %[[WINDOW]]
// CHECK:             %[[E:[a-z0-9_-]+]] = arith.maxsi %[[START]], %[[ZERO]]
// CHECK:             scf.for %{{.+}} = %[[ZERO]] to %[[E]] {{.+}} -> (tensor<?xi32>, tensor<?x16xf32>, tensor<?x5xf32>)
// CHECK:               arith.cmpi slt, %{{.+}}, %[[E]]
// CHECK-COUNT-2:       arith.extf {{.+}} : bf16 to f32
// CHECK-COUNT-2:     arith.divf
// CHECK:             math.log
// CHECK:         return
func.func @attend_keys_mean(%q: tensor<?x6x16xbf16>, %k: tensor<?x2x16xbf16>,
                            %v: tensor<?x2x5xbf16>, %ids: tensor<?xi32>,
                            %count: tensor<i32>, %nearest: tensor<?xi32>,
                            %weight: tensor<?xi32>) -> tensor<?x6x5xbf16> {
  %s = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %o = gist.attend %q, %k, %v on %s mode keys causal window 48 block 32
      : tensor<?x6x16xbf16>, tensor<?x2x16xbf16>, tensor<?x2x5xbf16>, !gist.selection<?>
  return %o : tensor<?x6x5xbf16>
}

// -----

// The representative's own key and value: members are counted and not summed.
// Not causal: no window, and all members of the sequence.
// CHECK-LABEL: func @attend_keys_representative
// CHECK-SAME:    %[[STARTS:[a-z0-9_-]+]]: tensor<4xi32>
// CHECK:         scf.for %[[H:[a-z0-9_-]+]] =
// CHECK:           scf.for %[[T:[a-z0-9_-]+]] = %{{.+}} -> (tensor<?x5xf32>)
// CHECK:             %[[LOAD:[a-z0-9_-]+]] = tensor.extract %[[STARTS]]
// CHECK:             %[[BEGIN:[a-z0-9_-]+]] = arith.index_cast %[[LOAD]]
// CHECK:             %[[LOAD_END:[a-z0-9_-]+]] = tensor.extract %[[STARTS]]
// CHECK:             %[[END:[a-z0-9_-]+]] = arith.index_cast %[[LOAD_END]]
// CHECK:             scf.for %{{.+}} = %[[BEGIN]] to %[[END]] {{.+}} -> (tensor<?xi32>)
// CHECK:         return
func.func @attend_keys_representative(
    %q: tensor<?x6x16xf32>, %k: tensor<?x2x16xf32>, %v: tensor<?x2x5xf32>,
    %ids: tensor<?xi32>, %count: tensor<i32>, %nearest: tensor<?xi32>,
    %weight: tensor<?xi32>, %starts: tensor<4xi32>) -> tensor<?x6x5xf32> {
  %s = gist.pack_selection %ids, %count, %nearest, %weight
      : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %o = gist.attend %q, %k, %v on %s mode keys merge representative
      offsets(%starts : tensor<4xi32>)
      : tensor<?x6x16xf32>, tensor<?x2x16xf32>, tensor<?x2x5xf32>, !gist.selection<?>
  return %o : tensor<?x6x5xf32>
}

// -----

// g and the residual stay in f32; the comparison is true for a NaN.
// CHECK-LABEL: func @gated_projection
// CHECK-SAME:    %[[X:[a-z0-9_-]+]]: tensor<?x24xf16>, %[[BASIS:[a-z0-9_-]+]]: tensor<24x8xbf16>, %[[W:[a-z0-9_-]+]]: tensor<40x24xbf16>, %[[M:[a-z0-9_-]+]]: tensor<40x8xbf16>, %[[BIAS:[a-z0-9_-]+]]: tensor<40xbf16>
// CHECK-DAG:     %[[EPSILON:[a-z0-9_-]+]] = arith.constant 2.5{{0*}}e-01 : f32
// CHECK:         %[[G:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[X]], %[[BASIS]] : {{.+}}) outs(%{{.+}} : tensor<?x8xf32>)
// CHECK:         %[[IMAGE:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[G]], %[[BASIS]] :
// CHECK:         %[[RES:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[X]], %[[IMAGE]] : {{.+}}) outs(%{{.+}} : tensor<?x24xf32>)
// CHECK:           arith.subf
// CHECK:         %[[LEVEL:[a-z0-9_-]+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<?xi8>)
// CHECK:           arith.cmpf ugt, %{{.+}}, %[[EPSILON]] : f32
// CHECK:         %[[INSIDE:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[G]], %[[M]] : {{.+}}) outs(%{{.+}} : tensor<?x40xf32>)
// CHECK:         %[[ALL:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[X]], %[[W]] : {{.+}}) outs(%{{.+}} : tensor<?x40xf32>)
// CHECK:         %[[Y:[a-z0-9_-]+]] = linalg.generic {{.+}} ins(%[[INSIDE]], %[[LEVEL]], %[[ALL]], %[[BIAS]] : {{.+}}) outs(%{{.+}} : tensor<?x40xf16>)
// CHECK:           arith.select
// CHECK:           arith.truncf %{{.+}} : f32 to f16
// CHECK:         return %[[Y]], %[[LEVEL]]
func.func @gated_projection(%x: tensor<?x24xf16>, %v: tensor<24x8xbf16>,
                            %w: tensor<40x24xbf16>, %m: tensor<40x8xbf16>,
                            %b: tensor<40xbf16>)
    -> (tensor<?x40xf16>, tensor<?xi8>) {
  %y, %level = gist.gated_projection %x, %v, 2.5e-1
      weights(%w : tensor<40x24xbf16>) images(%m : tensor<40x8xbf16>)
      biases(%b : tensor<40xbf16>) : tensor<?x24xf16>, tensor<24x8xbf16>
  return %y, %level : tensor<?x40xf16>, tensor<?xi8>
}

// -----

// Two thresholds, and three products for each of two projections, one subspace.
// CHECK-LABEL: func @gated_projection_graded
// CHECK-DAG:     %[[LOW:[a-z0-9_-]+]] = arith.constant 1.25{{0*}}e-01 : f32
// CHECK-DAG:     %[[EPSILON:[a-z0-9_-]+]] = arith.constant 2.5{{0*}}e-01 : f32
// CHECK:         outs(%{{.+}} : tensor<?x8xf32>)
// CHECK:           arith.cmpf ugt, %{{.+}}, %[[LOW]] : f32
// CHECK:           arith.cmpf ugt, %{{.+}}, %[[EPSILON]] : f32
// CHECK-NOT:     tensor<?x8xf32>) {
// CHECK-COUNT-3: linalg.generic {{.+}} outs(%{{.+}} : tensor<?x40xf32>)
// CHECK:         linalg.generic
// CHECK-COUNT-2:   arith.cmpi eq
// CHECK-COUNT-3: linalg.generic {{.+}} outs(%{{.+}} : tensor<?x16xf32>)
// CHECK:         return
func.func @gated_projection_graded(
    %x: tensor<?x24xf32>, %v: tensor<24x8xf32>, %w0: tensor<40x24xf32>,
    %m0: tensor<40x8xf32>, %l0: tensor<40x24xf32>, %w1: tensor<16x24xf32>,
    %m1: tensor<16x8xf32>, %l1: tensor<16x24xf32>)
    -> (tensor<?x40xf32>, tensor<?x16xf32>) {
  %y0, %y1, %level = gist.gated_projection %x, %v, 2.5e-1
      weights(%w0, %w1 : tensor<40x24xf32>, tensor<16x24xf32>)
      images(%m0, %m1 : tensor<40x8xf32>, tensor<16x8xf32>)
      low 1.25e-1 (%l0, %l1 : tensor<40x24xf32>, tensor<16x24xf32>)
      : tensor<?x24xf32>, tensor<24x8xf32>
  return %y0, %y1 : tensor<?x40xf32>, tensor<?x16xf32>
}

// -----

// Every value reads its own bytes: two blocks of 32 values in a row.
// CHECK-LABEL: func @dequantize
// CHECK-SAME:    %[[BYTES:[a-z0-9_-]+]]: tensor<?x2x18xi8>
// CHECK-DAG:     %[[VALUES:[a-z0-9_-]+]] = arith.constant 32 : index
// CHECK-DAG:     %[[EIGHT:[a-z0-9_-]+]] = arith.constant 8 : i32
// CHECK:         linalg.generic {{.+}} outs(%{{.+}} : tensor<?x64xf32>)
// CHECK-DAG:       %[[ROW:[a-z0-9_-]+]] = linalg.index 0
// CHECK-DAG:       %[[COLUMN:[a-z0-9_-]+]] = linalg.index 1
// CHECK-DAG:       %[[BLOCK:[a-z0-9_-]+]] = arith.divui %[[COLUMN]], %[[VALUES]]
// CHECK-DAG:       arith.remui %[[COLUMN]], %[[VALUES]]
// CHECK:           tensor.extract %[[BYTES]][%[[ROW]], %[[BLOCK]], %{{.+}}]
// CHECK:           arith.subi %{{.+}}, %[[EIGHT]] : i32
// CHECK:           arith.bitcast %{{.+}} : i16 to f16
// CHECK:           arith.extf %{{.+}} : f16 to f32
// CHECK:         return
func.func @dequantize(%blocks: tensor<?x2x18xi8>) -> tensor<?x64xf32> {
  %x = gist.dequantize %blocks format q4_0 : tensor<?x2x18xi8>
  return %x : tensor<?x64xf32>
}

// -----

func.func @selection_as_argument(%s: !gist.selection<?>) -> tensor<?xi32> {
  // expected-error @+1 {{'gist.unpack_selection' op takes a selection that was not made by a gist op: selections cannot pass through functions or control flow; pass their parts instead}}
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<?>
  return %ids : tensor<?xi32>
}

// -----

func.func @selection_as_result(%x: tensor<?x7xf32>) -> !gist.selection<?> {
  // expected-error @+1 {{'gist.gram_select' op makes a selection that an op of another dialect reads: selections cannot pass through functions or control flow; pass their parts instead}}
  %s = gist.gram_select %x, 3.0e-1 : tensor<?x7xf32>
  return %s : !gist.selection<?>
}

// -----

// A selection that a loop carries.
func.func @selection_in_a_loop(%x: tensor<?x7xf32>, %n: index, %t: index)
    -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'gist.keep_all' op makes a selection that an op of another dialect reads}}
  %all = gist.keep_all(%t) : !gist.selection<?>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %all) -> (!gist.selection<?>) {
    %next, %removed, %added = gist.cascade_update %x, %s, 3.0e-1
        : tensor<?x7xf32>, !gist.selection<?>
    scf.yield %next : !gist.selection<?>
  }
  %ids, %count, %nearest, %weight = gist.unpack_selection %last : !gist.selection<?>
  return %ids : tensor<?xi32>
}
