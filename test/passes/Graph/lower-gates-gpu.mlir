// Where a plan may be left out in part, gates of many tokens stay on sm_90 if
// they pay there, and remarks say which. One token keeps its gate.
// RUN: sed 's/module {/module attributes {gist.fast_plan} {/' %s | gist-opt -gist-set-target=target=sm_90 -gist-lower-gates --remarks-filter=gist-lower-gates 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t
// All of them stay where the plan has to be followed, and on GPUs without
// measurements.
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-lower-gates | FileCheck %s --check-prefix=ALL
// RUN: sed 's/module {/module attributes {gist.fast_plan} {/' %s \
// RUN:   | gist-opt -gist-set-target=target=gfx942 -gist-lower-gates | FileCheck %s --check-prefix=ALL

// ALL-COUNT-3: gist.gated_projection
// ALL-NOT: linalg.matmul

// SAID: a gated layer of 4096 to 16384, k = 256: rows of many tokens are gathered by level, which pays while at most {{[1-9][0-9]}}% of the rows are open
// SAID: a gated layer of 576 to 1536, k = 64: no gate for many tokens; it would pay in no case, and 10% are expected

module {
// CHECK-LABEL: func.func @wide(
// CHECK: gist.gated_projection
func.func @wide(%x: tensor<?x4096xf32>, %v: tensor<4096x256xf32>, %w: tensor<16384x4096xf16>, %m: tensor<16384x256xf32>)
    -> (tensor<?x16384xf32>, tensor<?xi8>) {
  %y, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<16384x4096xf16>)
      images(%m : tensor<16384x256xf32>) : tensor<?x4096xf32>, tensor<4096x256xf32>
  return %y, %level : tensor<?x16384xf32>, tensor<?xi8>
}

// Every row reads the weight, and its level says so.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x576xf32>, %{{[^:]*}}: tensor<576x64xf32>, %[[W:[^:]*]]: tensor<1536x576xf16>, %{{[^:]*}}: tensor<1536x64xf32>, %[[BIAS:[^:]*]]: tensor<1536xf32>
// CHECK-NOT: gist.gated_projection
// CHECK: %[[Y:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[W]] :
// CHECK-NOT: linalg.matmul
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[BIAS]] :
// CHECK: %[[TOP:.*]] = arith.constant 1 : i8
// CHECK: %[[LEVEL:.*]] = linalg.fill ins(%[[TOP]] : i8)
// CHECK: return %[[SUM]], %[[LEVEL]]
func.func @narrow(%x: tensor<?x576xf32>, %v: tensor<576x64xf32>, %w: tensor<1536x576xf16>, %m: tensor<1536x64xf32>,
    %bias: tensor<1536xf32>) -> (tensor<?x1536xf32>, tensor<?xi8>) {
  %y, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<1536x576xf16>)
      images(%m : tensor<1536x64xf32>) biases(%bias : tensor<1536xf32>) : tensor<?x576xf32>, tensor<576x64xf32>
  return %y, %level : tensor<?x1536xf32>, tensor<?xi8>
}

// CHECK-LABEL: func.func @one_token(
// CHECK: gist.gated_projection
func.func @one_token(%x: tensor<1x576xf32>, %v: tensor<576x64xf32>, %w: tensor<1536x576xf16>, %m: tensor<1536x64xf32>)
    -> tensor<1x1536xf32> {
  %y, %level = gist.gated_projection %x, %v, 1.0e-1 weights(%w : tensor<1536x576xf16>)
      images(%m : tensor<1536x64xf32>) : tensor<1x576xf32>, tensor<576x64xf32>
  return %y : tensor<1x1536xf32>
}
}
