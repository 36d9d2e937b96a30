//===- PlanMenu.h - All that a plan may be made of --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads, depths and bits as one menu, and the plans that are made of it. A
// layer is a place around those of its heads: one that the bulk of a prompt
// leaves out computes nothing in them, and a plan of any of its heads costs the
// others, which are looked up then.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_PLANMENU_H
#define GIST_TOOLS_PLANNING_PLANMENU_H

#include "tools/planning/BitsMenu.h"
#include "tools/planning/DepthMenu.h"
#include "tools/planning/HeadMenu.h"
#include "tools/planning/PlanSearch.h"
#include "tools/planning/SelectionMenu.h"

namespace gist::plan {

/// A plan of all kinds, as it is tried. A part that is empty leaves the model
/// as it is.
struct TrialPlan {
  Plan heads;
  DepthPlan depths;
  MapSet maps;
  LinearPlan linears;
  std::vector<double> taus; ///< of an encoder
};

class PlanMenu {
public:
  /// Each may be null; all outlive this.
  PlanMenu(HeadMenu *heads, const DepthMenu *depths, BitsMenu *bits = nullptr)
      : heads(heads), depths(depths), bits(bits) {}
  /// Of an encoder.
  explicit PlanMenu(const SelectionMenu &selections)
      : selections(&selections) {}

  /// Lists what there is for a contract. The first variant leaves depths as
  /// they are.
  void build(const Contract &terms, const JobTime &time);

  const std::vector<MenuVariant> &variants() const { return menu; }
  /// Maps are as they were fitted alone.
  TrialPlan makePlan(const PlanChoice &choice) const;
  /// Brings the bits of a plan into the module that plans are tried in.
  Status follow(const LinearPlan &linears) const {
    return bits ? bits->follow(linears) : Status();
  }
  /// The choice that makes up a plan of heads.
  Status findHeads(const Plan &plan, PlanChoice &choice) const;

private:
  /// Depths of one variant: of each layer before the tail the kinds that its
  /// place offers.
  struct Depths {
    const DepthMenu::Kind *tail = nullptr;
    std::vector<std::vector<const DepthMenu::Kind *>> layers;
  };
  void addVariant(const DepthMenu::Kind *tail, bool hasKinds,
                  const Places &ofHeads, const Contract &terms,
                  const JobTime &time);

  size_t countLayers() const {
    return depths ? depths->countLayers() : heads ? heads->countLayers() : 0;
  }

  HeadMenu *heads = nullptr;
  const DepthMenu *depths = nullptr;
  BitsMenu *bits = nullptr;
  const SelectionMenu *selections = nullptr;
  std::vector<MenuVariant> menu;
  std::vector<Depths> depthsOf; ///< of each variant
};

/// Measures plans of a menu in a module in which all can be tried.
class PlanTrier {
public:
  /// All of these outlive this. The model may be null where the menu has no
  /// depths. Without a fitter maps stay as they were fitted alone, which loses
  /// more and takes no time.
  PlanTrier(ProbePool &pool, const PlanMenu &menu, DepthModel *model,
            DepthFitter *fitter, const run::Limit &limit)
      : pool(pool), menu(menu), model(model), fitter(fitter), limit(limit) {}

  /// The plan with its maps fitted together.
  Status make(const PlanChoice &choice, TrialPlan &plan);
  /// Keeps the maps of this plan, if they were fitted last: the best plan is
  /// made again after others were tried.
  void keep(const PlanChoice &choice);
  Status measure(const Contract &by, const PlanChoice &choice,
                 const PlanSearch::WantsQuestions &wanted, Measurement &result);
  /// As above, of a plan that was made.
  Status measure(const Contract &by, const TrialPlan &plan,
                 const PlanSearch::WantsQuestions &wanted, Measurement &result);

private:
  ProbePool &pool;
  const PlanMenu &menu;
  DepthModel *model;
  DepthFitter *fitter;
  const run::Limit &limit;
  /// Maps that were fitted together for some depths.
  struct Fitted {
    std::vector<DepthChoice> depths;
    MapSet maps;
  };
  Fitted last; ///< heads change more often than depths
  Fitted kept;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_PLANMENU_H
