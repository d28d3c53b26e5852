/* Replaces the mechanics behind linkwork.h in tests of the FMU wrapper: one mass on a spring, with rare features. It
 * has an event (q passes zero), a wall at |q| = limit beyond which there is no derivative, and start values that
 * cannot be assembled (|q_start| > 1000). Run and integrator are the real ones: they look where numbers are in a model.
 *   qdot = u,  udot = -stiffness q + tau,  energy = (u^2 + stiffness q^2) / 2 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

enum { STIFFNESS, LIMIT, Q_START, U_START, TIME, TAU, Q, U, QDOT, UDOT, ENERGY, STEPS, REALS };

static const lw_field fields[] = {
    {"stiffness", "[N/m]", STIFFNESS, 1, 1, LW_PARAMETER, LW_STAGE_NONE, 1},
    {"limit", "[m]", LIMIT, 1, 1, LW_PARAMETER, LW_STAGE_NONE, 0},
    {"q_start", "[m]", Q_START, 1, 1, LW_START, LW_STAGE_NONE, 0},
    {"u_start", "[m/s]", U_START, 1, 1, LW_START, LW_STAGE_NONE, 0},
    {"time", "[s]", TIME, 1, 1, LW_INPUT, LW_STAGE_NONE, 0},
    {"tau", "[N]", TAU, 1, 1, LW_INPUT, LW_STAGE_NONE, 0},
    {"q", "[m]", Q, 1, 1, LW_STATE, LW_STAGE_NONE, 0},
    {"u", "[m/s]", U, 1, 1, LW_STATE, LW_STAGE_NONE, 0},
    {"qdot", "[m/s]", QDOT, 1, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, 0},
    {"udot", "[m/s2]", UDOT, 1, 1, LW_DERIVATIVE, LW_STAGE_DERIVATIVES, 0},
    {"energy", "[J]", ENERGY, 1, 1, LW_OUTPUT, LW_STAGE_OUTPUTS, 0},
    {"steps", "accepted so far", STEPS, 1, 1, LW_OUTPUT, LW_STAGE_NONE, 0},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static const double defaults[REALS] = {[STIFFNESS] = 1, [LIMIT] = 100, [Q_START] = 1};

struct lw_state {
  char message[128];
  double x[REALS];
};

static lw_status fail(lw_state *s, lw_status status, const char *message) {
  snprintf(s->message, sizeof s->message, "%s", message);
  return status;
}

lw_status lw_model_load(const void *bytes, size_t size, lw_model **model, char *message, size_t message_size) {
  *model = NULL;
  if (size != 5 || memcmp(bytes, "FAKE1", 5) != 0) {
    snprintf(message, message_size, "this is no fake model");
    return LW_ERROR_FORMAT;
  }
  *model = calloc(1, sizeof **model);
  if (!*model) return LW_ERROR_MEMORY;
  (*model)->size = lw_model_sizes(*model);
  (*model)->at.time = TIME;
  (*model)->at.q = Q;
  return LW_OK;
}

void lw_model_free(lw_model *model) { free(model); }

lw_sizes lw_model_sizes(const lw_model *model) {
  (void)model;
  return (lw_sizes){.bodies = 1, .joints = 1, .nq = 1, .nu = 1, .states = 2, .event_indicators = 1, .reals = REALS};
}

int32_t lw_field_count(void) { return N_FIELDS; }

lw_status lw_model_field(const lw_model *model, int32_t index, lw_field *field) {
  (void)model;
  if (index < 0 || index >= N_FIELDS) return LW_ERROR_USAGE;
  *field = fields[index];
  return LW_OK;
}

lw_status lw_state_create(const lw_model *model, lw_state **state) {
  (void)model;
  *state = calloc(1, sizeof **state);
  if (!*state) return LW_ERROR_MEMORY;
  return lw_state_reset(*state);
}

void lw_state_free(lw_state *state) { free(state); }

lw_status lw_state_reset(lw_state *s) {
  memcpy(s->x, defaults, sizeof s->x);
  return LW_OK;
}

const char *lw_state_message(const lw_state *s) { return s->message; }
double *lw_state_reals(lw_state *s) { return s->x; }
void lw_state_changed(lw_state *s, lw_stage valid) { (void)s, (void)valid; }
void lw_motion_changed(lw_state *s) { (void)s; }
void lw_describe(const lw_state *state, uint32_t offset, char *text, size_t size) {
  (void)state;
  snprintf(text, size, "number %u", offset);
}

lw_access lw_access_of(const lw_state *s, uint32_t offset) {
  (void)s;
  return offset < N_FIELDS ? fields[offset].access : LW_INTERNAL;
}

lw_status lw_evaluate(lw_state *s, lw_stage stage) {
  double *x = s->x;
  if (stage < LW_STAGE_ACCELERATIONS) return LW_OK;
  if (fabs(x[Q]) > x[LIMIT]) return fail(s, LW_ERROR_SINGULAR, "the mass is behind the wall");
  x[QDOT] = x[U];
  x[UDOT] = -x[STIFFNESS] * x[Q] + x[TAU];
  x[ENERGY] = 0.5 * (x[U] * x[U] + x[STIFFNESS] * x[Q] * x[Q]);
  return LW_OK;
}

lw_status lw_evaluate_rates(lw_state *s) { return lw_evaluate(s, LW_STAGE_DERIVATIVES); }

lw_status lw_use_rates_library(lw_state *s, const struct lw_rates_library *library) {
  (void)library;
  return fail(s, LW_ERROR_FORMAT, "the mass has no tapes");
}

lw_status lw_set_reals(lw_state *s, const uint32_t *offsets, size_t n, const double *values) {
  for (size_t i = 0; i < n; i++) s->x[offsets[i]] = values[i];
  return LW_OK;
}

lw_status lw_get_reals(lw_state *s, const uint32_t *offsets, size_t n, double *values) {
  for (size_t i = 0; i < n; i++) {
    if (lw_access_of(s, offsets[i]) == LW_INTERNAL) return fail(s, LW_ERROR_USAGE, "there is no such variable");
    const lw_status status = lw_evaluate(s, fields[offsets[i]].stage);
    if (status) return status;
    values[i] = s->x[offsets[i]];
  }
  return LW_OK;
}

size_t lw_state_size(const lw_state *s) { return sizeof s->x; }
void lw_state_save(const lw_state *s, void *bytes) { memcpy(bytes, s->x, sizeof s->x); }
lw_status lw_state_restore(lw_state *s, const void *bytes, size_t size) {
  if (size != sizeof s->x) return fail(s, LW_ERROR_USAGE, "the snapshot has the wrong size");
  memcpy(s->x, bytes, size);
  return LW_OK;
}

lw_status lw_assemble(lw_state *s, double tolerance) {
  (void)tolerance;
  if (fabs(s->x[Q_START]) > 1000) return fail(s, LW_ERROR_ASSEMBLY, "the start is out of reach");
  s->x[Q] = s->x[Q_START];
  s->x[U] = s->x[U_START];
  return LW_OK;
}

lw_status lw_directional_derivative(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                    size_t n_knowns, const double *seed, double *sensitivity) {
  double d[REALS] = {0};
  for (size_t i = 0; i < n_knowns; i++)
    if (knowns[i] >= REALS) return fail(s, LW_ERROR_USAGE, "there is no such variable");
  for (size_t i = 0; i < n_unknowns; i++)
    if (unknowns[i] >= REALS) return fail(s, LW_ERROR_USAGE, "there is no such variable");
  for (size_t i = 0; i < n_knowns; i++) d[knowns[i]] += seed[i];
  d[QDOT] = d[U];
  d[UDOT] = -s->x[STIFFNESS] * d[Q] - d[STIFFNESS] * s->x[Q] + d[TAU];
  d[ENERGY] = s->x[U] * d[U] + s->x[STIFFNESS] * s->x[Q] * d[Q] + 0.5 * d[STIFFNESS] * s->x[Q] * s->x[Q];
  for (size_t i = 0; i < n_unknowns; i++) sensitivity[i] = d[unknowns[i]];
  return LW_OK;
}

void lw_set_states(lw_state *s, double t, const double *y) {
  s->x[TIME] = t;
  memcpy(s->x + Q, y, 2 * sizeof *y);
}

int lw_ode_mechanism(void *state, double t, const double *y, double *ydot) {
  lw_state *s = state;
  lw_set_states(s, t, y);
  if (lw_evaluate(s, LW_STAGE_DERIVATIVES)) return 1;
  memcpy(ydot, s->x + QDOT, 2 * sizeof *ydot);
  return 0;
}

int lw_ode_mechanism_jacobian(void *state, double t, const double *y, double *matrix, double *by_time) {
  double rates[2];
  const lw_state *s = state;
  if (lw_ode_mechanism(state, t, y, rates)) return 1;
  const double values[] = {0, 1, -s->x[STIFFNESS], 0};
  memcpy(matrix, values, sizeof values);
  by_time[0] = by_time[1] = 0;
  return 0;
}

lw_status lw_event_indicators(lw_state *s, double *indicators) {
  indicators[0] = s->x[Q];
  return LW_OK;
}

/* Its events change nothing. */
static lw_status nothing_is_due(int32_t *changed) {
  *changed = 0;
  return LW_OK;
}
lw_status lw_start_events(lw_state *s, int32_t *changed) { return (void)s, nothing_is_due(changed); }
lw_status lw_handle_events(lw_state *s, int32_t *changed) { return (void)s, nothing_is_due(changed); }

lw_status lw_check_watched(lw_state *s) {
  (void)s;
  return LW_OK;
}

lw_status lw_next_event_time(lw_state *s, double *time) {
  (void)s;
  *time = INFINITY;
  return LW_OK;
}

/* It has no formulas. */
lw_status lw_hold_kinks(lw_state *s) { return (void)s, LW_OK; }
void lw_release_kinks(lw_state *s) { (void)s; }
int32_t lw_has_passed_kinks(lw_state *s) { return (void)s, 0; }
const char *lw_owner_of_kink(const lw_model *m, int32_t kink) { return (void)m, (void)kink, ""; }

int lw_ode_mechanism_events(void *state, double t, const double *y, double *indicators) {
  (void)state, (void)t;
  indicators[0] = y[0];
  return 0;
}

/* Nothing turns. */
int lw_ode_mechanism_angular_speed(void *state, double t, const double *y, double *speeds) {
  (void)state, (void)t, (void)y;
  speeds[0] = speeds[1] = 0;
  return 0;
}

/* The event is where q is zero. */
int lw_ode_mechanism_bounds(void *state, const lw_ode_box *box, double *low, double *high) {
  (void)state;
  low[0] = box->y_low[0], high[0] = box->y_high[0];
  return 0;
}

void lw_recent_transitions(lw_state *s, char *text, size_t size) {
  (void)s;
  if (size) *text = '\0';
}
void lw_step_accepted(lw_state *s) { s->x[STEPS] += 1; }
int lw_ode_mechanism_step(void *state, double t, const double *y, double *step_values) {
  (void)step_values;
  lw_set_states(state, t, y);
  lw_step_accepted(state);
  return 0;
}
void lw_watch_constraints(lw_state *s, double rtol, double atol) { (void)s, (void)rtol, (void)atol; }
lw_status lw_check_constraints(lw_state *s) {
  (void)s;
  return LW_OK;
}

/* The start values are the states. */
int32_t lw_changed_starts(lw_state *s, lw_changed_start *changed, int32_t capacity) {
  (void)s, (void)changed, (void)capacity;
  return 0;
}

lw_status lw_assembly_sensitivity(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity) {
  return lw_directional_derivative(s, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}

/* It has no constraints and no DAE mode. */
int32_t lw_constraint_rows(const lw_model *m) { return (void)m, 0; }
lw_status lw_dae_select_rows(lw_state *s, double *work, double *relaxation) {
  return (void)s, (void)work, (void)relaxation, LW_ERROR_USAGE;
}
lw_status lw_dae_rates(lw_state *s, const double *relaxation, double *work, double *ydot) {
  return (void)s, (void)relaxation, (void)work, (void)ydot, LW_ERROR_USAGE;
}
lw_status lw_dae_residual(lw_state *s, double t, const double *y, const double *ydot, const double *relaxation,
                          double *residual) {
  return (void)s, (void)t, (void)y, (void)ydot, (void)relaxation, (void)residual, LW_ERROR_USAGE;
}
lw_status lw_dae_directional_derivative(lw_state *s, double t, const double *y, const double *ydot,
                                        const double *relaxation, const double *y_seed, const double *ydot_seed,
                                        const uint32_t *knowns, size_t n_knowns, const double *seed,
                                        double *sensitivity) {
  (void)s, (void)t, (void)y, (void)ydot, (void)relaxation, (void)y_seed, (void)ydot_seed;
  return (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity, LW_ERROR_USAGE;
}

/* It has no minimal states. */
lw_status lw_minimal_create(lw_state *s, const uint32_t *q, int32_t n_q, const uint32_t *u, int32_t n_u,
                            lw_minimal **minimal) {
  (void)q, (void)n_q, (void)u, (void)n_u;
  *minimal = NULL;
  return fail(s, LW_ERROR_USAGE, "there are no minimal states");
}
lw_motion_sizes lw_nominal_sizes(lw_state *s, double duration) {
  return (void)s, (void)duration, (lw_motion_sizes){1.0, 1.0, 1.0};
}
void lw_sizes_of_states(const lw_model *model, lw_motion_sizes sizes, double *size) {
  (void)model, (void)sizes;
  size[0] = size[1] = 1.0; /* q and u */
}
void lw_absolute_tolerances(lw_state *s, double duration, double tolerance, double *atol) {
  (void)duration;
  (void)s;
  for (int32_t i = 0; i < 2; i++) atol[i] = tolerance; /* q and u */
}
void lw_minimal_free(lw_minimal *minimal) { (void)minimal; }
void lw_minimal_get(const lw_minimal *minimal, double *x) { (void)minimal, (void)x; }
void lw_minimal_keep_start(lw_minimal *minimal) { (void)minimal; }
lw_status lw_minimal_set(lw_minimal *minimal, const double *x) { return (void)minimal, (void)x, LW_ERROR_USAGE; }
lw_status lw_minimal_watch(lw_minimal *minimal) { return (void)minimal, LW_ERROR_USAGE; }
lw_status lw_minimal_check_step(lw_minimal *minimal) { return (void)minimal, LW_ERROR_USAGE; }
lw_status lw_minimal_derivatives(lw_minimal *minimal, double *xdot) {
  return (void)minimal, (void)xdot, LW_ERROR_USAGE;
}
lw_status lw_minimal_directional_derivative(lw_minimal *minimal, const uint32_t *unknowns, size_t n_unknowns,
                                            const uint32_t *knowns, size_t n_knowns, const double *seed,
                                            double *sensitivity) {
  (void)minimal, (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity;
  return LW_ERROR_USAGE;
}

/* Of runs with laws, transitions and prescribed motions. */
const lw_joint_size lw_joint_sizes[LW_JOINT_TYPES];
void *lw_memory_of(const lw_state *s, int32_t transition) { return (void)s, (void)transition, NULL; }
lw_status lw_discrete_state_changed(lw_state *s) { return (void)s, LW_OK; }
int32_t lw_prescribes_motion(const lw_state *s, int32_t coupling) { return (void)s, (void)coupling, 0; }
const lw_joint *lw_joint_with(const lw_model *m, int of_q, int32_t index) {
  return (void)m, (void)of_q, (void)index, NULL;
}
lw_status lw_constraint_jacobian(lw_state *s, double *matrix) { return (void)s, (void)matrix, LW_ERROR_USAGE; }
#define NO_LAW(name)                                                \
  int name(void *control, double t, const double *y, double *out) { \
    return (void)control, (void)t, (void)y, (void)out, -1;          \
  }
NO_LAW(lw_ode_controlled)
NO_LAW(lw_ode_controlled_events)
NO_LAW(lw_ode_controlled_step)
NO_LAW(lw_ode_controlled_check)
NO_LAW(lw_ode_controlled_angular_speed)
NO_LAW(lw_ode_mechanism_check)
int lw_ode_controlled_bounds(void *control, const lw_ode_box *box, double *low, double *high) {
  return (void)control, (void)box, (void)low, (void)high, -1;
}
int lw_ode_controlled_jacobian(void *control, double t, const double *y, double *matrix, double *by_time) {
  return (void)control, (void)t, (void)y, (void)matrix, (void)by_time, -1;
}
