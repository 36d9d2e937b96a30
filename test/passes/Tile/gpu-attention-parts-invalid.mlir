// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" -verify-diagnostics -split-input-file

// Memory of the wrong size, as only a hand writes it.
// expected-error @below {{cannot be written for sm_90}}
func.func private @few(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>, %o: tensor<1x9x64xf16>,
    %s: tensor<10xf32>, %c: tensor<24xi32> {gist.control}) -> (tensor<1x9x64xf16>, tensor<10xf32>, tensor<24xi32>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3, scratch = 2>} {
  // expected-error @below {{expects scratch memory of 'tensor<5760xf32>' and 'tensor<24xi32>' for 5 parts of the keys}}
  %r = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %r, %s, %c : tensor<1x9x64xf16>, tensor<10xf32>, tensor<24xi32>
}
