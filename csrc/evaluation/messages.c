/* What went wrong in the mechanics, in words that name the thing and the remedy. */
#include "evaluation/constraint_names.h"
#include "block/state.h"
#include "math/tolerances.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *joint_name(const lw_state *s, int32_t j) { return s->model->joint_name[j]; }

/* The first joint whose quaternion has no direction, among coordinates from an offset on; -1: none. */
int32_t lw_zero_quaternion(const lw_state *s, int32_t first) {
  const lw_model *m = s->model;
  const int32_t end = first == m->at.q ? m->size.nq : m->size.nq + m->size.nq_cut;
  for (int32_t j = 0; j < m->size.joints; j++) {
    const lw_joint_size *size = &lw_joint_sizes[m->joint[j].type];
    const int32_t last = m->joint[j].q + size->q;
    const double *Q = lw_reals(s) + first + last - 4;
    if (size->q == size->u || last > end) continue;
    if (Q[0] == 0.0 && Q[1] == 0.0 && Q[2] == 0.0 && Q[3] == 0.0) return j;
  }
  return -1;
}

static lw_status not_finite(lw_state *s, uint32_t offset) {
  char what[120];
  lw_describe(s, offset, what, sizeof what);
  return lw_fail(s, LW_ERROR_VALUE, "%s is not finite; set it to a number", what);
}

int32_t lw_open_loop(const lw_state *s) {
  const lw_model *m = s->model;
  const lw_double_cut_constants *cut = (const lw_double_cut_constants *)(lw_reals(s) + m->at.cut_constants);
  for (int32_t l = 0; l < m->size.loops; l++)
    if (lw_reals(s)[m->at.loop_residual + l] > LW_OPEN_LOOP_LIMIT * cut[l].length) return l;
  return -1;
}

/* Nothing else need be wrong where a loop is wide open. LW_OK where none is. */
static lw_status report_open_loop(lw_state *s) {
  const lw_model *m = s->model;
  const int32_t l = lw_open_loop(s);
  if (l < 0) return LW_OK;
  return lw_fail(s, LW_ERROR_SINGULAR,
                 "the loop closed by joint '%s' is open by %.3g m: its accelerations mean nothing there; "
                 "assemble the mechanism first",
                 joint_name(s, m->loop[l].joint), lw_reals(s)[m->at.loop_residual + l]);
}

/* A table of a force, a state or a coupling that refuses its argument, one that is a number or any. LW_OK where none does. */
static lw_status report_table(lw_state *s, int any) {
  const lw_model *m = s->model;
  for (int32_t k = 0; k < m->size.lookup_tables; k++) {
    const lw_lookup *t = &m->lookup_table[k];
    if (t->formula >= lw_formulas_of_forces(m) && t->formula < lw_first_of_states(m))
      continue; /* outputs may have no value */
    const double *refused = lw_reals(s) + t->refused, argument = refused[1];
    const int axis = (int)refused[0] - 1;
    if (axis < 0 || !(any || isfinite(argument))) continue;
    const double low = t->knot[axis][0], high = t->knot[axis][t->knots[axis] - 1];
    char where[80] = "";
    if (argument < low) snprintf(where, sizeof where, ", below %.9g where its rows begin", low);
    if (argument > high) snprintf(where, sizeof where, ", above %.9g where its rows end", high);
    return lw_fail(
        s, LW_ERROR_VALUE,
        "table '%.60s' is left at t = %.9g s: its %sargument is %.17g%s; give it more rows, or let it hold or "
        "extend outside",
        m->table_name[k], lw_reals(s)[m->at.time],
        t->arguments == 1 ? ""
        : axis            ? "second "
                          : "first ",
        argument, where);
  }
  return LW_OK;
}

/* A force whose formula has no finite value; -1: none. */
static int32_t force_without_value(const lw_state *s) {
  const lw_model *m = s->model;
  const struct {
    int32_t type, first, columns;
  } of[] = {{LW_FORCE_JOINT_FORMULA, m->at.joint_formula_force, 1},
            {LW_FORCE_LINE_FORMULA, m->at.line_formula_force, 1},
            {LW_FORCE_POINT_FORMULA, m->at.point_formula_force, 3},
            {LW_FORCE_POINT_FORMULA, m->at.point_formula_torque, 3},
            {LW_FORCE_BRAKE, m->at.brake_limit, 1},
            {LW_FORCE_FRAME_FORMULA, m->at.frame_formula_force, 3},
            {LW_FORCE_FRAME_FORMULA, m->at.frame_formula_torque, 3}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    const int32_t first = m->first_force[of[i].type], rows = m->first_force[of[i].type + 1] - first;
    for (int32_t k = 0; k < rows * of[i].columns; k++)
      if (!isfinite(lw_reals(s)[of[i].first + k])) return first + k / of[i].columns;
  }
  return -1;
}

/* A coupling whose formula has no finite value; -1: none. */
static int32_t coupling_without_value(const lw_state *s) {
  const lw_model *m = s->model;
  for (int32_t k = 0; k < m->size.coupling_formulas; k++)
    if (!isfinite(lw_reals(s)[m->at.coupling_residual + m->coupling_formula[k]])) return m->coupling_formula[k];
  return -1;
}

/* Names the input, the state, the table or the formula that is not finite; without one the pose has no unique
 * acceleration. */
lw_status lw_report_not_finite(lw_state *s, int32_t joint) {
  const lw_model *m = s->model;
  const lw_status left = report_table(s, 0);
  if (left) return left;
  for (const lw_field *f = m->field; f < m->field + LW_FIELD_COUNT; f++) {
    if (f->access == LW_INTERNAL || f->access == LW_DERIVATIVE || f->access == LW_OUTPUT) continue;
    for (int32_t k = 0; k < f->rows * f->columns; k++)
      if (!lw_is_valid(f->name, lw_reals(s)[f->first + k])) return not_finite(s, (uint32_t)(f->first + k));
  }
  const int32_t j = lw_zero_quaternion(s, m->at.q);
  if (j >= 0)
    return lw_fail(s, LW_ERROR_VALUE, "the quaternion of joint '%s' has the length zero; give it a direction",
                   joint_name(s, j));
  const lw_status open = report_open_loop(s), table = open ? open : report_table(s, 1);
  if (table) return table;
  const int32_t coupling = coupling_without_value(s), force = force_without_value(s);
  if (coupling >= 0)
    return lw_fail(
        s, LW_ERROR_SINGULAR,
        "coupling '%s' has no finite value at t = %g s: its formula leaves what a root, a logarithm, a power "
        "or a quotient takes; keep its coordinates within that",
        m->coupling_name[coupling], lw_reals(s)[m->at.time]);
  if (force >= 0)
    return lw_fail(
        s, LW_ERROR_SINGULAR,
        "force '%s' has no finite value at t = %g s: its formula leaves what a root, a logarithm, a power or "
        "a quotient takes; bound its arguments by min, max or if",
        m->force_name[force], lw_reals(s)[m->at.time]);
  return lw_fail(s, LW_ERROR_SINGULAR,
                 "the acceleration of joint '%s' is not finite: in this pose or at these speeds the "
                 "mechanism has no unique acceleration; start from another pose or check masses and inertias",
                 joint_name(s, joint));
}

typedef struct message_text {
  char text[120];
} message_text;

/* Whether a coupling is marked, and the first one of its name: the locks of a joint share theirs. */
static int is_first_marked(const lw_state *s, int32_t i) {
  const lw_model *m = s->model;
  const double *conflict = lw_reals(s) + m->at.coupling_conflict;
  if (conflict[i] == 0.0) return 0;
  for (int32_t k = 0; k < i; k++)
    if (conflict[k] != 0.0 && strcmp(m->coupling_name[k], m->coupling_name[i]) == 0) return 0;
  return 1;
}

/* How many are marked: couplings of coordinates, or distances. */
static int32_t count_marked(const lw_state *s, int distances) {
  const lw_model *m = s->model;
  int32_t count = 0;
  for (int32_t i = 0; i < m->couplings; i++)
    count += is_first_marked(s, i) && (m->coupling[i].distance >= 0) == distances;
  return count;
}

/* "coupling 'a'", or "couplings 'a', 'b' and 'c'": those that are marked, as many as fit; likewise distances,
 * and where they are marked with couplings "constraints". */
static message_text marked_couplings(const lw_state *s) {
  const lw_model *m = s->model;
  message_text w;
  const int32_t couplings = count_marked(s, 0), distances = count_marked(s, 1), count = couplings + distances;
  int32_t named = 0;
  const char *kind = distances == 0 ? "coupling" : couplings == 0 ? "distance" : "constraint";
  size_t used = (size_t)snprintf(w.text, sizeof w.text, "%s%s", kind, count > 1 ? "s" : "");
  for (int32_t i = 0; i < m->couplings; i++) {
    if (!is_first_marked(s, i)) continue;
    const char *before = named == 0 ? "" : named == count - 1 ? " and" : ",";
    if (used + strlen(m->coupling_name[i]) + 24 > sizeof w.text) {
      snprintf(w.text + used, sizeof w.text - used, " and %d more", count - named);
      break;
    }
    used += (size_t)snprintf(w.text + used, sizeof w.text - used, "%s '%s'", before, m->coupling_name[i]);
    named++;
  }
  return w;
}

static lw_status report_coupling(lw_state *s, int32_t i, double residual) {
  const lw_model *m = s->model;
  if (m->coupling[i].distance >= 0)
    return lw_fail(s, LW_ERROR_ASSEMBLY,
                   "distance '%s' cannot be kept: in the nearest pose found its points are %.3g m too %s; check its "
                   "length and its points, or give start values nearer to a pose that has it",
                   m->coupling_name[i], fabs(residual), residual < 0.0 ? "close" : "far apart");
  const double t = lw_reals(s)[m->at.time];
  if (lw_prescribes_motion(s, i))
    return lw_fail(s, LW_ERROR_ASSEMBLY,
                   "the motion that '%s' prescribes is out of reach at t = %.6g s: the nearest pose found has the "
                   "residual %.3g; check its numbers, or give start values nearer to a pose that has it",
                   m->coupling_name[i], t, fabs(residual));
  return lw_fail(s, LW_ERROR_ASSEMBLY,
                 "coupling '%s' cannot be satisfied: the nearest pose found has the residual %.3g; check its "
                 "coefficients and its offset, or give start values nearer to a pose that satisfies it",
                 m->coupling_name[i], fabs(residual));
}

/* Name of the closure of a cluster's first loop: "joint 'C'"; without one "distance 'rod'" or "coupling 'gear'". */
static message_text cluster_name(const lw_state *s, int32_t cluster) {
  const lw_model *m = s->model;
  const lw_cluster *c = &m->cluster[cluster];
  message_text w;
  if (c->loops) snprintf(w.text, sizeof w.text, "joint '%.100s'", joint_name(s, m->loop[m->member[c->member]].joint));
  else {
    const int32_t i = m->member_coupling[c->member_coupling + c->couplings - 1];
    const char *kind = m->coupling[i].distance < 0 ? "coupling" : "distance";
    snprintf(w.text, sizeof w.text, "%s '%.100s'", kind, m->coupling_name[i]);
  }
  return w;
}

static lw_status report_repeated(lw_state *s) {
  const int32_t distances = count_marked(s, 1);
  return lw_fail(s, LW_ERROR_ASSEMBLY,
                 "%s repeat or contradict each other: what one asks of its joints follows from the others; leave one "
                 "out, or compare their %s",
                 marked_couplings(s).text, distances == 0 ? "coefficients" : "points and lengths");
}

/* Faults that one sentence names, with the thing at fault in it. */
typedef enum subject { OF_NOTHING, OF_BODY, OF_JOINT, OF_COUPLING, OF_CLUSTER, OF_FORCE, OF_MARKED } subject;

static const struct {
  lw_status status;
  subject of;
  const char *text;
} plain_faults[] = {
    [LW_FAULT_MASS] = {LW_ERROR_PARAMETER, OF_BODY, "the mass of body %s is negative; give it a mass of zero or more"},
    [LW_FAULT_MASSLESS] =
        {LW_ERROR_PARAMETER, OF_BODY,
         "body %s has no mass, and divide and conquer takes the inverse of the mass of each body; give "
         "it a mass, or compile the mechanism with another method"},
    [LW_FAULT_NO_INERTIA] =
        {LW_ERROR_SINGULAR, OF_JOINT,
         "joint %s moves no inertia in this pose, so that it has no unique acceleration: the bodies that "
         "it moves by itself have no mass, or their mass lies on its axis; give them a mass or an inertia, "
         "lock the joint, or start from another pose"},
    [LW_FAULT_INERTIA] = {LW_ERROR_PARAMETER, OF_BODY,
                          "the inertia of body %s belongs to no rigid body: a principal moment is negative or "
                          "exceeds the sum of the other two; check its elements"},
    [LW_FAULT_NO_INERTIA_IN_TREE] =
        {LW_ERROR_SINGULAR, OF_JOINT,
         "joint %s moves no inertia in this pose while the loops are open, as multipliers take them: the bodies that "
         "it "
         "moves by itself have no mass, or their mass lies on its axis; take method 'rcr' or 'embedding', give them a "
         "mass or an inertia, or start from another pose"},
    [LW_FAULT_LOADED_SPIN] =
        {LW_ERROR_SINGULAR, OF_BODY,
         "body %s has no inertia about the line through its joints about which it turns freely, and a load acts about "
         "that line, so that it has no acceleration there: take the load away (an input, spring, damper, friction or "
         "torque about the line), or give the body an inertia about it"},
    [LW_FAULT_ORIENTATION] = {LW_ERROR_PARAMETER, OF_JOINT,
                              "a frame of joint %s has a zero quaternion; give it a direction"},
    [LW_FAULT_REFLECTED_INERTIA] = {LW_ERROR_PARAMETER, OF_JOINT,
                                    "the reflected inertia of joint %s is below zero; give 0 for none"},
    [LW_FAULT_MAX_LOAD] = {LW_ERROR_PARAMETER, OF_JOINT,
                           "the largest load of joint %s is below zero; give it a limit from zero on"},
    [LW_FAULT_ROTOR_OF_CUT_JOINT] = {LW_ERROR_PARAMETER, OF_JOINT,
                                     "joint %s closes a loop and had no reflected inertia when the model was compiled "
                                     "with multipliers; give it one in the description, or use another method"},
    [LW_FAULT_LENGTH] =
        {LW_ERROR_PARAMETER, OF_COUPLING,
         "the length of distance %s is not positive; give it a length above zero, or join the bodies by "
         "a spherical joint where the points are to coincide"},
    [LW_FAULT_AT_REST] =
        {LW_ERROR_SINGULAR, OF_CLUSTER,
         "the loop closed by %s is in a singular pose, where its motion branches, and at rest nothing "
         "selects a branch; start slightly off this pose (1e-4 rad are enough), or with speeds along "
         "the motion meant (where the loop closes in this pose alone, it cannot move: change a length)"},
    [LW_FAULT_NO_BRANCH] =
        {LW_ERROR_SINGULAR, OF_CLUSTER,
         "the loop closed by %s is in a singular pose, where its motion branches, and its speeds are "
         "along none of the branches; start slightly off this pose (1e-4 rad are enough), or with speeds of "
         "all its joints along the motion meant"},
    [LW_FAULT_COUPLINGS_IMMOBILE] =
        {LW_ERROR_ASSEMBLY, OF_MARKED,
         "no joint of %s can move: together with the loops the ratios leave no degree of freedom; compare the ratios, "
         "leave one coupling out, or prescribe a motion instead"},
    [LW_FAULT_NO_SENSITIVITY] =
        {LW_ERROR_SINGULAR, OF_CLUSTER,
         "the states have no derivative along this seed: the loop closed by %s cannot stay closed as "
         "start values, parameters and inputs change with it, or is in a singular pose; seed the other "
         "changes as well, or start slightly off this pose"},
    [LW_FAULT_NOT_ASSEMBLED] =
        {LW_ERROR_USAGE, OF_NOTHING,
         "the states are not those that assembly finds from the present start values, parameters and "
         "inputs; assemble the mechanism first"},
    [LW_FAULT_NO_LOADS] = {LW_ERROR_SINGULAR, OF_CLUSTER,
                           "the loop closed by %s is in a singular pose, where its motion branches, and its loads are "
                           "not determined; keep the motion away from this pose (1e-4 rad are enough)"},
    [LW_FAULT_MORE_DOF] = {LW_ERROR_USAGE, OF_NOTHING,
                           "the mechanism has more degrees of freedom than the capacity of its load equations"},
    [LW_FAULT_JAMS] =
        {LW_ERROR_SINGULAR, OF_FORCE,
         "friction %s jams: its load raises the force that presses its joint by more than the friction that follows, "
         "so that no acceleration or motor load satisfies its law here; lower mu or the radius, change the pose or the "
         "direction of "
         "motion, or take the load from an input or formula by Brake"},
    [LW_FAULT_JAMS_OR_SLIDES] =
        {LW_ERROR_SINGULAR, OF_FORCE,
         "friction %s may jam or slide: its load raises the force that presses its joint so much that two "
         "accelerations satisfy its law here (Painleve's paradox); lower mu or the radius, change the pose or the "
         "direction of motion, or take the load from an input or formula by Brake"},
};

static message_text subject_name(const lw_state *s, lw_fault fault) {
  const char *name = "";
  message_text w;
  switch (plain_faults[fault.kind].of) {
    case OF_CLUSTER: return cluster_name(s, fault.index);
    case OF_MARKED: return marked_couplings(s);
    case OF_BODY: name = s->model->body_name[fault.index]; break;
    case OF_FORCE: name = s->model->force_name[fault.index]; break;
    case OF_JOINT: name = joint_name(s, fault.index); break;
    case OF_COUPLING: name = s->model->coupling_name[fault.index]; break;
    case OF_NOTHING: break;
  }
  snprintf(w.text, sizeof w.text, "'%.100s'", name);
  return w;
}

static lw_status report_plain(lw_state *s, lw_fault fault) {
  return lw_fail(s, plain_faults[fault.kind].status, plain_faults[fault.kind].text, subject_name(s, fault).text);
}

static int is_of_pin(const lw_state *s, int32_t joint) {
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (s->base->transition[i].action == LW_PIN && s->base->transition[i].joint == joint) return 1;
  return 0;
}

/* A cluster by a joint that no pin has made: the one that closes a loop, else one of its tree. */
static message_text held_name(const lw_state *s, int32_t cluster) {
  const lw_model *m = s->model;
  const lw_cluster *c = &m->cluster[cluster];
  int32_t named = -1;
  for (int32_t k = 0; named < 0 && k < c->loops; k++)
    if (!is_of_pin(s, m->loop[m->member[c->member + k]].joint)) named = m->loop[m->member[c->member + k]].joint;
  for (int32_t j = 0; named < 0 && c->loops && j < m->size.joints; j++)
    if (m->joint[j].link >= c->first && m->joint[j].link < c->first + c->count && !is_of_pin(s, j)) named = j;
  if (named < 0) return cluster_name(s, cluster);
  message_text w;
  snprintf(w.text, sizeof w.text, "joint '%.100s'", joint_name(s, named));
  return w;
}

/* In a singular pose because something holds it there: to first order it does not. */
static lw_status report_singular(lw_state *s, lw_fault fault) {
  lw_name_list holding = {"", 0, 0};
  for (int32_t i = 0; i < s->base->size.transitions; i++)
    if (lw_reals(s)[s->base->at.transition_active + i] != 0.0 && lw_constrained_cluster(s, i) == fault.index)
      lw_name_transition(s, i, &holding);
  if (!holding.used) return report_plain(s, fault);
  return lw_fail(s, LW_ERROR_SINGULAR,
                 "%s holds the mechanism of %s at a dead point at t = %.9g s: there it %s; lock another joint as well, "
                 "or in its place",
                 holding.text, held_name(s, fault.index).text, lw_reals(s)[s->model->at.time],
                 fault.kind == LW_FAULT_AT_REST ? "does not resist the loads, which set the other joints in motion"
                                                : "leaves the other joints free to first order");
}

static lw_status report_element_rate(lw_state *s, int32_t state) {
  const lw_model *m = s->model;
  const lw_status table = report_table(s, 1);
  if (table) return table;
  if (!isfinite(lw_reals(s)[m->at.element_state + state]))
    return not_finite(s, (uint32_t)(m->at.element_state + state));
  return lw_fail(s, LW_ERROR_SINGULAR,
                 "the derivative of state '%s' has no finite value at t = %g s: its formula leaves what a root, a "
                 "logarithm, a power or a quotient takes; bound its arguments by min, max or if",
                 m->state_name[state], lw_reals(s)[m->at.time]);
}

lw_status lw_report(lw_state *s, lw_fault fault) {
  const lw_model *m = s->model;
  switch (fault.kind) {
    case LW_FAULT_NONE: return LW_OK;
    case LW_FAULT_NOT_FINITE: return lw_report_not_finite(s, fault.index);
    case LW_FAULT_DOF_CAPACITY: {
      const lw_cluster *c = &m->cluster[fault.index];
      const lw_status open = report_open_loop(s);
      if (open) return open;
      return lw_fail(s, LW_ERROR_SINGULAR,
                     "in this pose the loops closed by %s and %d more leave the mechanism far more degrees of freedom "
                     "than regular poses do, as where their motion branches; start slightly off this pose, or with the "
                     "speeds of all joints along the motion meant",
                     cluster_name(s, fault.index).text, (c->loops ? c->loops : c->couplings) - 1);
    }
    case LW_FAULT_OPEN_LOOP:
      return lw_fail(
          s, LW_ERROR_ASSEMBLY,
          "the loop closed by joint '%s' cannot be closed: the nearest pose found leaves a gap of "
          "%.3g m; check the lengths and frames along the loop, or give start values nearer to a closed pose",
          joint_name(s, m->loop[fault.index].joint), fault.value);
    case LW_FAULT_COUPLED_LOOP:
      return lw_fail(
          s, LW_ERROR_ASSEMBLY,
          "the loop closed by joint '%s' cannot be closed as %s would have it at t = %.6g s: the nearest pose "
          "found leaves a gap of %.3g m; check lengths, frames and coefficients, or give start values "
          "nearer to a closed pose",
          joint_name(s, m->loop[fault.index].joint), marked_couplings(s).text, lw_reals(s)[m->at.time], fault.value);
    case LW_FAULT_COUPLING: return report_coupling(s, fault.index, fault.value);
    case LW_FAULT_COUPLINGS_REDUNDANT: return report_repeated(s);
    case LW_FAULT_COUPLING_OF_LOOPS:
      return lw_fail(
          s, LW_ERROR_ASSEMBLY,
          "%s asks what %s decide already; leave it out, or start from another pose if it is so only in this "
          "one",
          marked_couplings(s).text,
          count_marked(s, 1) ? "the joints between its bodies" : "the loops through its joints");
    case LW_FAULT_AT_REST:
    case LW_FAULT_NO_BRANCH: return report_singular(s, fault);
    case LW_FAULT_MASS:
    case LW_FAULT_MASSLESS:
    case LW_FAULT_NO_INERTIA:
    case LW_FAULT_NO_INERTIA_IN_TREE:
    case LW_FAULT_LOADED_SPIN:
    case LW_FAULT_INERTIA:
    case LW_FAULT_ORIENTATION:
    case LW_FAULT_LENGTH:
    case LW_FAULT_REFLECTED_INERTIA:
    case LW_FAULT_MAX_LOAD:
    case LW_FAULT_ROTOR_OF_CUT_JOINT:
    case LW_FAULT_COUPLINGS_IMMOBILE:
    case LW_FAULT_NO_SENSITIVITY:
    case LW_FAULT_NOT_ASSEMBLED:
    case LW_FAULT_NO_LOADS:
    case LW_FAULT_MORE_DOF:
    case LW_FAULT_JAMS:
    case LW_FAULT_JAMS_OR_SLIDES: return report_plain(s, fault);
    case LW_FAULT_ELEMENT_RATE: return report_element_rate(s, fault.index);
  }
  return lw_fail(s, LW_ERROR_USAGE, "an unknown fault");
}
