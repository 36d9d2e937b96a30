// Every op of the dialect, for the reference.
include "dialect/GistOps.td"
include "dialect/GistClusterOps.td"
include "dialect/GistSamplingOps.td"
include "dialect/GistPlanOps.td"
include "dialect/GistKernelAttrs.td"
include "dialect/GistTileAttrs.td"
include "dialect/GistTargetAttrs.td"
include "dialect/GistTileOps.td"
