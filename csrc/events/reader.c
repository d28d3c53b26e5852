/* The tables of joints that may open and of transitions, each index checked before it is used. */
#include "model/reader.h"
#include <string.h>

static int in_range(int32_t i, int32_t low, int32_t count) { return i >= low && i < count; }

/* A joint that may open is a cut joint; in each structure some of these are closed, which are bits of its number. */
lw_status lw_read_removable_joints(reader *r, lw_model *m) {
  m->closed = 0;
  for (int32_t i = 0; i < m->removable_joints; i++) {
    const void *p = lw_read_bytes(r, sizeof(int32_t));
    if (!p) return lw_format_error(r, "the model is truncated in the joints that may open");
    memcpy(&m->removable_joint[i], p, sizeof(int32_t));
    if (!in_range(m->removable_joint[i], 0, m->size.joints) || m->joint[m->removable_joint[i]].loop < 0)
      return lw_format_error(r, "the model's joint that may open, number %d, closes no loop", i);
    if (m->loop[m->joint[m->removable_joint[i]].loop].cluster >= 0) m->closed |= 1 << i;
  }
  return LW_OK;
}

static int may_open(const lw_model *m, int32_t joint) {
  for (int32_t i = 0; i < m->removable_joints; i++)
    if (m->removable_joint[i] == joint) return 1;
  return 0;
}

static int is_joint_with(const lw_model *m, int32_t joint, int32_t directions) {
  return in_range(joint, 0, m->size.joints) && in_range(directions, 1, 1 << lw_joint_sizes[m->joint[joint].type].u);
}

static int is_action(const lw_model *m, const lw_transition *x) {
  switch ((lw_action)x->action) {
    case LW_LOCK:
    case LW_UNLOCK: return is_joint_with(m, x->joint, x->directions);
    case LW_PIN:
    case LW_RELEASE: return may_open(m, x->joint);
    case LW_STOP:
      return is_joint_with(m, x->joint, x->directions) && !(x->directions & (x->directions - 1)) &&
             lw_joint_sizes[m->joint[x->joint].type].q == lw_joint_sizes[m->joint[x->joint].type].u &&
             in_range(x->bounds, 1, 4) && x->trigger == LW_NO_TRIGGER;
    case LW_IMPULSE: return in_range(x->joint, 0, m->size.bodies);
    case LW_ACTIONS: break;
  }
  return 0;
}

static int is_trigger(const lw_model *m, const lw_transition *x) {
  if (!in_range(x->trigger, 0, LW_TRIGGERS) || (x->trigger == LW_NO_TRIGGER && x->action != LW_STOP)) return 0;
  if (x->trigger != LW_ZERO_CROSSING) return 1;
  if (!in_range(x->direction, -1, 2)) return 0;
  if (x->quantity >= 0) return in_range(x->quantity, 0, m->size.nq + m->size.nq_cut);
  return in_range(x->body[0], -1, m->size.bodies) && in_range(x->body[1], -1, m->size.bodies);
}

lw_status lw_read_transitions(reader *r, lw_model *m) {
  for (int32_t i = 0; i < m->size.transitions; i++) {
    int32_t v[11];
    const void *p = lw_read_bytes(r, sizeof v);
    if (!p) return lw_format_error(r, "the model is truncated in its transitions");
    memcpy(v, p, sizeof v);
    lw_transition *x = &m->transition[i];
    *x = (lw_transition){.action = v[0],
                         .joint = v[1],
                         .directions = v[2],
                         .bounds = v[3],
                         .trigger = v[4],
                         .quantity = v[5],
                         .body = {v[6], v[7]},
                         .direction = v[8],
                         .undone = v[9] != 0,
                         .indicator = m->size.event_indicators};
    if (!is_action(m, x) || !is_trigger(m, x) || !in_range(v[10], 0, 3))
      return lw_format_error(r, "the model's transition %d points outside the model", i);
    if (x->action == LW_PIN) m->joint[x->joint].captured = v[10];
    if (x->action == LW_STOP) m->size.event_indicators += (x->bounds & 1) + (x->bounds >> 1);
    if (x->trigger == LW_ZERO_CROSSING) m->size.event_indicators++;
  }
  return LW_OK;
}
