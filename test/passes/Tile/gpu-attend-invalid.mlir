// RUN: gist-opt %s -split-input-file -gist-set-target=target=gfx942 -gist-select-tile-config -gist-gpu-kernels -verify-diagnostics

!q = tensor<?x4x64xf16>
!part = tensor<?xi32>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @means(%q: !q, %k: !q, %v: !q, %ids: !part, %count: tensor<i32>, %nearest: !part,
    %weight: !part, %out: !q) -> !q attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  // expected-error @+1 {{has no scratch memory}}
  %r = gist.attend %q, %k, %v on %s mode keys causal window 128 block 128
      : !q, !q, !q, !gist.selection<?>
  return %r : !q
}

// -----

!q = tensor<?x4x64xf16>
!part = tensor<?xi32>
// expected-error @+1 {{cannot be written for gfx942}}
func.func private @ragged(%q: !q, %k: !q, %v: !q, %ids: !part, %count: tensor<i32>, %nearest: !part,
    %weight: !part, %starts: !part, %out: !q) -> !q attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %ids, %count, %nearest, %weight : !part, tensor<i32>, !part, !part
  // expected-error @+1 {{reads a ragged batch, for which there is no GPU kernel}}
  %r = gist.attend %q, %k, %v on %s mode copy causal offsets(%starts : !part) : !q, !q, !q, !gist.selection<?>
  return %r : !q
}
