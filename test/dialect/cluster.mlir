// RUN: gist-opt -split-input-file -verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @cache
// CHECK: gist.cluster_update %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} into(%{{.*}}) block 128
// CHECK: gist.cluster_attention %{{.*}} on(%{{.*}}) block 128 scale 2.500000e-01
func.func @cache(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %heads: tensor<30x3x8xf32>, %past: index, %layer: index,
    %keys: tensor<900x64xf16>, %values: tensor<900x64xf16>, %units: tensor<400x64xf16>, %weights: tensor<400xf32>,
    %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  %k2, %v2, %u2, %w2, %c2 = gist.cluster_update %k, %k, %heads, %past, %layer
      into(%keys, %values, %units, %weights, %counts) block 128
      : tensor<?x3x64xf16>, tensor<?x3x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>,
        tensor<400x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k2, %v2, %w2, %c2) block 128 scale 2.5e-1
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// CHECK-LABEL: @apart
// CHECK: gist.cluster_absorb %{{.*}}, %{{.*}} layers 10 to 30 into(%{{.*}}) block 128
// CHECK: gist.cluster_attention %{{.*}} on(%{{.*}}) own(%{{.*}}, %{{.*}} : tensor<?x3x64xf16>, tensor<?x3x64xf16>) block 128
// CHECK: gist.cluster_update %{{.*}} into(%{{.*}}) block 128 absorbed
func.func @apart(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %heads: tensor<30x3x8xf32>, %past: index, %layer: index,
    %keys: tensor<900x64xf16>, %values: tensor<900x64xf16>, %units: tensor<400x64xf16>, %weights: tensor<400xf32>,
    %counts: tensor<30x3xi32>) -> (tensor<?x9x64xf16>, tensor<900x64xf16>) {
  %k1, %v1, %u1, %w1, %c1 = gist.cluster_absorb %heads, %past layers 10 to 30
      into(%keys, %values, %units, %weights, %counts) block 128
      : tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%k1, %v1, %w1, %c1)
      own(%k, %k : tensor<?x3x64xf16>, tensor<?x3x64xf16>) block 128
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  %k2, %v2, %u2, %w2, %c2 = gist.cluster_update %k, %k, %heads, %past, %layer
      into(%k1, %v1, %u1, %w1, %c1) block 128 absorbed
      : tensor<?x3x64xf16>, tensor<?x3x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>,
        tensor<400x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o, %k2 : tensor<?x9x64xf16>, tensor<900x64xf16>
}

// -----

func.func @layers(%heads: tensor<30x3x8xf32>, %past: index, %keys: tensor<900x64xf16>, %units: tensor<400x64xf16>,
    %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) {
  // expected-error@+1 {{expects some of 30 layers, got 10 to 31}}
  %n:5 = gist.cluster_absorb %heads, %past layers 10 to 31 into(%keys, %keys, %units, %weights, %counts) block 128
      : tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return
}

// -----

func.func @own(%q: tensor<?x9x64xf16>, %k: tensor<?x2x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects own rows for each query and KV head as the cache has them, 'tensor<900x64xf16>', got 'tensor<?x2x64xf16>'}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts)
      own(%k, %k : tensor<?x2x64xf16>, tensor<?x2x64xf16>) block 128
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @one_own(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects keys and values of the call or neither, got 1 tensors}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts)
      own(%k : tensor<?x3x64xf16>) block 128
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @table(%q: tensor<?x9x64xf16>, %heads: tensor<30x3x7xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects heads of layers x KV heads x 8, got 'tensor<30x3x7xf32>'}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts) block 128
      : tensor<?x9x64xf16>, tensor<30x3x7xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @group(%q: tensor<?x8x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x8x64xf16> {
  // expected-error@+1 {{expects a multiple of 3 query heads}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts) block 128
      : tensor<?x8x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x8x64xf16>
}

// -----

func.func @counts(%q: tensor<?x9x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x2xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects one count for each layer and KV head}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts) block 128
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x2xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @window(%q: tensor<?x9x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects a positive window, without rows of its own, got 0}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts) block 128 window 0
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @window_and_own(%q: tensor<?x9x64xf16>, %k: tensor<?x3x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects a positive window, without rows of its own, got 7 with own rows}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts)
      own(%k, %k : tensor<?x3x64xf16>, tensor<?x3x64xf16>) block 128 window 7
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @block(%q: tensor<?x9x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) -> tensor<?x9x64xf16> {
  // expected-error@+1 {{expects a positive block, got 0}}
  %o = gist.cluster_attention %q, %heads, %past, %past on(%keys, %keys, %weights, %counts) block 0
      : tensor<?x9x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return %o : tensor<?x9x64xf16>
}

// -----

func.func @cache_size(%k: tensor<?x3x32xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %units: tensor<400x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) {
  // expected-error@+1 {{expects keys of the head size and element type of their cache}}
  %r:5 = gist.cluster_update %k, %k, %heads, %past, %past into(%keys, %keys, %units, %weights, %counts) block 128
      : tensor<?x3x32xf16>, tensor<?x3x32xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>,
        tensor<400x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return
}

// -----

func.func @units(%k: tensor<?x3x64xf16>, %heads: tensor<30x3x8xf32>, %past: index,
    %keys: tensor<900x64xf16>, %units: tensor<300x64xf16>, %weights: tensor<400xf32>, %counts: tensor<30x3xi32>) {
  // expected-error@+1 {{expects one unit of the key's size for each weight}}
  %r:5 = gist.cluster_update %k, %k, %heads, %past, %past into(%keys, %keys, %units, %weights, %counts) block 128
      : tensor<?x3x64xf16>, tensor<?x3x64xf16>, tensor<30x3x8xf32>, tensor<900x64xf16>, tensor<900x64xf16>,
        tensor<300x64xf16>, tensor<400xf32>, tensor<30x3xi32>
  return
}
