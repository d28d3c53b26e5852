/* Joints that close and open at an event. */
#include "events/removable_joints.h"
#include "math/tolerances.h"
#include <math.h>
#include <string.h>

typedef struct pose {
  double p[3], Q[4];
} pose;

static void multiply_quaternions(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  for (int k = 0; k < 3; k++) {
    const int i = 1 + (k + 1) % 3, j = 1 + (k + 2) % 3;
    out[1 + k] = a[0] * b[1 + k] + a[1 + k] * b[0] + a[i] * b[j] - a[j] * b[i];
  }
}

static void rotate(const double Q[4], const double v[3], double out[3]) {
  const double as_quaternion[4] = {0.0, v[0], v[1], v[2]}, inverse[4] = {Q[0], -Q[1], -Q[2], -Q[3]};
  double half[4], whole[4];
  multiply_quaternions(Q, as_quaternion, half);
  multiply_quaternions(half, inverse, whole);
  memcpy(out, whole + 1, 3 * sizeof *out);
}

static pose pose_of_link(const lw_state *s, int32_t link) {
  pose a = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  if (link < 0) return a;
  const int32_t body = s->model->link[link].body;
  memcpy(a.p, lw_reals(s) + s->model->at.body_position + 3 * body, sizeof a.p);
  memcpy(a.Q, lw_reals(s) + s->model->at.body_orientation + 4 * body, sizeof a.Q);
  return a;
}

/* The frame of a pin in the description, with its quaternion normalised. */
static pose described_frame(const lw_state *s, int32_t joint, int of_child) {
  const lw_offsets *at = &s->model->at;
  pose f;
  double size = 0.0;
  memcpy(f.p, lw_reals(s) + (of_child ? at->child_position : at->parent_position) + 3 * joint, sizeof f.p);
  memcpy(f.Q, lw_reals(s) + (of_child ? at->child_orientation : at->parent_orientation) + 4 * joint, sizeof f.Q);
  for (int k = 0; k < 4; k++) size += f.Q[k] * f.Q[k];
  for (int k = 0; k < 4; k++) f.Q[k] /= sqrt(size);
  return f;
}

/* Stores the described frame of one body as seen from the other body. */
void lw_capture_frame(lw_state *s, int32_t joint) {
  const lw_model *m = s->model;
  const int32_t taken = m->joint[joint].captured;
  if (!taken) return;
  const lw_loop *loop = &m->loop[m->joint[joint].loop];
  const int of_child = taken == 1;
  const pose from = pose_of_link(s, of_child ? loop->child : loop->parent);
  const pose to = pose_of_link(s, of_child ? loop->parent : loop->child), f = described_frame(s, joint, of_child);
  const double inverse[4] = {to.Q[0], -to.Q[1], -to.Q[2], -to.Q[3]};
  double offset[3], world[4], *captured = lw_reals(s) + m->at.captured_frame + 7 * joint;
  rotate(from.Q, f.p, offset);
  for (int k = 0; k < 3; k++) offset[k] += from.p[k] - to.p[k];
  rotate(inverse, offset, captured);
  multiply_quaternions(from.Q, f.Q, world);
  multiply_quaternions(inverse, world, captured + 3);
}

/* Evaluates at zero speed, so that the residual is the gap alone. */
static void measure_gaps(lw_state *s) {
  const lw_model *m = s->model;
  double *u = lw_reals(s) + m->at.u, *speeds = s->events->speed_after;
  const size_t size = sizeof(double) * (size_t)m->size.nu;
  memcpy(speeds, u, size);
  memset(u, 0, size);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
  (void)lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  memcpy(u, speeds, size);
  lw_state_changed(s, LW_STAGE_CONSTANTS);
}

lw_status lw_check_pin_gaps(lw_state *s) {
  lw_status e = lw_evaluate(s, LW_STAGE_CONSTANTS);
  if (e) return e;
  measure_gaps(s);
  const lw_model *m = s->model;
  const lw_double_cut_constants *cut = (const lw_double_cut_constants *)(lw_reals(s) + m->at.cut_constants);
  for (int32_t i = 0; i < m->size.transitions; i++) {
    const lw_transition *x = &s->base->transition[i];
    if (x->action != LW_PIN || !(s->events->due[i] & LW_DO)) continue;
    const int32_t l = m->joint[x->joint].loop;
    const double gap = lw_reals(s)[m->at.loop_residual + l];
    if (!(gap <= MAX_RELATIVE_GAP * cut[l].length))
      return lw_fail(s, LW_ERROR_ASSEMBLY,
                     "transition '%.60s' would pin two frames that are %.3g m apart (misalignment times the loop's "
                     "length included): leave out one of them, and the pin uses its pose at the event, or pin where "
                     "they coincide",
                     m->transition_name[i], gap);
  }
  return LW_OK;
}
