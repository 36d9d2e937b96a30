// One layer of three kinds of rows: q and k read the same ones.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/make-bases.py %t/bases.safetensors 0.qkv.basis=8x64 0.down.basis=4x96
// RUN: echo '{"gist_plan": 1, "block": 8, "layers": [{"linears": {"qkv": {"k": 4, "epsilon": 0.125}, "o": {"bits": 3}, "down": {"bits": 2, "k": 4}}}], "head": {"bits": 4, "exact_rows": 8}, "bases": "bases.safetensors"}' > %t/plan.json
// RUN: gist-compile %s --plan %t/plan.json --emit=graph -o - | gist-opt -gist-gate-linears | FileCheck %s

// GPUs multiply the basis that was rounded as it is read, not the other one turned.
// RUN: gist-compile %s --plan %t/plan.json --emit=graph -o - | gist-opt -gist-gate-linears -gist-kernels | FileCheck %s --check-prefix=KERNELS
// KERNELS: %[[V:.*]] = gist.weight "blk.0.q.weight.basis4" layer 0 : tensor<64x4xf16>
// KERNELS: %[[TURNED:.*]] = gist.weight "blk.0.q.weight.basis4t" layer 0 : tensor<4x2x34xi8>
// KERNELS: %[[G:.*]] = gist.dispatch @product_0(%[[TURNED]], %arg0 :
// KERNELS: gist.dispatch @product_1(%{{.*}}, %[[G]], %[[V]], %arg0 :
// KERNELS: gist.made_weight @blk.0.q.weight.basis4t transposed_basis of "blk.0.q.weight" basis "0.qkv.basis" k 4 in "{{.*}}bases.safetensors" : tensor<4x2x34xi8>

// The first rows of the head in 8 bits instead of as stored.
// RUN: echo '{"gist_plan": 1, "block": 8, "layers": [{"linears": {}}], "head": {"bits": 4, "exact_rows": 8, "exact_bits": 8}}' > %t/eight.json
// RUN: gist-compile %s --plan %t/eight.json --emit=graph -o - | gist-opt -gist-gate-linears | FileCheck %s --check-prefix=EIGHT
// EIGHT: gist.weight "head.weight.q4_1.from8" : tensor<32x2x20xi8>
// EIGHT: %[[FIRST:.*]] = gist.weight "head.weight.first8.q8_0" : tensor<8x2x34xi8>
// EIGHT: gist.dequantize %[[FIRST]] format q8_0
// EIGHT: gist.made_weight @head.weight.first8.q8_0 exact of "head.weight" exact_rows 8 exact_bits 8 : tensor<8x2x34xi8>

// RUN: echo '{"gist_plan": 1, "block": 8, "layers": [{"linears": {"qkv": {"k": 65, "epsilon": 0.1}}}]}' > %t/wide.json
// RUN: not gist-compile %s --plan %t/wide.json --emit=graph -o - 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: {{.*}}'linalg.matmul' op has rows of 64 numbers, but the plan asks for a subspace of 65

// RUN: echo '{"gist_plan": 1, "block": 8, "layers": [{"linears": {}}, {"linears": {"o": {"bits": 3}}}]}' > %t/deep.json
// RUN: not gist-compile %s --plan %t/deep.json --emit=graph -o - 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: {{.*}}has 1 layers, but the plan is for 2

// RUN: echo '{"gist_plan": 1, "block": 8, "layers": [{"linears": {"qkv": {"k": 4, "epsilon": 0.1}}}], "bases": "nan.safetensors"}' > %t/nan.json
// RUN: %python %S/Inputs/make-bases.py %t/nan.safetensors 0.qkv.basis=4x64:nan
// RUN: not gist-compile %s --plan %t/nan.json -o %t/no.gist 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: 0.qkv.basis: rows 0 and 0 have the product nan, expected 1: the basis is not orthonormal

// RUN: %python %S/Inputs/make-bases.py %t/nan.safetensors 0.qkv.basis=4x64:long
// RUN: not gist-compile %s --plan %t/nan.json -o %t/no.gist 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: 0.qkv.basis: rows 0 and 0 have the product 4, expected 1: the basis is not orthonormal

// RUN: %python %S/Inputs/make-bases.py %t/nan.safetensors 0.qkv.basis=4x32
// RUN: not gist-compile %s --plan %t/nan.json -o %t/no.gist 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: 0.qkv.basis is 4x32, expected at least 4 rows of 64

// RUN: %python %S/Inputs/make-bases.py %t/nan.safetensors 0.qkv.basis=4x64:cut
// RUN: not gist-compile %s --plan %t/nan.json -o %t/no.gist 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: {{.*}}nan.safetensors: tensor '0.qkv.basis'

// RUN: echo '{"gist_plan": 1, "block": 8, "layers": [{"linears": {"qkv": {"k": 4, "epsilon": 0.1}}}]}' > %t/none.json
// RUN: not gist-compile %s --plan %t/none.json -o %t/no.gist 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: there is no 0.qkv.basis

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x64xf32>, %[[A:[^:]*]]: tensor<?x32xf32>, %[[Z:[^:]*]]: tensor<?x96xf32>,
// CHECK-SAME: %[[GATES:[^:]*]]: tensor<1x4x3xi32> {gist.name = "gates", gist.statistic, gist.zero_on_reset})
// CHECK-DAG: %[[WQ:.*]] = gist.weight "blk.0.q.weight" layer 0 : tensor<24x64xf16>
// CHECK-DAG: %[[WK:.*]] = gist.weight "blk.0.k.weight" layer 0 : tensor<8x64xf16>
// CHECK-DAG: %[[V:.*]] = gist.weight "blk.0.q.weight.basis4" layer 0 : tensor<64x4xf16>
// CHECK-DAG: %[[MQ:.*]] = gist.weight "blk.0.q.weight.image4" layer 0 : tensor<24x4xf16>
// CHECK-DAG: %[[MK:.*]] = gist.weight "blk.0.k.weight.image4" layer 0 : tensor<8x4xf16>
// CHECK: %[[Y:.*]]:2, %[[LEVEL:.*]] = gist.gated_projection %[[X]], %[[V]], 1.250000e-01 weights(%[[WQ]], %[[WK]] : {{.*}}) images(%[[MQ]], %[[MK]] :
// Levels are counted in the place of the layer and the group.
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[GATES]][0, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<1x4x3xi32> to tensor<3xi32>
// CHECK: %[[COUNT:.*]] = linalg.generic {{.*}} ins(%[[LEVEL]] :
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[COUNT]], %[[OLD]] :
// CHECK: %[[NEW:.*]] = tensor.insert_slice %[[SUM]] into %[[GATES]][0, 0, 0]
// Bits alone: another weight.
// CHECK: %[[O3:.*]] = gist.weight "blk.0.o.weight.q3_1" layer 0 : tensor<16x1x16xi8>
// CHECK: %[[O:.*]] = gist.dequantize %[[O3]] format q3_1
// CHECK: %[[YO:.*]] = linalg.matmul {{.*}} ins(%[[A]], %[[O]] :
// Bits and a subspace: g = V x, and rounded W x + (what is off in the subspace) g.
// CHECK: %[[VT:.*]] = gist.weight "blk.0.down.weight.basis4t" layer 0 : tensor<4x3x34xi8>
// CHECK: %[[VN:.*]] = gist.dequantize %[[VT]] format q8_0
// CHECK: %[[G:.*]] = linalg.matmul {{.*}} ins(%[[Z]], %[[VN]] :
// CHECK: %[[C:.*]] = gist.weight "blk.0.down.weight.correction4" layer 0 : tensor<16x4xf16>
// CHECK: %[[CG:.*]] = linalg.matmul {{.*}} ins(%[[G]], %[[C]] :
// CHECK: %[[D2:.*]] = gist.weight "blk.0.down.weight.q2_1" layer 0 : tensor<16x3x12xi8>
// CHECK: %[[D:.*]] = gist.dequantize %[[D2]] format q2_1
// CHECK: %[[P:.*]] = linalg.matmul {{.*}} ins(%[[Z]], %[[D]] :
// CHECK: %[[YD:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[CG]] :
// The head keeps eight of its rows.
// CHECK: gist.weight "head.weight.q4_1.from8" : tensor<32x2x20xi8>
// CHECK: %[[LOW:.*]] = linalg.matmul
// CHECK: %[[FIRST:.*]] = gist.weight "head.weight.first8" : tensor<8x64xf16>
// CHECK: %[[EXACT:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[FIRST]] :
// CHECK: %[[PART:.*]] = tensor.insert_slice %[[EXACT]] into %{{.*}}[0, 0]
// CHECK: %[[ALL:.*]] = tensor.insert_slice %[[LOW]] into %[[PART]][0, 8]
// CHECK: return %[[Y]]#0, %[[Y]]#1, %[[YO]], %[[YD]], %[[ALL]], %[[NEW]]

// What each of these weights is made of is said once, beside the functions; the plan has been followed.
// CHECK-NOT: gist.plan
// CHECK: gist.made_weight @blk.0.q.weight.basis4 basis of "blk.0.q.weight" basis "0.qkv.basis" k 4 in "{{.*}}bases.safetensors" : tensor<64x4xf16>
// CHECK-NEXT: gist.made_weight @blk.0.q.weight.image4 image of "blk.0.q.weight" basis "0.qkv.basis" k 4 in {{.*}} : tensor<24x4xf16>
// CHECK-NEXT: gist.made_weight @blk.0.k.weight.image4 image of "blk.0.k.weight" basis "0.qkv.basis" k 4 in {{.*}} : tensor<8x4xf16>
// CHECK-NEXT: gist.made_weight @blk.0.o.weight.q3_1 rounded of "blk.0.o.weight" bits 3 : tensor<16x1x16xi8>
// CHECK-NEXT: gist.made_weight @blk.0.down.weight.basis4t transposed_basis of "blk.0.down.weight" basis "0.down.basis" k 4 in {{.*}} : tensor<4x3x34xi8>
// CHECK-NEXT: gist.made_weight @blk.0.down.weight.correction4 correction of "blk.0.down.weight" bits 2 basis "0.down.basis" k 4 in {{.*}} : tensor<16x4xf16>
// CHECK-NEXT: gist.made_weight @blk.0.down.weight.q2_1 rounded of "blk.0.down.weight" bits 2 : tensor<16x3x12xi8>
// CHECK-NEXT: gist.made_weight @head.weight.q4_1.from8 rounded of "head.weight" bits 4 exact_rows 8 : tensor<32x2x20xi8>
// CHECK-NEXT: gist.made_weight @head.weight.first8 exact of "head.weight" exact_rows 8 : tensor<8x64xf16>
func.func @prefill(%x: tensor<?x64xf32>, %a: tensor<?x32xf32>, %z: tensor<?x96xf32>)
    -> (tensor<?x24xf32>, tensor<?x8xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x40xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %eq = tensor.empty(%t) : tensor<?x24xf32>
  %ek = tensor.empty(%t) : tensor<?x8xf32>
  %eo = tensor.empty(%t) : tensor<?x16xf32>
  %eh = tensor.empty(%t) : tensor<?x40xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x24xf32>) -> tensor<?x24xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x8xf32>) -> tensor<?x8xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x16xf32>) -> tensor<?x16xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<?x40xf32>) -> tensor<?x40xf32>
  %wq = gist.weight "blk.0.q.weight" layer 0 : tensor<24x64xf16>
  %q = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wq : tensor<?x64xf32>, tensor<24x64xf16>) outs(%fq : tensor<?x24xf32>) -> tensor<?x24xf32>
  %wk = gist.weight "blk.0.k.weight" layer 0 : tensor<8x64xf16>
  %k = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wk : tensor<?x64xf32>, tensor<8x64xf16>) outs(%fk : tensor<?x8xf32>) -> tensor<?x8xf32>
  %wo = gist.weight "blk.0.o.weight" layer 0 : tensor<16x32xf16>
  %o = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%a, %wo : tensor<?x32xf32>, tensor<16x32xf16>) outs(%fo : tensor<?x16xf32>) -> tensor<?x16xf32>
  %wd = gist.weight "blk.0.down.weight" layer 0 : tensor<16x96xf16>
  %d = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%z, %wd : tensor<?x96xf32>, tensor<16x96xf16>) outs(%fo : tensor<?x16xf32>) -> tensor<?x16xf32>
  %wh = gist.weight "head.weight" : tensor<40x64xf16>
  %h = linalg.matmul indexing_maps = [#rows, #weight, #result]
      ins(%x, %wh : tensor<?x64xf32>, tensor<40x64xf16>) outs(%fh : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %q, %k, %o, %d, %h : tensor<?x24xf32>, tensor<?x8xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x40xf32>
}
