/* Calls every function of linkwork.h on each model file, with valid and invalid arguments. Run it with the sanitizers
 * and valgrind: Python tests check the numbers, this driver checks memory and error returns. */
#include "expect.h"
#include "linkwork.h"
#include "model_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
  const lw_model *model;
  lw_state *state;
  lw_sizes size;
} bench;

/* Allocations so far, where the linker counts them. */
static long allocations;
#ifdef ALLOCATIONS_ARE_COUNTED
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size) { return allocations++, __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return allocations++, __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return allocations++, __real_realloc(p, size); }
#endif

static double *reals(size_t n) {
  double *p = calloc(n + 1, sizeof *p);
  if (!p) exit(2);
  return p;
}

static int same(const double *a, const double *b, size_t n) { return memcmp(a, b, n * sizeof *a) == 0; }

static lw_field field_named(const lw_model *model, const char *name) {
  lw_field field = {0};
  for (int32_t i = 0; i < lw_field_count(); i++)
    if (lw_model_field(model, i, &field) == LW_OK && strcmp(field.name, name) == 0) return field;
  fprintf(stderr, "no field %s\n", name);
  exit(2);
}

/* ---- loading --------------------------------------------------------------------------------------- */

/* An allocation of exactly this size, so that reading past the end is detected. */
static void expect_refused(const unsigned char *bytes, size_t size) {
  unsigned char *copy = malloc(size ? size : 1);
  char message[160] = "";
  lw_model *model = NULL;
  if (!copy) exit(2);
  memcpy(copy, bytes, size);
  EXPECT(lw_model_load(copy, size, &model, message, sizeof message) == LW_ERROR_FORMAT);
  EXPECT(!model && message[0]);
  EXPECT(lw_model_load(copy, size, &model, NULL, 0) == LW_ERROR_FORMAT);
  free(copy);
}

static void load_corrupted(unsigned char *bytes, size_t size) {
  lw_model *model = NULL;
  char message[160];
  EXPECT(lw_model_load(NULL, 0, &model, message, sizeof message) == LW_ERROR_FORMAT);
  const size_t step = size / 100 + 1;
  for (size_t n = 0; n < size; n += n < 64 ? 1 : step) expect_refused(bytes, n);
  for (size_t at = 0; at < size; at += at < 64 ? 1 : step) {
    bytes[at] ^= 0x10;
    expect_refused(bytes, size);
    bytes[at] ^= 0x10;
  }
}

/* The description fits any buffer, and unknown offsets have one too. */
static void expect_description(const bench *b, uint32_t offset) {
  char text[100] = "", little[4] = "xyz";
  lw_describe(b->state, offset, text, sizeof text);
  EXPECT(text[0]);
  lw_describe(b->state, offset, little, sizeof little);
  EXPECT(!little[3] && strncmp(text, little, 3) == 0);
  lw_describe(b->state, offset, NULL, 0);
}

static void describe(const bench *b) {
  lw_field field;
  int32_t next = 0;
  EXPECT(lw_model_field(b->model, -1, &field) == LW_ERROR_USAGE);
  EXPECT(lw_model_field(b->model, lw_field_count(), &field) == LW_ERROR_USAGE);
  for (int32_t i = 0; i < lw_field_count(); i++) {
    EXPECT(lw_model_field(b->model, i, &field) == LW_OK);
    EXPECT(field.name[0] && field.meaning && field.first == next);
    next += field.rows * field.columns;
    for (int32_t k = field.first; k < next; k++) {
      EXPECT(lw_access_of(b->state, (uint32_t)k) == field.access);
      expect_description(b, (uint32_t)k);
    }
  }
  EXPECT(next == b->size.reals);
  EXPECT(lw_access_of(b->state, (uint32_t)b->size.reals) == LW_INTERNAL);
  EXPECT(lw_access_of(b->state, UINT32_MAX) == LW_INTERNAL);
  expect_description(b, UINT32_MAX);
  EXPECT(lw_version()[0]);
}

/* ---- variables ------------------------------------------------------------------------------------- */

static int is_settable(lw_access access) {
  return access == LW_PARAMETER || access == LW_START || access == LW_INPUT || access == LW_STATE;
}

/* Every variable accepts its own value or cannot be set; none accepts a value that is not finite, but for the largest
 * load of a joint, where infinity is no limit. */
static void set_and_get(const bench *b) {
  const lw_field limits = field_named(b->model, "max_load");
  for (uint32_t k = 0; k < (uint32_t)b->size.reals; k++) {
    const lw_access access = lw_access_of(b->state, k);
    double value = 0, again = 0;
    const lw_status status = lw_get_reals(b->state, &k, 1, &value);
    if (access == LW_INTERNAL) continue;
    const int is_limit = k >= (uint32_t)limits.first && k < (uint32_t)(limits.first + limits.rows);
    EXPECT(status == LW_OK && (isfinite(value) || (is_limit && value > 0)));
    if (is_settable(access)) {
      EXPECT(lw_set_reals(b->state, &k, 1, &value) == LW_OK);
      EXPECT(lw_set_reals(b->state, &k, 1, &(double){NAN}) != LW_OK);
      EXPECT(lw_set_reals(b->state, &k, 1, &(double){-INFINITY}) != LW_OK);
      EXPECT(lw_get_reals(b->state, &k, 1, &again) == LW_OK && same(&value, &again, 1));
    } else {
      EXPECT(lw_set_reals(b->state, &k, 1, &value) == LW_ERROR_USAGE);
    }
    EXPECT(lw_state_message(b->state) != NULL);
  }
  const uint32_t outside[] = {(uint32_t)b->size.reals, UINT32_MAX};
  for (size_t i = 0; i < 2; i++) {
    double value = 1;
    EXPECT(lw_set_reals(b->state, &outside[i], 1, &value) == LW_ERROR_USAGE);
    EXPECT(lw_get_reals(b->state, &outside[i], 1, &value) == LW_ERROR_USAGE);
    EXPECT(lw_state_message(b->state)[0]);
  }
  EXPECT(lw_set_reals(b->state, NULL, 0, NULL) == LW_OK);
  EXPECT(lw_get_reals(b->state, NULL, 0, NULL) == LW_OK);
}

/* An invalid number, written past the checks: any status is accepted. */
static void write_invalid_at(const bench *b, int32_t k) {
  const double bad[] = {NAN, INFINITY, 0, -1, 1e300, 1e-300};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double *real = &lw_state_reals(b->state)[k];
    const double kept = *real;
    *real = bad[i];
    lw_state_changed(b->state, LW_STAGE_NONE);
    lw_evaluate(b->state, LW_STAGE_OUTPUTS);
    if (i < 2) lw_assemble(b->state, 1e-10);
    EXPECT(lw_state_reset(b->state) == LW_OK);
    *real = kept;
  }
}

enum { FIRST_OF_FIELD = 4 }; /* with the last one: all numbers of large models would take minutes */

static void write_invalid(const bench *b) {
  lw_field field;
  for (int32_t i = 0; i < lw_field_count(); i++) {
    EXPECT(lw_model_field(b->model, i, &field) == LW_OK);
    const int32_t n = field.rows * field.columns;
    for (int32_t k = 0; k < n; k++)
      if ((k < FIRST_OF_FIELD || k == n - 1) && is_settable(lw_access_of(b->state, (uint32_t)(field.first + k))))
        write_invalid_at(b, field.first + k);
  }
  EXPECT(lw_assemble(b->state, 1e-10) == LW_OK);
  const lw_field q = field_named(b->model, "q");
  if (!b->size.nq) return;
  lw_state_reals(b->state)[q.first] = NAN;
  lw_state_changed(b->state, LW_STAGE_NONE);
  EXPECT(lw_evaluate(b->state, LW_STAGE_OUTPUTS) == LW_ERROR_VALUE);
  EXPECT(lw_state_message(b->state)[0]);
  EXPECT(lw_state_reset(b->state) == LW_OK && lw_assemble(b->state, 1e-10) == LW_OK);
}

static void answer_null(const bench *b) {
  lw_state *state = b->state;
  const int32_t beyond = b->size.transitions;
  double number = 0.0;
  uint32_t offset = 0;
  lw_field field;
  EXPECT(lw_state_create(NULL, &state) == LW_ERROR_USAGE && !state);
  EXPECT(lw_state_create(b->model, NULL) == LW_ERROR_USAGE);
  EXPECT(lw_model_sizes(NULL).reals == 0 && lw_model_field(NULL, 0, &field) == LW_ERROR_USAGE);
  EXPECT(lw_state_message(NULL)[0] && !lw_state_reals(NULL) && !lw_state_size(NULL));
  EXPECT(lw_state_reset(NULL) && lw_evaluate(NULL, LW_STAGE_OUTPUTS) && lw_assemble(NULL, 1e-10));
  EXPECT(lw_set_reals(NULL, &offset, 1, &number) && lw_get_reals(NULL, &offset, 1, &number));
  EXPECT(lw_body_motion(NULL, 0, NULL, NULL, NULL, NULL) && lw_event_indicators(NULL, &number));
  EXPECT(lw_apply_transitions(NULL, &beyond, 1) && lw_next_event_time(NULL, &number));
  EXPECT(lw_apply_transitions(b->state, &beyond, 1) == LW_ERROR_USAGE);
  EXPECT(lw_model_field(b->model, lw_field_count(), &field) == LW_ERROR_USAGE);
  EXPECT(lw_body_motion(b->state, b->size.bodies, NULL, NULL, NULL, NULL) == LW_ERROR_USAGE);
}

static void save_and_restore(const bench *b) {
  const size_t size = lw_state_size(b->state), n = (size_t)b->size.reals;
  unsigned char *bytes = malloc(size), *shorter = malloc(size - 1);
  lw_state *other = NULL;
  if (!bytes || !shorter) exit(2);
  EXPECT(lw_evaluate(b->state, LW_STAGE_OUTPUTS) == LW_OK);
  lw_state_save(b->state, bytes);
  EXPECT(lw_state_create(b->model, &other) == LW_OK);
  EXPECT(lw_state_restore(other, bytes, size) == LW_OK);
  EXPECT(lw_evaluate(other, LW_STAGE_OUTPUTS) == LW_OK); /* which decides again what it decided for itself alone */
  EXPECT(same(lw_state_reals(b->state), lw_state_reals(other), n));
  memcpy(shorter, bytes, size - 1);
  EXPECT(lw_state_restore(other, shorter, size - 1) != LW_OK);
  EXPECT(lw_state_restore(other, bytes, 0) != LW_OK);
  memcpy(shorter, bytes, sizeof(int32_t) + sizeof(uint32_t));
  bytes[sizeof(int32_t)] ^= 1; /* of another model */
  EXPECT(lw_state_restore(other, bytes, size) == LW_ERROR_USAGE && strstr(lw_state_message(other), "another model"));
  memcpy(bytes, shorter, sizeof(int32_t) + sizeof(uint32_t));
  EXPECT(lw_state_restore(other, NULL, size) == LW_ERROR_USAGE);
  EXPECT(lw_state_message(other)[0]);
  EXPECT(same(lw_state_reals(b->state), lw_state_reals(other), n));
  lw_state_free(other);
  free(bytes);
  free(shorter);
}

/* ---- mechanics ------------------------------------------------------------------------------------- */

static void evaluate(const bench *b) {
  const size_t n = (size_t)b->size.nu;
  double *udot = reals(n), *tau = reals(n), *matrix = reals(n * n);
  for (int stage = LW_STAGE_NONE; stage <= LW_STAGE_OUTPUTS; stage++)
    EXPECT(lw_evaluate(b->state, (lw_stage)stage) == LW_OK);
  EXPECT(lw_inverse_dynamics(b->state, udot, tau) == LW_OK);
  EXPECT(lw_mass_matrix(b->state, matrix) == LW_OK);
  for (size_t i = 0; i < n; i++) {
    EXPECT(isfinite(tau[i]) && matrix[i * n + i] > 0);
    for (size_t j = 0; j < i; j++)
      EXPECT(fabs(matrix[i * n + j] - matrix[j * n + i]) <= 1e-12 * fabs(matrix[i * n + i]));
  }
  lw_step_accepted(b->state);
  free(udot);
  free(tau);
  free(matrix);
}

/* After the first evaluation, which may allocate by divide and conquer; also where all coordinates are zero, a singular
 * pose of some. Assembly of a few loops likewise. */
static void allocate_nothing(const bench *b) {
  const lw_field q = field_named(b->model, "q");
  EXPECT(lw_evaluate(b->state, LW_STAGE_OUTPUTS) == LW_OK);
  const long before = allocations;
  lw_state_changed(b->state, LW_STAGE_NONE);
  EXPECT(lw_evaluate(b->state, LW_STAGE_OUTPUTS) == LW_OK);
  memset(lw_state_reals(b->state) + q.first, 0, (size_t)b->size.nq * sizeof(double));
  lw_state_changed(b->state, LW_STAGE_NONE);
  lw_evaluate(b->state, LW_STAGE_OUTPUTS);
  if (6 * b->size.loops + b->size.couplings <= 36) EXPECT(lw_assemble(b->state, 1e-10) == LW_OK);
  EXPECT(allocations == before);
  EXPECT(lw_state_reset(b->state) == LW_OK && lw_assemble(b->state, 1e-10) == LW_OK);
}

/* Every speed is a motor: for the state's own accelerations the loads of its inputs satisfy the equations, and so they
 * do in each row; too small a capacity is refused. */
static void find_load_equations(const bench *b) {
  enum { ROWS = 3 };
  const size_t nq = (size_t)b->size.nq, nu = (size_t)b->size.nu, motors = nu + (size_t)b->size.nu_cut;
  const lw_field tau = field_named(b->model, "tau"), impulse = field_named(b->model, "impulse");
  const lw_field reference = field_named(b->model, "cut_reference"), press = field_named(b->model, "friction_pressing");
  const size_t inputs = (size_t)(impulse.first - tau.first + impulse.rows * impulse.columns);
  const double *x = lw_state_reals(b->state);
  double *motor = reals(motors * motors), *t = reals(ROWS), *q = reals(ROWS * nq), *u = reals(ROWS * nu);
  double *udot = reals(ROWS * nu), *in = reals(ROWS * inputs), *turns = reals(ROWS * (size_t)b->size.nq_cut);
  double *matrix = reals(ROWS * nu * motors), *load = reals(ROWS * nu), *speed = reals(ROWS * motors);
  double *loads = reals(ROWS * motors), *pressing = reals(ROWS * (size_t)press.rows);
  double *violation = reals(ROWS * 3),
         *actuator = reals(ROWS * 2 * (size_t)field_named(b->model, "actuator_length").rows);
  EXPECT(lw_evaluate(b->state, LW_STAGE_ACCELERATIONS) == LW_OK);
  for (size_t k = 0; k < motors; k++) motor[k * motors + k] = 1;
  for (size_t row = 0; row < ROWS; row++) {
    t[row] = x[field_named(b->model, "time").first];
    memcpy(q + row * nq, x + field_named(b->model, "q").first, nq * sizeof *q);
    memcpy(u + row * nu, x + field_named(b->model, "u").first, nu * sizeof *u);
    memcpy(udot + row * nu, x + field_named(b->model, "acceleration").first, nu * sizeof *udot);
    memcpy(in + row * inputs, x + tau.first, inputs * sizeof *in);
    memcpy(pressing + row * (size_t)press.rows, x + press.first, (size_t)press.rows * sizeof *pressing);
    memcpy(turns + row * (size_t)b->size.nq_cut, x + reference.first, (size_t)b->size.nq_cut * sizeof *turns);
  }
  lw_load_equations of = {.rows = ROWS, .motors = (int32_t)motors, .capacity = (int32_t)nu, .motor = motor};
  of.t = t, of.q = q, of.u = u, of.udot = udot;
  if (press.rows) of.loads = loads, of.pressing = pressing; /* those of the state stay */
  of.matrix = matrix, of.load = load, of.speed = speed, of.violation = violation;
  const lw_status status = lw_find_load_equations(b->state, &of);
  EXPECT(status == LW_OK || status == LW_ERROR_SINGULAR);
  EXPECT((status == LW_OK) == (of.done == ROWS));
  if (status == LW_OK) {
    double largest = 0;
    for (size_t k = 0; k < ROWS * nu * motors; k++) largest = fmax(largest, fabs(matrix[k]));
    EXPECT(of.dof <= b->size.nu && (of.dof == 0 || largest > 0));
    for (size_t z = 0; z < (size_t)of.dof; z++) {
      double size = 0;
      for (size_t k = 0; k < nu; k++) size = fmax(size, fabs(udot[k]));
      EXPECT(fabs(load[z]) <= 1e-6 * (1 + size) * (1 + largest)); /* the state's inputs give them */
      EXPECT(load[nu + z] == load[z] || fabs(load[nu + z] - load[z]) <= 1e-9 * (1 + size) * (1 + largest));
    }
    of.inputs = in, of.turns = turns, of.actuator = actuator;
    EXPECT(lw_find_load_equations(b->state, &of) == LW_OK);
    if (of.dof) {
      of.capacity = of.dof - 1;
      EXPECT(lw_find_load_equations(b->state, &of) == LW_ERROR_USAGE && of.done == 0);
      EXPECT(lw_state_message(b->state)[0]);
    }
  }
  of.rows = 0;
  EXPECT(lw_find_load_equations(b->state, &of) == LW_OK && of.dof == 0);
  if (nu) {
    udot[0] = NAN, of.rows = 1, of.capacity = (int32_t)nu;
    const lw_status bad = lw_find_load_equations(b->state, &of);
    EXPECT(bad != LW_OK || !of.dof);
  }
  double *all[] = {motor, t, q, u, udot, in, turns, matrix, load, speed, violation, actuator, loads, pressing};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static void differentiate(const bench *b) {
  const lw_field udot = field_named(b->model, "udot"), u = field_named(b->model, "u"),
                 mass = field_named(b->model, "body_mass");
  const uint32_t unknown = (uint32_t)udot.first, knowns[] = {(uint32_t)mass.first, (uint32_t)u.first};
  const uint32_t outside = UINT32_MAX;
  const double seed[] = {1, 1};
  double slope = NAN;
  EXPECT(lw_directional_derivative(b->state, &outside, 1, knowns, 1, seed, &slope) == LW_ERROR_USAGE);
  EXPECT(lw_directional_derivative(b->state, NULL, 0, NULL, 0, NULL, NULL) == LW_OK);
  if (!b->size.nu) return;
  EXPECT(lw_directional_derivative(b->state, &unknown, 1, &outside, 1, seed, &slope) == LW_ERROR_USAGE);
  EXPECT(lw_directional_derivative(b->state, &unknown, 1, knowns, 2, seed, &slope) == LW_OK && isfinite(slope));
  const uint32_t columns[] = {knowns[1], (uint32_t)field_named(b->model, "tau").first};
  double row[] = {NAN, NAN};
  EXPECT(lw_jacobian(b->state, &unknown, 1, &outside, 1, row) == LW_ERROR_USAGE);
  EXPECT(lw_jacobian(b->state, &outside, 1, columns + 1, 1, row) == LW_ERROR_USAGE);
  EXPECT(lw_jacobian(b->state, &unknown, 1, columns, 2, row) == LW_OK && isfinite(row[0]));
  EXPECT(lw_directional_derivative(b->state, &unknown, 1, columns + 1, 1, seed, &slope) == LW_OK);
  EXPECT(fabs(row[1] - slope) <= 1e-9 * (1 + fabs(slope)));
}

/* The event indicators follow the block; nothing follows them. */
static void differentiate_indicators(const bench *b) {
  const size_t n = (size_t)b->size.event_indicators;
  const uint32_t known = (uint32_t)field_named(b->model, "q").first, behind = (uint32_t)b->size.reals + (uint32_t)n;
  uint32_t *unknowns = malloc((n + 1) * sizeof *unknowns);
  double *slopes = reals(n), slope;
  if (!unknowns) exit(2);
  for (size_t i = 0; i < n; i++) unknowns[i] = (uint32_t)b->size.reals + (uint32_t)i;
  EXPECT(lw_directional_derivative(b->state, unknowns, n, &known, b->size.nq > 0, &(double){1}, slopes) == LW_OK);
  for (size_t i = 0; i < n; i++) EXPECT(isfinite(slopes[i]));
  EXPECT(lw_directional_derivative(b->state, &behind, 1, NULL, 0, NULL, &slope) == LW_ERROR_USAGE);
  free(unknowns);
  free(slopes);
}

/* Just after assembly, along every start value and some parameters; a direction that opens a loop is refused. */
static void differentiate_assembly(const bench *b) {
  const char *knowns[] = {"q_start", "u_start", "gravity", "parent_position", "coupling_offset", "time", "q_priority"};
  const size_t n = (size_t)(b->size.nq + b->size.nu), most = b->size.reals > 40000 ? 1 : 8;
  const lw_field q = field_named(b->model, "q");
  const uint32_t state = (uint32_t)q.first, outside = UINT32_MAX;
  uint32_t *unknowns = malloc((n + 1) * sizeof *unknowns);
  double *slopes = reals(n);
  if (!unknowns) exit(2);
  for (size_t i = 0; i < n; i++) unknowns[i] = state + (uint32_t)i;
  for (size_t k = 0; k < sizeof knowns / sizeof *knowns; k++) {
    const lw_field field = field_named(b->model, knowns[k]);
    for (int32_t i = 0; i < field.rows * field.columns && (size_t)i < most; i++) {
      const uint32_t known = (uint32_t)(field.first + i);
      const lw_status status = lw_assembly_sensitivity(b->state, unknowns, n, &known, 1, &(double){1}, slopes);
      EXPECT(status == LW_OK || (status == LW_ERROR_SINGULAR && lw_state_message(b->state)[0]));
      for (size_t j = 0; status == LW_OK && j < n; j++) EXPECT(isfinite(slopes[j]));
    }
  }
  const double one = 1, none = NAN;
  const uint32_t gravity = (uint32_t)field_named(b->model, "gravity").first;
  EXPECT(lw_assembly_sensitivity(b->state, &outside, 1, &gravity, 1, &one, slopes) == LW_ERROR_USAGE);
  EXPECT(lw_assembly_sensitivity(b->state, NULL, 0, &outside, 1, &one, slopes) == LW_ERROR_USAGE);
  EXPECT(lw_assembly_sensitivity(b->state, NULL, 0, &gravity, 1, &none, slopes) == LW_ERROR_VALUE);
  if (n) EXPECT(lw_assembly_sensitivity(b->state, NULL, 0, &state, 1, &one, slopes) == LW_ERROR_USAGE);
  EXPECT(lw_assembly_sensitivity(b->state, NULL, 0, NULL, 0, NULL, NULL) == LW_OK);
  free(unknowns);
  free(slopes);
}

/* the sanitizers need minutes for larger Newton matrices */
enum { MOST_UNKNOWNS = 150, MOST_STATES = 30, MOST_FOR_MINIMAL = 60 };

/* The equations with multipliers: the coordinates' residual is zero at the state's rates, and the Newton matrix is
 * finite. */
static void check_multipliers(const bench *b) {
  const size_t rows = (size_t)lw_constraint_rows(b->model), nq = (size_t)b->size.nq, nu = (size_t)b->size.nu;
  const size_t n = nq + nu + 2 * rows;
  if (n > MOST_UNKNOWNS) return;
  double *y = reals(n), *ydot = reals(n), *residual = reals(n), *slack = reals(2 * rows), *phi = reals(2 * rows);
  double *work = reals(rows * nu), *matrix = reals(n * n);
  const double *x = lw_state_reals(b->state);
  EXPECT(lw_evaluate(b->state, LW_STAGE_DERIVATIVES) == LW_OK);
  const double t = x[field_named(b->model, "time").first];
  memcpy(y, x + field_named(b->model, "q").first, (nq + nu) * sizeof *y);
  memcpy(ydot, x + field_named(b->model, "qdot").first, (nq + nu) * sizeof *y);
  EXPECT(lw_constraints(b->state, phi, phi + rows) == LW_OK);
  EXPECT(lw_constraint_jacobian(b->state, work) == LW_OK);
  EXPECT(lw_dae_select_rows(b->state, work, slack) == LW_OK);
  for (size_t r = 0; r < 2 * rows; r++) EXPECT(fabs(phi[r]) < 1e-6 && (slack[r] == 0 || slack[r] == 1));
  EXPECT(lw_dae_residual(b->state, t, y, ydot, slack, residual) == LW_OK);
  for (size_t i = 0; i < nq; i++) EXPECT(fabs(residual[i]) <= 1e-6 * (1 + fabs(ydot[i])));
  EXPECT(lw_dae_jacobian(b->state, t, y, ydot, slack, 10, matrix) == LW_OK);
  for (size_t i = 0; i < n * n; i++) EXPECT(isfinite(matrix[i]));
  double sum = 0;
  if (nu) y[nq] = NAN;
  const lw_status bad = lw_dae_residual(b->state, t, y, ydot, slack, residual);
  for (size_t i = 0; i < nq; i++) sum += residual[i];
  EXPECT(!nu || bad || !isfinite(sum));
  EXPECT(lw_dae_jacobian(b->state, t, y, ydot, slack, 10, matrix) == bad);
  double *rooms[] = {y, ydot, residual, slack, phi, work, matrix};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) free(rooms[i]);
  EXPECT(lw_state_reset(b->state) == LW_OK && lw_assemble(b->state, 1e-10) == LW_OK);
}

/* Selects coordinates and speeds of the joints whose bit is set in `chosen`. */
static int32_t choose(const bench *b, unsigned chosen, uint32_t *q, uint32_t *u, int32_t *n_u) {
  int32_t n_q = 0;
  *n_u = 0;
  if (b->size.nq != b->size.nu) return 0;
  for (int32_t k = 0; k < b->size.nq && k < 32; k++)
    if (chosen >> k & 1) q[n_q++] = u[(*n_u)++] = (uint32_t)k;
  return n_q;
}

static void choose_invalid(const bench *b) {
  const uint32_t outside[] = {UINT32_MAX, UINT32_MAX}, descending[] = {1, 0};
  lw_minimal *m = NULL;
  EXPECT(lw_minimal_create(b->state, outside, 1, outside, 1, &m) == LW_ERROR_USAGE && !m);
  EXPECT(lw_minimal_create(b->state, descending, 2, descending, 2, &m) == LW_ERROR_USAGE && !m);
  EXPECT(lw_minimal_create(b->state, outside, -1, outside, 0, &m) == LW_ERROR_USAGE && !m);
  EXPECT(lw_minimal_create(b->state, outside, b->size.nq + 1, outside, 0, &m) == LW_ERROR_USAGE && !m);
  if (b->size.nu) EXPECT(lw_minimal_create(b->state, descending + 1, 1, NULL, 0, &m) == LW_ERROR_USAGE && !m);
  EXPECT(lw_state_message(b->state)[0]);
  lw_minimal_free(NULL);
}

/* Whatever is selected, the state is closed afterwards or unchanged. */
static void check_independents(const bench *b, unsigned chosen) {
  const size_t n = (size_t)(b->size.nq + b->size.nu), rows = (size_t)lw_constraint_rows(b->model);
  uint32_t q[32], u[32];
  int32_t n_u;
  const int32_t n_q = choose(b, chosen, q, u, &n_u);
  const lw_field first = field_named(b->model, "q"), rates = field_named(b->model, "qdot");
  double *x = reals(n), *xdot = reals(n), *kept = reals(n), *phi = reals(2 * rows), slope = NAN;
  const double *state = lw_state_reals(b->state) + first.first;
  lw_minimal *m = NULL;
  EXPECT(lw_minimal_create(b->state, q, n_q, u, n_u, &m) == LW_OK);
  lw_minimal_get(m, x);
  EXPECT(lw_minimal_check_step(m) == LW_OK); /* nobody watches */
  EXPECT(lw_minimal_watch(m) == LW_OK && lw_minimal_watch(m) == LW_OK);
  for (int step = 0; step < 3; step++) {
    memcpy(kept, state, n * sizeof *kept);
    if (n_q) x[0] += 0.05 * step, x[n_q] = 0.1;
    const lw_status status = lw_minimal_set(m, x);
    EXPECT(status == LW_OK || status == LW_ERROR_SINGULAR);
    if (status) EXPECT(same(state, kept, n) && lw_state_message(b->state)[0]);
    else {
      EXPECT(lw_constraints(b->state, phi, phi + rows) == LW_OK);
      for (size_t r = 0; r < rows; r++) EXPECT(fabs(phi[r]) < 1e-7);
      (void)lw_ode_minimal(m, 0.01, x, xdot);
      const lw_status passed = lw_minimal_check_step(m);
      EXPECT(passed == LW_OK || passed == LW_ERROR_SOLVER);
      (void)lw_minimal_derivatives(m, xdot);
    }
  }
  const uint32_t known = (uint32_t)(first.first + (n_q ? (int32_t)q[0] : 0)), unknown = (uint32_t)rates.first;
  if (n_q) {
    const lw_status found = lw_minimal_directional_derivative(m, &unknown, 1, &known, 1, &(double){1}, &slope);
    double entry = NAN;
    EXPECT(lw_minimal_jacobian(m, &unknown, 1, &known, 1, &entry) == found && (found || entry == slope));
    x[0] = NAN;
    EXPECT(lw_minimal_set(m, x) == LW_ERROR_VALUE);
  } else if (b->size.nq && b->size.nq == b->size.nu)
    EXPECT(lw_minimal_directional_derivative(m, &unknown, 1, &known, 1, &(double){1}, &slope) == LW_ERROR_USAGE);
  lw_minimal_free(m);
  double *rooms[] = {x, xdot, kept, phi};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) free(rooms[i]);
  EXPECT(lw_state_reset(b->state) == LW_OK && lw_assemble(b->state, 1e-10) == LW_OK);
}

static void minimal(const bench *b) {
  if ((size_t)(b->size.nq + b->size.nu) + 2 * (size_t)lw_constraint_rows(b->model) > MOST_FOR_MINIMAL) return;
  choose_invalid(b);
  for (unsigned k = 0; k < 4; k += 2) check_independents(b, 1u << k);
  check_independents(b, 0);
  check_independents(b, 3);
  check_independents(b, UINT32_MAX);
}

/* Constrained speeds, applied impulses and invalid arguments. */
static void jump(const bench *b) {
  const size_t speeds = (size_t)(b->size.nu + b->size.nu_cut), bodies = (size_t)b->size.bodies;
  const size_t joints = (size_t)b->size.joints;
  unsigned char *held = calloc(speeds + 1, 1);
  double *numbers = reals(4 * speeds + 12 * bodies + 6 * joints + (size_t)b->size.couplings), *next = numbers;
  if (!held) exit(2);
  lw_velocity_jump jump = {.constrained = held, .target = next};
  jump.applied_impulse = next += speeds, jump.before = next += 6 * bodies, jump.after = next += 6 * bodies;
  jump.constraint_impulse = next += speeds, jump.force = next += speeds, jump.torque = next += 3 * joints;
  jump.coupling_impulse = next + 3 * joints;
  EXPECT(lw_dca_levels(b->model) > 0);
  EXPECT(lw_dca_multiplications(b->model) > 0.0);
  EXPECT(lw_set_threads(2) >= 1);
  for (int with = 0; with < 4; with++) {
    if (with & 1) jump.before = NULL;
    if (with & 2) jump.applied_impulse = NULL;
    for (size_t u = 0; u < speeds; u++) held[u] = (u + (size_t)with) % 3 == 0;
    EXPECT(lw_solve_velocity_jump(b->state, &jump) == LW_OK);
    EXPECT(isfinite(jump.residual));
  }
  EXPECT(lw_set_threads(1) == 1);
  if (speeds) held[0] = 1, numbers[0] = NAN;
  if (speeds) EXPECT(lw_solve_velocity_jump(b->state, &jump) == LW_ERROR_VALUE);
  free(held);
  free(numbers);
}

/* Steps forth and back with dense output; the run ends where it began. */
static void step_there_and_back(const bench *b, lw_ode *ode, const double *start, size_t n) {
  double *y = reals(n);
  EXPECT(lw_ode_start(ode, 0, start) == LW_ODE_STEP);
  for (double end = 0.1; end >= 0; end -= 0.1) {
    while (lw_ode_time(ode) != end) {
      const double before = lw_ode_time(ode);
      const lw_ode_outcome outcome = lw_ode_step(ode, end);
      EXPECT(outcome == LW_ODE_STEP || outcome == LW_ODE_EVENT);
      if (outcome > LW_ODE_EVENT) break;
      EXPECT(lw_ode_dense(ode, 0.5 * (before + lw_ode_time(ode)), y) == 0);
      lw_step_accepted(b->state);
    }
  }
  EXPECT(lw_ode_get_statistics(ode).steps > 0 && lw_ode_crossings(ode));
  for (size_t i = 0; i < n; i++) EXPECT(fabs(lw_ode_y(ode)[i] - start[i]) < 1e-4 * (1 + fabs(start[i])));
  free(y);
}

/* A run ends at an event, if there is one. */
static int stepped(lw_ode_outcome outcome) { return outcome == LW_ODE_STEP || outcome == LW_ODE_EVENT; }

/* Rows at given times, rows at every step, and fewer rows than steps. */
static void run_with_rows(lw_ode *ode, const double *start, size_t n) {
  enum { ROWS = 5 };
  double t[ROWS], *y = reals(ROWS * n);
  for (int i = 0; i < ROWS; i++) t[i] = 0.01 * i;
  lw_ode_output output = {.times_given = 1, .capacity = ROWS, .t = t, .y = y};
  EXPECT(lw_ode_start(ode, 0, start) == LW_ODE_STEP);
  const lw_ode_outcome outcome = lw_ode_run(ode, 0.05, 0, &output);
  EXPECT(stepped(outcome) && (output.count == ROWS || outcome == LW_ODE_EVENT));
  for (size_t i = 0; i < n; i++) EXPECT(fabs(y[i] - start[i]) <= 1e-12 * (1 + fabs(start[i])));

  output = (lw_ode_output){.times_given = 0, .capacity = ROWS, .t = t, .y = y};
  EXPECT(lw_ode_start(ode, 0, start) == LW_ODE_STEP);
  EXPECT(stepped(lw_ode_run(ode, 1, 0, &output)));
  EXPECT(output.count <= ROWS && output.count > 0);
  EXPECT(stepped(lw_ode_run(ode, lw_ode_time(ode) + 0.01, 3, NULL)));
  free(y);
}

static void integrate_invalid(const bench *b, lw_ode *ode, const double *start, size_t n) {
  const lw_ode_options one_step = {.rtol = 1e-8, .atol = 1e-8, .max_steps = 1};
  double *y = reals(n), *ydot = reals(n);
  lw_ode_set_options(ode, &one_step);
  EXPECT(lw_ode_start(ode, 0, start) == LW_ODE_STEP);
  for (int i = 0; n && i < 2; i++) EXPECT(lw_ode_step(ode, 1e9) == (i ? LW_ODE_TOO_MANY_STEPS : LW_ODE_STEP));
  if (n) {
    memcpy(y, start, n * sizeof *y);
    y[0] = NAN;
    EXPECT(lw_ode_start(ode, 0, y) == LW_ODE_NOT_FINITE);
    EXPECT(lw_ode_mechanism(b->state, 0, y, ydot) != 0);
  }
  EXPECT(lw_ode_set_method(ode, (lw_ode_method)99, NULL) == LW_ERROR_USAGE);
  free(y);
  free(ydot);
}

/* The Jacobian is finite where the derivative exists, and refused elsewhere; finite differences replace it. Uses its
 * own state, because values that are not finite may remain in the workspace of derivatives. */
static void integrate_stiffly(const bench *other, const double *start, size_t n) {
  const lw_ode_options options = {.rtol = 1e-6, .atol = 1e-6};
  double *matrix = reals(n * n), *by_time = reals(n), *y = reals(n), sum = 0;
  bench own = *other, *b = &own;
  EXPECT(lw_state_create(b->model, &b->state) == LW_OK && lw_assemble(b->state, 1e-10) == LW_OK);
  EXPECT(lw_ode_mechanism_jacobian(b->state, 0, start, matrix, by_time) == 0);
  for (size_t i = 0; i < n * n; i++) sum += matrix[i] + by_time[i % n];
  EXPECT(isfinite(sum));
  if (n) {
    y[0] = NAN;
    EXPECT(lw_ode_mechanism_jacobian(b->state, 0, y, matrix, by_time) != 0);
  }
  lw_ode *ode = lw_ode_create((int32_t)n, b->size.event_indicators, lw_ode_mechanism, lw_ode_mechanism_events, b->state,
                              &options);
  for (int exact = 1; ode && exact >= 0; exact--) {
    EXPECT(lw_ode_set_method(ode, LW_ODE_RODAS5P, exact ? lw_ode_mechanism_jacobian : NULL) == LW_OK);
    EXPECT(lw_ode_step(ode, 1) == LW_ODE_NOT_FINITE); /* not started */
    if (exact) step_there_and_back(b, ode, start, n);
    run_with_rows(ode, start, n);
  }
  for (int again = 0; ode && again < 2; again++) { /* and back: the memory of further stages stays */
    EXPECT(lw_ode_set_method(ode, LW_ODE_DOP853, NULL) == LW_OK);
    run_with_rows(ode, start, n);
    EXPECT(lw_ode_set_method(ode, LW_ODE_DOPRI5, NULL) == LW_OK);
    run_with_rows(ode, start, n);
  }
  lw_ode_free(ode);
  lw_state_free(b->state);
  free(matrix);
  free(by_time);
  free(y);
}

/* A law with a state of its own, x' = q_0 - x, that brakes each speed and adds x to the first load; and an event on x. */
typedef struct brake {
  lw_state *state;
  const lw_model *model;
  int fail;
} brake;

static int brake_law(void *context, double t, const double *x, double *xdot) {
  const brake *k = context;
  double *r = lw_state_reals(k->state);
  const lw_field u = field_named(k->model, "u"), tau = field_named(k->model, "tau"), q = field_named(k->model, "q");
  for (int32_t i = 0; i < u.rows; i++) r[tau.first + i] = -0.3 * r[u.first + i] * (1.0 + 0.1 * t);
  if (u.rows) r[tau.first] += x[0];
  xdot[0] = (q.rows ? r[q.first] : 0.0) - x[0];
  return k->fail;
}

static int brake_events(void *context, double t, const double *x, double *indicators) {
  (void)context;
  indicators[0] = x[0] - 0.1 - t;
  return 0;
}

/* The Jacobian of the closed loop against central differences of it. */
static void compare_jacobian(lw_control *control, const double *y, size_t n) {
  double *matrix = reals(n * n), *by_time = reals(n), *moved = reals(n), *up = reals(n), *down = reals(n);
  EXPECT(lw_ode_controlled_jacobian(control, 0.0, y, matrix, by_time) == 0);
  for (size_t k = 0; k < n; k++) {
    const double d = 1e-6;
    memcpy(moved, y, n * sizeof *y);
    moved[k] = y[k] + d;
    int refused = lw_ode_controlled(control, 0.0, moved, up);
    moved[k] = y[k] - d;
    refused |= lw_ode_controlled(control, 0.0, moved, down);
    for (size_t i = 0; !refused && i < n; i++) {
      const double slope = (up[i] - down[i]) / (2.0 * d), size = 1.0 + fabs(up[i]) + fabs(slope);
      EXPECT(isfinite(matrix[i * n + k]) && fabs(matrix[i * n + k] - slope) < 1e-3 * size);
    }
  }
  free(matrix);
  free(by_time);
  free(moved);
  free(up);
  free(down);
}

static void integrate_controlled(const bench *other) {
  bench own = *other, *b = &own;
  const size_t states = (size_t)(b->size.nq + b->size.nu), n = states + 1;
  const int32_t events = b->size.event_indicators + 1;
  EXPECT(lw_state_create(b->model, &b->state) == LW_OK && lw_assemble(b->state, 1e-10) == LW_OK);
  brake k = {b->state, b->model, 0};
  lw_control control = {
      .state = b->state, .context = &k, .law = brake_law, .events = brake_events, .n = 1, .n_events = 1};
  double *y = reals(n), *ydot = reals(n), *indicators = reals((size_t)events);
  memcpy(y, lw_state_reals(b->state) + field_named(b->model, "q").first, states * sizeof *y);
  EXPECT(lw_ode_controlled(&control, 0.0, y, ydot) == 0);
  EXPECT(lw_ode_controlled_events(&control, 0.0, y, indicators) == 0 && indicators[events - 1] == -0.1);
  if (n <= 16) compare_jacobian(&control, y, n);
  const lw_ode_options options = {.rtol = 1e-6, .atol = 1e-6};
  lw_ode *ode = lw_ode_create((int32_t)n, events, lw_ode_controlled, lw_ode_controlled_events, &control, &options);
  EXPECT(ode && lw_ode_start(ode, 0.0, y) == LW_ODE_STEP);
  for (int i = 0; ode && i < 2; i++) (void)lw_ode_step(ode, 0.01);
  if (ode) {
    const lw_ode_step_control remembered = lw_ode_get_step_control(ode);
    memcpy(y, lw_ode_y(ode), n * sizeof *y);
    EXPECT(remembered.next_step > 0.0 && lw_ode_start(ode, lw_ode_time(ode), y) == LW_ODE_STEP);
    lw_ode_set_step_control(ode, remembered);
    EXPECT(lw_ode_get_step_control(ode).next_step == remembered.next_step);
  }
  k.fail = -1;
  EXPECT(lw_ode_controlled(&control, 0.0, y, ydot) == -1);
  lw_ode_free(ode);
  lw_state_free(b->state);
  free(y);
  free(ydot);
  free(indicators);
}

static void integrate(const bench *b) {
  const size_t n = (size_t)(b->size.nq + b->size.nu);
  const int32_t events = b->size.event_indicators;
  const lw_ode_options options = {.rtol = 1e-8, .atol = 1e-8};
  double *start = reals(n), *ydot = reals(n), *indicators = reals((size_t)events);
  memcpy(start, lw_state_reals(b->state) + field_named(b->model, "q").first, n * sizeof *start);
  EXPECT(lw_ode_mechanism(b->state, 0, start, ydot) == 0);
  EXPECT(lw_ode_mechanism_events(b->state, 0, start, indicators) == 0);
  lw_ode *ode = lw_ode_create((int32_t)n, events, lw_ode_mechanism, lw_ode_mechanism_events, b->state, &options);
  EXPECT(ode);
  if (ode) {
    step_there_and_back(b, ode, start, n);
    run_with_rows(ode, start, n);
    integrate_invalid(b, ode, start, n);
  }
  if (n <= MOST_STATES) integrate_stiffly(b, start, n);
  integrate_controlled(b);
  lw_ode_free(ode);
  free(start);
  free(ydot);
  free(indicators);
}

/* ---- transitions ---- */

static int is_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

/* Applies one transition after the other; a refused one leaves the state unchanged. */
static void make_transitions(const bench *b) {
  unsigned char *before = malloc(lw_state_size(b->state)), *after = malloc(lw_state_size(b->state));
  double *indicators = reals((size_t)b->size.event_indicators), time;
  int32_t changed;
  EXPECT(before && after);
  EXPECT(lw_start_events(b->state, &changed) == LW_OK);
  for (int32_t i = -1; before && after && i <= b->size.transitions; i++) {
    const lw_status evaluated = lw_evaluate(b->state, LW_STAGE_OUTPUTS);
    lw_state_save(b->state, before);
    if (lw_apply_transitions(b->state, &i, 1) == LW_OK) {
      EXPECT(b->size.transitions == 0 || (i >= 0 && i < b->size.transitions));
      EXPECT(lw_evaluate(b->state, LW_STAGE_OUTPUTS) == LW_OK);
      EXPECT(is_finite(lw_state_reals(b->state) + field_named(b->model, "udot").first, (size_t)b->size.nu));
      EXPECT(lw_event_indicators(b->state, indicators) == LW_OK);
      EXPECT(is_finite(indicators, (size_t)b->size.event_indicators));
      differentiate_indicators(b);
      EXPECT(lw_next_event_time(b->state, &time) == LW_OK);
      EXPECT(lw_handle_events(b->state, &changed) == LW_OK);
    } else {
      EXPECT(lw_state_message(b->state)[0]);
      EXPECT(lw_evaluate(b->state, LW_STAGE_OUTPUTS) == evaluated);
      lw_state_save(b->state, after);
      EXPECT(memcmp(before, after, lw_state_size(b->state)) == 0);
    }
  }
  free(before);
  free(after);
  free(indicators);
}

/* A snapshot with an invalid discrete state. */
static void restore_invalid_modes(const bench *b) {
  static const double wild[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, -1, 3, 0.5, 4294967296.0, 5e-324};
  const lw_field first = field_named(b->model, "joint_closed"), last = field_named(b->model, "event_count");
  const size_t n = (size_t)(last.first - first.first);
  double *modes = lw_state_reals(b->state) + first.first, *kept = reals(n);
  int32_t changed;
  memcpy(kept, modes, n * sizeof *modes);
  for (size_t k = 0; b->size.transitions && k < sizeof wild / sizeof *wild; k++)
    for (int32_t i = 0; i < b->size.transitions; i++) {
      for (size_t j = 0; j < n; j++) modes[j] = wild[(j % 3 ? j + k : k) % (sizeof wild / sizeof *wild)];
      (void)lw_discrete_state_changed(b->state);
      (void)lw_evaluate(b->state, LW_STAGE_OUTPUTS);
      (void)lw_handle_events(b->state, &changed);
      (void)lw_apply_transitions(b->state, &i, 1);
      (void)lw_evaluate(b->state, LW_STAGE_OUTPUTS);
    }
  memcpy(modes, kept, n * sizeof *modes);
  EXPECT(lw_discrete_state_changed(b->state) == LW_OK);
  free(kept);
}

static void drive(const char *path) {
  size_t size = 0;
  unsigned char *bytes = read_file(path, &size);
  char message[160] = "";
  lw_model *model = NULL;
  bench b = {0};
  subject = path;
  EXPECT(bytes && lw_model_load(bytes, size, &model, message, sizeof message) == LW_OK);
  if (model) {
    b.model = model;
    b.size = lw_model_sizes(model);
    EXPECT(lw_state_create(model, &b.state) == LW_OK);
    load_corrupted(bytes, size);
    free(bytes); /* the model has its own copy */
    bytes = NULL;
    EXPECT(lw_assemble(b.state, 1e-10) == LW_OK);
    differentiate_assembly(&b);
    describe(&b);
    evaluate(&b);
    allocate_nothing(&b);
    find_load_equations(&b);
    set_and_get(&b);
    answer_null(&b);
    save_and_restore(&b);
    differentiate(&b);
    differentiate_indicators(&b);
    check_multipliers(&b);
    minimal(&b);
    jump(&b);
    if (b.size.transitions) {
      make_transitions(&b);
      restore_invalid_modes(&b);
      EXPECT(lw_state_reset(b.state) == LW_OK && lw_assemble(b.state, 1e-10) == LW_OK);
    } else {
      integrate(&b);
    }
    write_invalid(&b);
  } else {
    fprintf(stderr, "%s: %s\n", path, message);
  }
  lw_state_free(b.state);
  lw_model_free(model);
  free(bytes);
}

int main(int count, char **paths) {
  for (int i = 1; i < count; i++) drive(paths[i]);
  lw_state_free(NULL);
  lw_model_free(NULL);
  lw_ode_free(NULL);
  if (count < 2) fprintf(stderr, "usage: drive_core MODEL ...\n");
  return count < 2 || failures ? 1 : 0;
}
