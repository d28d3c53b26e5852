/* Brings a state into the topology variant of its closed joints, where it differs from the one it is in. A variant that
 * cannot be made leaves the state as it was, with the names of the joints that would have changed. */
#include "topology/select.h"
#include "block/discrete_state.h"
#include "load/kept_variants.h"
#include "topology/variant.h"
#include <stdio.h>
#include <string.h>

/* An open joint transmits no load and has no motion: clears the results that can be read of it. */
static void clear_open_joints(lw_state *s) {
  const lw_model *m = s->model;
  double *x = lw_reals(s);
  for (int32_t l = 0; l < m->size.loops; l++) {
    const lw_loop *loop = &m->loop[l];
    const int32_t q = loop->q - m->size.nq, u = loop->u - m->size.nu;
    if (loop->cluster >= 0) continue;
    for (int32_t k = 0; k < loop->coordinates; k++) x[m->at.q_cut + q + k] = x[m->at.cut_reference + q + k] = 0.0;
    if (loop->coordinates != loop->columns)
      x[m->at.q_cut + q + loop->coordinates - 4] = x[m->at.cut_reference + q + loop->coordinates - 4] = 1.0;
    for (int32_t k = 0; k < loop->columns; k++)
      x[m->at.u_cut + u + k] = x[m->at.acceleration + loop->u + k] = x[m->at.locked + loop->u + k] = 0.0;
    for (int k = 0; k < 3; k++)
      x[m->at.reaction_force + 3 * loop->joint + k] = x[m->at.reaction_torque + 3 * loop->joint + k] = 0.0;
    x[m->at.loop_residual + l] = 0.0;
    x[m->at.loop_conditioning + l] = 1.0;
  }
}

static double *closed_of(const lw_state *s, int32_t removable) {
  return lw_reals(s) + s->base->at.joint_closed + s->base->removable_joint[removable];
}

/* The joints that would open or close, as "'A' closes, 'B' opens". */
static void list_changes(const lw_state *s, const unsigned char *closed, char *text, size_t size) {
  size_t used = 0;
  int32_t left_off = 0;
  for (int32_t k = 0; k < s->base->removable_joints; k++) {
    if (closed[k] == s->model->closed[k]) continue;
    char one[80];
    const int length = snprintf(one, sizeof one, "%s'%.50s' %s", used ? ", " : "",
                                s->base->joint_name[s->base->removable_joint[k]], closed[k] ? "closes" : "opens");
    if (used + (size_t)length + 20 > size) left_off++;
    else memcpy(text + used, one, (size_t)length + 1), used += (size_t)length;
  }
  if (left_off) snprintf(text + used, size - used, " and %d more", left_off);
}

static lw_status refuse(lw_state *s, lw_status e, const unsigned char *closed, const char *why) {
  char changes[160] = "";
  list_changes(s, closed, changes, sizeof changes);
  for (int32_t k = 0; k < s->base->removable_joints; k++) *closed_of(s, k) = s->model->closed[k];
  return lw_fail(s, e, "the mechanism cannot change at t = %.9g s, where %s: %s", lw_reals(s)[s->model->at.time],
                 changes, why);
}

/* The complex block and the pattern of the constraints are of one variant: another may lie at the same address. */
static lw_status enter(lw_state *s, const lw_model *variant) {
  const lw_model *left = s->model;
  s->model = variant;
  s->topologies++;
  const lw_status e = lw_fit_workspace(s, &s->block, &s->work_reals, sizeof(double));
  if (e) s->model = left;
  lw_leave_variant(s->base, e ? variant : left);
  if (e) return e;
  lw_dca_release(&s->dca);
  lw_dca_release(&s->complex_dca);
  s->complex_model = NULL, s->complex_constants = 0;
  return LW_OK;
}

lw_status lw_select_topology(lw_state *s, int discard_scratch) {
  const lw_model *m = s->base, *variant;
  char why[300] = "";
  lw_status e = LW_OK;
  lw_state_changed(s, LW_STAGE_NONE);
  if (!m->variants) return LW_OK;
  unsigned char *closed = s->events->closed;
  for (int32_t k = 0; k < m->removable_joints; k++) closed[k] = *closed_of(s, k) != 0.0;
  if (memcmp(closed, s->model->closed, (size_t)m->removable_joints) != 0) {
    e = lw_variant_with(m, closed, &variant, why, sizeof why);
    if (!e && (e = enter(s, variant))) snprintf(why, sizeof why, "there is no memory for it");
    if (e) refuse(s, e, closed, why);
    else if (discard_scratch) memset(s->block.integers, 0, sizeof(int32_t) * (size_t)m->most_integers);
  }
  clear_open_joints(s);
  return e;
}
