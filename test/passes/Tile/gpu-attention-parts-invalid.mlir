// RUN: gist-opt %s "-gist-gpu-tile=target=sm_90" -verify-diagnostics -split-input-file

// Scratch memory of the wrong size, which only a kernel written by hand has.
// expected-error @below {{cannot be written for sm_90}}
func.func private @few(%q: tensor<1x9x64xf16>, %k: tensor<?x3x64xf16>, %v: tensor<?x3x64xf16>, %o: tensor<1x9x64xf16>,
    %s: tensor<10xf32>, %c: tensor<24xi32> {gist.control}) -> (tensor<1x9x64xf16>, tensor<10xf32>, tensor<24xi32>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 3, scratch = 2>} {
  // expected-error @below {{expects scratch memory of 'tensor<5760xf32>' and 'tensor<24xi32>' for 5 parts of the keys}}
  %r = gist.attention %q, %k, %v causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %r, %s, %c : tensor<1x9x64xf16>, tensor<10xf32>, tensor<24xi32>
}

// -----

// Only one of the caches is updated.
// expected-error @below {{cannot be written for sm_90}}
func.func private @half(%q: tensor<1x9x64xf16>, %k: tensor<1x3x64xf16>, %past: index, %n: index,
    %va: tensor<?x3x64xf16>, %kc: tensor<512x3x64xf16>, %o: tensor<1x9x64xf16>)
    -> (tensor<512x3x64xf16>, tensor<1x9x64xf16>)
    attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 2>} {
  %kn = tensor.insert_slice %k into %kc[%past, 0, 0] [1, 3, 64] [1, 1, 1] : tensor<1x3x64xf16> into tensor<512x3x64xf16>
  %ka = tensor.extract_slice %kn[0, 0, 0] [%n, 3, 64] [1, 1, 1] : tensor<512x3x64xf16> to tensor<?x3x64xf16>
  // expected-error @below {{reads a cache that its kernel updates; expects both to be updated by one token and returned, and no window}}
  %r = gist.attention %q, %ka, %va causal : tensor<1x9x64xf16>, tensor<?x3x64xf16>, tensor<?x3x64xf16>
  return %kn, %r : tensor<512x3x64xf16>, tensor<1x9x64xf16>
}
