/* The kernels compare real parts, numbers of type double. Here these are scalars that record as well, so that no decision
 * escapes. Whatever C lays out in doubles therefore stands before the kernels. */
#define LW_ARITHMETIC 3 /* LW_RECORDED */
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>
extern "C" {
#include "math/path_numbers.h"
#include "math/tolerances.h"
#include "model/dca_workspace.h"
#include "model/exact_loops.h"
#include "model/independent_columns.h"
#include "model/model.h"
#include "model/multiplier_workspace.h"
#include "model/workspace.h"
}
#include "math/exponentials.h"
#include "math/scalar.h"
#include "tape/record_kernels.h"
#include "tape/recorded_scalar.h"

#define double real
#include "dynamics/derivatives_kernel.h"
#include "dynamics/forward_dynamics_kernel.h"
#include "dynamics/inverse_dynamics_kernel.h"
#include "dynamics/outputs_kernel.h"
#include "loops/constants_kernel.h"
#undef double

thread_local lw::recorder *lw_recorder;

namespace {

/* The thread records to it for as long as this lives. */
class recording {
 public:
  explicit recording(lw::recorder &to) { lw_recorder = &to; }
  ~recording() { lw_recorder = nullptr; }
};

void check(lw_fault fault) {
  if (fault.kind) refuse("a state from which it was to be recorded has no such motion");
}

lw_block open_block(const lw_model *m, lw::recorded_block of, lw_stage from) {
  lw_block b = {};
  b.reals = of.reals, b.work = of.work, b.integers = of.integers;
  if (from < LW_STAGE_CONSTANTS) check(constants(m, b));
  return b;
}

} // namespace

void lw::record_stages(lw::recorder &to, const lw_model *m, lw::recorded_block of, lw_stage from, lw_stage stage,
                       bool cuts) {
  const recording during(to);
  const lw_block b = open_block(m, of, from);
  if (stage >= LW_STAGE_ACCELERATIONS) check(accelerations(m, b));
  if (stage >= LW_STAGE_DERIVATIVES) check(derivatives(m, b));
  if (stage >= LW_STAGE_OUTPUTS) check(outputs(m, b));
  else if (cuts) locate_cuts(m, b);
}

void lw::record_poses(lw::recorder &to, const lw_model *m, lw::recorded_block of, lw_stage from) {
  const recording during(to);
  body_motions(m, open_block(m, of, from));
}

void lw::record_inverse_dynamics(lw::recorder &to, const lw_model *m, lw::recorded_block of, lw_stage from,
                                 const int32_t *driven) {
  const recording during(to);
  const lw_block b = open_block(m, of, from);
  const view v = open_view(m, b);
  const std::vector<real> udot(v.acceleration, v.acceleration + m->size.nu);
  std::vector<real> tau(udot.size()); /* the field has the loads that drive */
  int near;
  clear_pressing(&v);
  check(close_pressed_loops(&v, &near));
  check(find_loads_of_motion(&v, driven, udot.data(), tau.data()));
  std::copy(tau.begin(), tau.end(), FIELD(&v, tau));
}
