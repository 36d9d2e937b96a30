// Every pass, for docs/passes.md.
include "passes/Passes.td"
include "passes/Ranks/RankPasses.td"
