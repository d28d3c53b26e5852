#include "evaluation/rates.h"
#include "block/state.h"
#include "math/operations.h"
#include "math/tolerances.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int lw_tape_holds(const lw_tape_conditions *c, const lw_state *s) {
  const double *x = lw_reals(s);
  if (c->structure != s->model->structure) return 0;
  for (int32_t i = 0; i < c->n_equal; i++) {
    const double value = x[c->equal[i].offset], other = c->equal[i].value;
    if (value != other && (value == value || other == other)) return 0;
  }
  for (int32_t i = 0; i < c->n_bounded; i++)
    if (!(fabs(x[c->bounded[i].offset]) <= c->bounded[i].value)) return 0;
  return 1;
}

/* Numbers other than states, inputs and time have not changed since they were checked. */
int lw_check_compiled_tapes(lw_state *s) {
  lw_rates *r = &s->rates;
  if (r->checked && *s->stage >= LW_STAGE_CONSTANTS) return 1;
  if (lw_evaluate(s, LW_STAGE_CONSTANTS)) return 0;
  for (int32_t i = 0; i < r->n; i++) r->holds[i] = !r->differs[i] && lw_tape_holds(&r->function[i]->where, s);
  for (int kind = 0; s->compiled.library && kind < LW_JACOBIAN_KINDS; kind++) {
    const lw_compiled_jacobians *of = &s->compiled.library->jacobian[kind];
    lw_kept_jacobian *kept = &s->compiled.kept[kind];
    for (int32_t i = 0; i < of->n; i++) kept->holds[i] = !kept->differs[i] && lw_tape_holds(&of->tape[i].where, s);
  }
  return r->checked = 1;
}

/* At first, and now and then. */
static int must_compare(lw_rates *r, int32_t i) {
  const uint32_t number = r->counted[i]++;
  return number < LW_RATES_COMPARED || number % LW_RATES_COMPARED_EVERY == 0;
}

static int run(const lw_state *s, int32_t i, int checks) {
  const lw_rates *r = &s->rates;
  return r->function[i]->run(lw_reals(s), r->left, s->kernels->number_function, checks);
}

/* Runs the kernels as well; a function that gives other bits, as by a compiler that contracts, is asked no more. */
static void compare(lw_state *s, int32_t i) {
  lw_rates *r = &s->rates;
  const lw_compiled_rates *c = r->function[i];
  double *x = lw_reals(s);
  run(s, i, 1);
  for (int32_t k = 0; k < c->n_results; k++) r->found[k] = x[c->result[k]];
  if (lw_evaluate(s, LW_STAGE_DERIVATIVES)) r->differs[i] = 1;
  else s->kernels->locate_cuts(s->model, s->block);
  for (int32_t k = 0; k < c->n_results; k++) r->differs[i] |= r->found[k] != x[c->result[k]];
  if (r->differs[i]) r->holds[i] = 0;
}

/* Functions are asked in the order in which they counted last. */
static void move_to_front(lw_rates *r, int32_t place) {
  const unsigned char i = r->order[place];
  memmove(r->order + 1, r->order, (size_t)place);
  r->order[0] = i;
}

/* The longer none counts, the seldomer they are asked. `all_missed`: they were. */
static int run_functions(lw_state *s, int *all_missed) {
  lw_rates *r = &s->rates;
  if (s->before_accelerations || !lw_check_compiled_tapes(s)) return 0;
  if (r->waits > 0) return r->waits--, 0;
  for (int32_t place = 0; place < r->n; place++) {
    const int32_t i = r->order[place];
    if (!r->holds[i] || run(s, i, 0)) continue;
    move_to_front(r, place);
    r->missed = 0;
    if ((r->checks = must_compare(r, i))) compare(s, i);
    return r->known = !r->differs[i]; /* else the block has the numbers of the kernels */
  }
  if (r->missed < LW_RATES_LONGEST_WAIT) r->missed++;
  r->waits = r->missed - 1;
  *all_missed = 1;
  return 0;
}

/* Whether one of so many takes the place of those before: each is the last one that did with the same probability. */
static int is_drawn(uint32_t count) {
  uint32_t mixed = count;
  mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
  mixed = (mixed ^ mixed >> 13) * 0xc2b2ae35u;
  mixed ^= mixed >> 16;
  return (uint64_t)mixed * count >> 32 == 0;
}

/* As lw_rates_given lists them. */
static void write_given(const lw_state *s, double *given) {
  const lw_offsets *at = &s->model->at;
  const int32_t n = at->qdot - at->time;
  memcpy(given, lw_reals(s) + at->time, sizeof *given * (size_t)n);
  memcpy(given + n, lw_reals(s) + at->cut_reference, sizeof *given * (size_t)s->model->size.nq_cut);
}

lw_status lw_evaluate_rates(lw_state *s) {
  if (*s->stage >= LW_STAGE_DERIVATIVES || s->rates.known) return LW_OK;
  int all_missed = 0;
  if (s->rates.n && *s->stage < LW_STAGE_ACCELERATIONS && run_functions(s, &all_missed)) return LW_OK;
  s->rates.by_kernels++;
  if (all_missed && is_drawn(++s->rates.all_missed)) write_given(s, s->rates.missed_at);
  return lw_evaluate(s, LW_STAGE_DERIVATIVES);
}

int lw_rates_give_checks(lw_state *s) {
  lw_rates *r = &s->rates;
  if (r->known && !r->checks) run(s, r->order[0], 1), r->checks = 1;
  return r->known;
}

void lw_rates_missed(const lw_state *s, double *given) {
  const lw_rates *r = &s->rates;
  if (r->all_missed) memcpy(given, r->missed_at, sizeof *given * (size_t)lw_rates_given(s->model, NULL));
  else write_given(s, given);
}

lw_status lw_use_rates(lw_state *s, const lw_compiled_rates *const *functions, int32_t n) {
  lw_rates *r = &s->rates;
  const int32_t given = lw_rates_given(s->model, NULL);
  int32_t results = 0, left = 0;
  n = n < LW_MOST_COMPILED_RATES ? n : LW_MOST_COMPILED_RATES;
  for (int32_t i = 0; i < n; i++) {
    results = functions[i]->n_results > results ? functions[i]->n_results : results;
    left = functions[i]->n_left > left ? functions[i]->n_left : left;
  }
  double *found = realloc(r->found, sizeof *found * (size_t)(results + given + left + 1));
  if (!found) return LW_ERROR_MEMORY;
  r->found = found, r->missed_at = found + results, r->left = r->missed_at + given;
  for (int32_t i = 0; i < n; i++) {
    if (r->function[i] != functions[i]) r->counted[i] = 0, r->differs[i] = 0;
    r->function[i] = functions[i];
    if (r->n != n) r->order[i] = (unsigned char)i;
  }
  if (r->n != n) r->missed = r->waits = 0;
  r->n = n, r->all_missed = 0, r->checked = r->known = 0;
  return LW_OK;
}

uint32_t lw_rates_layout(const lw_model *m) {
  static const char operations[] =
#define X(name, operands, formula) #name "=" #formula ";"
      LW_EACH_TAPE_OPERATION(X) LW_EACH_TAPE_FUSION(X) LW_EACH_TAPE_GUARD(X);
#undef X
  const uint32_t numbers[] = {LW_VERSION_MAJOR, LW_VERSION_MINOR,        LW_VERSION_PATCH,
                              m->checksum,      (uint32_t)m->size.reals, LW_RATES_INTERFACE};
  uint32_t sum = lw_crc32(0, numbers, sizeof numbers);
  sum = lw_crc32(sum, operations, sizeof operations);
  return lw_crc32(sum, &m->at, sizeof m->at);
}

int64_t lw_rates_by_kernels(const lw_state *s) { return s->rates.by_kernels; }

int lw_ode_mechanism(void *state, double t, const double *y, double *ydot) {
  lw_state *s = state;
  const lw_model *m = s->model;
  const size_t n = sizeof(double) * (size_t)m->size.states;
  lw_set_states(s, t, y);
  if (lw_evaluate_rates(s)) return 1;
  memcpy(ydot, lw_reals(s) + m->at.qdot, n);
  return 0;
}

lw_status lw_locate_cuts(lw_state *s) {
  if (lw_rates_give_checks(s)) return LW_OK;
  const lw_status e = lw_evaluate(s, LW_STAGE_ACCELERATIONS);
  if (!e) s->kernels->locate_cuts(s->model, s->block);
  return e;
}

void lw_step_accepted(lw_state *s) {
  const lw_offsets *at = &s->model->at;
  if (lw_locate_cuts(s)) return;
  memcpy(lw_reals(s) + at->cut_reference, lw_reals(s) + at->q_cut, sizeof(double) * (size_t)s->model->size.nq_cut);
}

/* ---- the numbers ---- */

static int32_t take(uint32_t *offsets, int32_t n, int32_t first, int32_t count) {
  for (int32_t i = 0; offsets && i < count; i++) offsets[n + i] = (uint32_t)(first + i);
  return n + count;
}

int32_t lw_rates_given(const lw_model *m, uint32_t *offsets) {
  const int32_t n = take(offsets, 0, m->at.time, m->at.qdot - m->at.time); /* inputs and states stand between them */
  return take(offsets, n, m->at.cut_reference, m->size.nq_cut);
}

int32_t lw_rates_computed(const lw_model *m, uint32_t *offsets) {
  int32_t n = take(offsets, 0, m->at.qdot, m->size.states);
  n = take(offsets, n, m->at.loop_residual, m->size.loops);
  n = take(offsets, n, m->at.coupling_residual, m->size.couplings);
  n = take(offsets, n, m->at.q_cut, m->size.nq_cut);
  const int32_t w = (int32_t)(offsetof(lw_double_link_motion, w) / sizeof(double));
  for (int32_t i = 0; i < m->size.bodies; i++) n = take(offsets, n, m->at.motion + i * LW_REALS(link_motion) + w, 3);
  return n;
}
