/* Model reader: removable joints and transitions. Every index is checked before use. */
#include "load/reader.h"

/* Removable joints are cut joints. */
lw_status lw_read_removable_joint(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_joint *joint = &m->joint[v[0]];
  m->removable_joint[at->row] = v[0];
  if (joint->loop < 0 || joint->may_open)
    return lw_format_error(r, "the model's joint that may open, number %d, closes no loop or comes twice", at->row);
  joint->may_open = 1, m->closed[at->row] = m->loop[joint->loop].cluster >= 0;
  return LW_OK;
}

lw_status lw_read_request(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  m->request[at->row] = (lw_method_request){v[0], v[1]};
  return lw_within(v[1], LW_METHOD_AUTO, LW_METHOD_EMBEDDING + 1) ? LW_OK : lw_row_error(r, "request", at->row);
}

static int is_joint_with(const lw_model *m, int32_t joint, int32_t directions) {
  return lw_within(joint, 0, m->size.joints) && lw_within(directions, 1, 1 << lw_joint_sizes[m->joint[joint].type].u);
}

static int is_direction_of(const lw_model *m, const lw_transition *x) {
  return is_joint_with(m, x->joint, x->directions) && !(x->directions & (x->directions - 1));
}

/* A coupling of the speeds of a force, in their order, that nothing else has taken as a lock. */
static int couples_gears(const lw_model *m, int32_t coupling, const lw_force *of) {
  if (!lw_within(coupling, 0, m->couplings - m->size.locks - m->size.distances)) return 0;
  const lw_coupling *c = &m->coupling[coupling];
  if (c->lock >= 0 || c->formula >= 0 || c->cluster < 0 || c->terms != of->gears) return 0;
  for (int32_t k = 0; k < of->gears; k++)
    if (m->term[c->first + k].u != m->gear[of->first + k].u) return 0;
  return 1;
}

/* Of a friction its speed sticks, or the sum of its speeds. */
static int is_friction(const lw_model *m, const lw_transition *x) {
  if (!lw_within(x->number, 0, m->size.forces) || x->trigger != LW_NO_TRIGGER) return 0;
  const lw_force *of = &m->force[x->number];
  if (!lw_force_sticks(lw_type_of_force(m, x->number), of->given)) return 0;
  if (x->directions == 0) return of->lock < 0 && couples_gears(m, x->joint, of);
  return is_direction_of(m, x) && of->gears == 1 && lw_within(m->gear[of->first].u - m->joint[x->joint].u, 0, 6) &&
         1 << (m->gear[of->first].u - m->joint[x->joint].u) == x->directions;
}

/* Which row of the field `locked` what stops or sticks has; a coupling that holds a sum becomes its lock. */
static int32_t take_hold(lw_model *m, const lw_transition *x) {
  if (x->directions != 0) {
    int32_t c = 0;
    while (!(x->directions >> c & 1)) c++;
    return m->joint[x->joint].u + c;
  }
  lw_coupling *coupling = &m->coupling[x->joint];
  m->force[x->number].lock = x->joint;
  m->cluster[coupling->cluster].locks++;
  return coupling->lock = m->size.nu + m->size.nu_cut + m->size.held_sums++;
}

static int is_action(const lw_model *m, const lw_transition *x) {
  switch ((lw_action)x->action) {
    case LW_LOCK:
    case LW_UNLOCK: return is_joint_with(m, x->joint, x->directions);
    case LW_PIN:
    case LW_RELEASE: return lw_within(x->joint, 0, m->size.joints) && m->joint[x->joint].may_open;
    case LW_STOP:
      return is_direction_of(m, x) &&
             lw_joint_sizes[m->joint[x->joint].type].q == lw_joint_sizes[m->joint[x->joint].type].u &&
             lw_within(x->bounds, 1, 4) && x->trigger == LW_NO_TRIGGER;
    case LW_IMPULSE: return lw_within(x->joint, 0, m->size.bodies);
    case LW_STICK: return is_friction(m, x);
    case LW_ACTIONS: break;
  }
  return 0;
}

static int is_trigger(const lw_model *m, const lw_transition *x) {
  if (!lw_within(x->trigger, 0, LW_TRIGGERS) ||
      (x->trigger == LW_NO_TRIGGER && x->action != LW_STOP && x->action != LW_STICK))
    return 0;
  if (x->trigger != LW_ZERO_CROSSING) return 1;
  if (!lw_within(x->direction, -1, 2)) return 0;
  switch ((lw_quantity)x->quantity) {
    case LW_COORDINATE: return lw_within(x->number, 0, m->size.nq + m->size.nq_cut);
    case LW_SPEED: return lw_within(x->number, 0, m->size.nu + m->size.nu_cut);
    case LW_DISTANCE:
    case LW_DISTANCE_RATE:
      return lw_within(x->body[0], -1, m->size.bodies) && lw_within(x->body[1], -1, m->size.bodies);
    case LW_VARIABLE: return x->number == -1;
    case LW_QUANTITIES: break;
  }
  return 0;
}

lw_status lw_read_transition(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {
  lw_transition *x = &m->transition[at->row];
  *x = (lw_transition){.action = v[0],
                       .joint = v[1],
                       .directions = v[2],
                       .bounds = v[3],
                       .trigger = v[4],
                       .quantity = v[5],
                       .number = v[6],
                       .body = {v[7], v[8]},
                       .direction = v[9],
                       .undone = v[10] != 0,
                       .indicator = m->size.event_indicators};
  if (!is_action(m, x) || !is_trigger(m, x) || !lw_within(v[11], 0, 3)) return lw_row_error(r, "transition", at->row);
  if (x->action == LW_PIN) m->joint[x->joint].captured = v[11];
  x->hold = x->action == LW_STOP || x->action == LW_STICK ? take_hold(m, x) : -1;
  if (x->action == LW_STOP) m->size.event_indicators += (x->bounds & 1) + (x->bounds >> 1);
  if (x->trigger == LW_ZERO_CROSSING || x->action == LW_STICK) m->size.event_indicators++;
  return LW_OK;
}
