// Every pass, for the reference.
include "passes/Passes.td"
include "passes/Plan/PlanPasses.td"
