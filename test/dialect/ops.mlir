// Every op parses, prints and survives bytecode; the generic form is the same op.
// RUN: gist-opt %s | gist-opt | FileCheck %s
// RUN: gist-opt %s --mlir-print-op-generic | gist-opt | FileCheck %s
// RUN: gist-opt %s --emit-bytecode | gist-opt | FileCheck %s

// CHECK-LABEL: func @selections
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x576xf32>, %[[K:[a-z0-9]+]]: tensor<512x3x64xf16>, %[[O:[a-z0-9]+]]: tensor<5xi32>
func.func @selections(%x: tensor<?x576xf32>, %k: tensor<512x3x64xf16>,
                      %o: tensor<5xi32>, %taus: tensor<3xf32>, %g: tensor<?x64xf32>, %rho: tensor<?xf32>) {
  // Defaults are not printed.
  // CHECK: %[[S:.+]] = gist.gram_select %[[X]], 3.000000e-01 : tensor<?x576xf32>
  %s = gist.gram_select %x, 3.0e-1 against kept similarity absolute : tensor<?x576xf32>
  // CHECK: gist.gram_select %[[X]], 3.000000e-01 against all causal : tensor<?x576xf32>
  %all = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x576xf32>
  // CHECK: %[[H:.+]] = gist.gram_select %[[K]], 4.000000e-01 similarity signed causal offsets(%[[O]] : tensor<5xi32>) : tensor<512x3x64xf16>
  %h = gist.gram_select %k, 4.0e-1 similarity signed causal offsets(%o : tensor<5xi32>) : tensor<512x3x64xf16>

  // CHECK: gist.gram_select %[[K]], taus(%{{.+}} : tensor<3xf32>) similarity signed causal : tensor<512x3x64xf16>
  %t = gist.gram_select %k, taus(%taus : tensor<3xf32>) similarity signed causal : tensor<512x3x64xf16>
  // CHECK: gist.gram_select %[[X]], 3.000000e-01 causal subspace(%{{.+}}, %{{.+}} : tensor<?x64xf32>, tensor<?xf32>) : tensor<?x576xf32>
  %c = gist.gram_select %x, 3.0e-1 causal subspace(%g, %rho : tensor<?x64xf32>, tensor<?xf32>) : tensor<?x576xf32>

  // CHECK: %{{.+}}, %{{.+}}, %{{.+}} = gist.cascade_update %[[X]], %[[S]], 2.000000e-01 causal : tensor<?x576xf32>, !gist.selection<?>
  %n:3 = gist.cascade_update %x, %s, 2.0e-1 rule covering causal : tensor<?x576xf32>, !gist.selection<?>
  // CHECK: gist.cascade_update %[[X]], %[[S]], 2.000000e-01 rule paper : tensor<?x576xf32>, !gist.selection<?>
  %p:3 = gist.cascade_update %x, %s, 2.0e-1 rule paper : tensor<?x576xf32>, !gist.selection<?>
  // CHECK: gist.cascade_update %[[K]], %[[H]], 2.000000e-01 rule inherit similarity signed offsets(%[[O]] : tensor<5xi32>) : tensor<512x3x64xf16>, !gist.selection<3x512>
  %i:3 = gist.cascade_update %k, %h, 2.0e-1 rule inherit similarity signed offsets(%o : tensor<5xi32>) : tensor<512x3x64xf16>, !gist.selection<3x512>

  // CHECK: gist.cascade_update %[[K]], %[[H]], taus(%{{.+}} : tensor<3xf32>) rule paper : tensor<512x3x64xf16>, !gist.selection<3x512>
  %j:3 = gist.cascade_update %k, %h, taus(%taus : tensor<3xf32>) rule paper : tensor<512x3x64xf16>, !gist.selection<3x512>
  // CHECK: gist.cascade_update %[[X]], %[[S]], 2.000000e-01 subspace(%{{.+}}, %{{.+}} : tensor<?x64xf32>, tensor<?xf32>) : tensor<?x576xf32>, !gist.selection<?>
  %l:3 = gist.cascade_update %x, %s, 2.0e-1 subspace(%g, %rho : tensor<?x64xf32>, tensor<?xf32>) : tensor<?x576xf32>, !gist.selection<?>

  // CHECK: %[[IDS:.+]], %[[COUNT:.+]], %[[NEAREST:.+]], %[[WEIGHT:.+]] = gist.unpack_selection %[[H]] : !gist.selection<3x512>
  // CHECK: gist.pack_selection %[[IDS]], %[[COUNT]], %[[NEAREST]], %[[WEIGHT]] : tensor<3x512xi32>, tensor<3xi32>, tensor<3x512xi32>, tensor<3x512xi32>
  %parts:4 = gist.unpack_selection %h : !gist.selection<3x512>
  %again = gist.pack_selection %parts#0, %parts#1, %parts#2, %parts#3 : tensor<3x512xi32>, tensor<3xi32>, tensor<3x512xi32>, tensor<3x512xi32>
  return
}

// CHECK-LABEL: func @keep_all
// CHECK-SAME:    %[[T:.+]]: index
func.func @keep_all(%t: index) {
  // CHECK: gist.keep_all : !gist.selection<512>
  %a = gist.keep_all : !gist.selection<512>
  // CHECK: gist.keep_all(%[[T]]) : !gist.selection<3x?>
  %b = gist.keep_all(%t) : !gist.selection<3x?>
  return
}

// CHECK-LABEL: func @attention
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<?x9x64xf32>, %[[K:[a-z0-9]+]]: tensor<?x3x64xf32>, %[[V:[a-z0-9]+]]: tensor<?x3x32xf32>
func.func @attention(%q: tensor<?x9x64xf32>, %k: tensor<?x3x64xf32>, %v: tensor<?x3x32xf32>,
                     %mask: tensor<?x?xf32>, %o: tensor<4xi32>, %s: !gist.selection<3x?>,
                     %t: !gist.selection<?>) -> tensor<?x9x32xf32> {
  // CHECK: gist.attention %[[Q]], %[[K]], %[[V]] : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x32xf32>
  %a = gist.attention %q, %k, %v : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x32xf32>
  // CHECK: gist.attention %[[Q]], %[[K]], %[[V]] mask(%{{.+}} : tensor<?x?xf32>) causal scale 1.250000e-01 window 256 sinks 4 :
  %b = gist.attention %q, %k, %v mask(%mask : tensor<?x?xf32>) causal scale 1.25e-1 window 256 sinks 4 : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x32xf32>
  // CHECK: gist.attention %[[Q]], %[[K]], %[[V]] causal offsets(%{{.+}}, %{{.+}} : tensor<4xi32>, tensor<4xi32>) :
  %c = gist.attention %q, %k, %v causal offsets(%o, %o : tensor<4xi32>, tensor<4xi32>) : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x32xf32>
  // CHECK: gist.attend %[[Q]], %[[K]], %[[V]] on %{{.+}} mode keys causal window 128 block 64 merge representative :
  %d = gist.attend %q, %k, %v on %s mode keys causal window 128 block 64 merge representative : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x32xf32>, !gist.selection<3x?>
  // CHECK: gist.attend %[[Q]], %[[K]], %[[V]] on %{{.+}} mode copy log_count causal scale 2.500000e-01 offsets(%{{.+}} : tensor<4xi32>) :
  %e = gist.attend %q, %k, %v on %t mode copy log_count causal scale 2.5e-1 offsets(%o : tensor<4xi32>) : tensor<?x9x64xf32>, tensor<?x3x64xf32>, tensor<?x3x32xf32>, !gist.selection<?>
  return %d : tensor<?x9x32xf32>
}

// CHECK-LABEL: func @linear
func.func @linear(%x: tensor<?x96xf32>, %v: tensor<96x16xf16>, %w0: tensor<40x96xf16>,
                  %w1: tensor<24x96xf16>, %m0: tensor<40x16xf16>, %m1: tensor<24x16xf16>,
                  %b0: tensor<40xf32>, %b1: tensor<24xf32>) -> (tensor<?x40xf32>, tensor<?x24xf32>, tensor<?xi8>) {
  // CHECK: %{{[a-z0-9]+}}:2, %{{[a-z0-9]+}} = gist.gated_projection %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, 1.000000e-01
  // CHECK-SAME: weights(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<40x96xf16>, tensor<24x96xf16>)
  // CHECK-SAME: images(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<40x16xf16>, tensor<24x16xf16>)
  // CHECK-SAME: biases(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<40xf32>, tensor<24xf32>)
  // CHECK-SAME: low 1.562500e-02(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<40x96xf16>, tensor<24x96xf16>)
  // CHECK-SAME: : tensor<?x96xf32>, tensor<96x16xf16>
  %y:2, %level = gist.gated_projection %x, %v, 1.0e-1
      weights(%w0, %w1 : tensor<40x96xf16>, tensor<24x96xf16>)
      images(%m0, %m1 : tensor<40x16xf16>, tensor<24x16xf16>)
      biases(%b0, %b1 : tensor<40xf32>, tensor<24xf32>)
      low 1.5625e-2 (%w0, %w1 : tensor<40x96xf16>, tensor<24x96xf16>)
      : tensor<?x96xf32>, tensor<96x16xf16>
  return %y#0, %y#1, %level : tensor<?x40xf32>, tensor<?x24xf32>, tensor<?xi8>
}

// CHECK-LABEL: func @weights
func.func @weights() -> tensor<192x576xf32> {
  // CHECK: %[[W:.+]] = gist.weight "blk.0.attn_k.weight" layer 0 : tensor<192x18x20xi8>
  %w = gist.weight "blk.0.attn_k.weight" layer 0 : tensor<192x18x20xi8>
  // CHECK: gist.dequantize %[[W]] format q4_1 : tensor<192x18x20xi8>
  %f = gist.dequantize %w format q4_1 : tensor<192x18x20xi8>
  return %f : tensor<192x576xf32>
}

// CHECK-LABEL: func @sample
func.func @sample(%one: tensor<1x49152xf32>, %many: tensor<?x7xf32>, %s: tensor<1x5xi64>, %t: tensor<?x5xi64>) {
  // CHECK: gist.sample %{{.+}} by %{{.+}} : tensor<1x49152xf32>, tensor<1x5xi64>
  %a = gist.sample %one by %s : tensor<1x49152xf32>, tensor<1x5xi64>
  // CHECK: %[[B:.+]] = gist.sample %{{.+}} by %{{.+}} : tensor<?x7xf32>, tensor<?x5xi64>
  %b = gist.sample %many by %t : tensor<?x7xf32>, tensor<?x5xi64>
  // CHECK: tensor.cast %[[B]] : tensor<?xi32> to tensor<3xi32>
  %c = tensor.cast %b : tensor<?xi32> to tensor<3xi32>
  return
}
