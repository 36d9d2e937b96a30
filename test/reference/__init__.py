# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gist ops in NumPy: the second opinion on what they mean.

Written from the definition of the ops and apart from the compiler's C++, so
that an error must be made twice to go unseen. Everything is computed in
float64; what the ops compute in f32 is compared within bounds that
`reference.certificate` and `reference.numerics` state and derive.

These functions are written for clarity, not speed: use a T of a few hundred.
"""
