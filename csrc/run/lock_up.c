/* Lock-up of a driven mechanism: the pose beyond which it cannot follow its prescribed motions, found by assembly.
 *
 * With the motions prescribed, the pose follows from the time, Phi(q, t) = 0. It ends at a fold: as t approaches t*, the
 * speeds grow as 1 / sqrt(t* - t), the derivative of Phi by q loses rank, and beyond t* no pose is near. The integrator
 * stops somewhere around it, with any message. Assembly from pose to pose finds t* to the accuracy of the assembly itself. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/state.h"
#include "evaluation/constraint_names.h"
#include "math/tolerances.h"
#include "run/run.h"

typedef struct pose {
  double t;
  double *q, *rate; /* of all joints */
} pose;

typedef struct follower {
  lw_run *run;
  lw_state *state;
  int32_t nq, nu; /* of all joints */
  pose at, found;
  double *guess;
} follower;

static void take_pose(const lw_state *s, const lw_model *m, lw_sizes size, double t, pose *to) {
  const double *x = lw_state_reals((lw_state *)s);
  to->t = t;
  memcpy(to->q, x + m->at.q, sizeof *x * (size_t)size.nq);
  memcpy(to->q + size.nq, x + m->at.q_cut, sizeof *x * (size_t)size.nq_cut);
  memcpy(to->rate, x + m->at.u, sizeof *x * (size_t)size.nu);
  memcpy(to->rate + size.nu, x + m->at.u_cut, sizeof *x * (size_t)size.nu_cut);
}

/* The pose at a time that is nearest to a guess. */
static lw_status assemble(follower *f, double t, const double *guess) {
  double *x = lw_state_reals(f->state);
  const double *in_run = lw_state_reals(f->run->state);
  const lw_model *m = f->run->model;
  memcpy(x + m->at.q_start, guess, sizeof *x * (size_t)f->nq);
  lw_run_enter(f->run, t, lw_last_row(&f->run->record.y)); /* motions follow from the time alone */
  memcpy(x + m->at.motion_in, in_run + m->at.motion_in, sizeof *x * 3 * (size_t)f->run->size.couplings);
  x[m->at.time] = t, x[m->at.motion_time] = in_run[m->at.motion_time];
  lw_state_changed(f->state, LW_STAGE_NONE);
  lw_status e = lw_assemble(f->state, ASSEMBLY_TOLERANCE);
  if (!e) e = lw_evaluate(f->state, LW_STAGE_OUTPUTS);
  if (!e) take_pose(f->state, m, f->run->size, t, &f->found);
  return e;
}

static double largest_change(const double *a, const double *b, int32_t n) {
  double most = 0.0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

/* Whether the pose that was found is the next one of the same motion, rather than one of another branch. */
static int continues(const follower *f) {
  double fastest = 0.0;
  for (int32_t k = 0; k < f->nu; k++) fastest = fmax(fastest, fabs(f->at.rate[k]));
  const double linear = (f->found.t - f->at.t) * fastest;
  return largest_change(f->found.q, f->at.q, f->nq) <= fmin(2.0 * linear + LOCK_UP_SMALL, LOCK_UP_FAR);
}

static void move_on(follower *f) {
  const pose left = f->at;
  f->at = f->found, f->found = left;
}

/* The last row since the last event that is on the motions. */
static int find_followed(follower *f) {
  lw_run *r = f->run;
  const lw_record *record = &r->record;
  const double since = record->event_t.count ? *lw_last_row(&record->event_t) : -INFINITY;
  int64_t back = 1;
  for (int64_t row = record->t.count - 1; row >= 0; row -= back, back *= 2) {
    const double t = *lw_row_of(&record->t, row);
    if (t < since) return 0;
    if (lw_run_enter(r, t, lw_row_of(&record->y, row)) || lw_evaluate(r->state, LW_STAGE_OUTPUTS)) continue;
    take_pose(r->state, r->model, r->size, t, &f->at);
    memcpy(f->guess, f->at.q, sizeof *f->guess * (size_t)f->nq);
    if (assemble(f, t, f->guess) || largest_change(f->found.q, f->guess, f->nq) > LOCK_UP_ON_MOTION) continue;
    move_on(f);
    return 1;
  }
  return 0;
}

/* Moves to the last pose that can be reached, beyond which assembly fails; 0: `end` is reached. */
static int find_end(follower *f, double span, double end) {
  double step = LOCK_UP_FIRST_STEP * span;
  const double least = fmax(LOCK_UP_LAST_STEP * span, 4.0 * DBL_EPSILON * fabs(end));
  int fault = 0;
  for (int k = 0; k < LOCK_UP_POSES && step >= least; k++) {
    if (f->at.t >= end) return 0;
    const lw_status e = assemble(f, fmin(f->at.t + step, end), f->at.q);
    if (!e && continues(f)) {
      move_on(f);
      step *= 2.0;
      continue;
    }
    step /= 4.0;
    if (e != LW_ERROR_ASSEMBLY) continue;
    fault = 1;
    f->run->cause = e;
    snprintf(f->run->cause_text, sizeof f->run->cause_text, "%s", lw_state_message(f->state));
  }
  return fault && step < least;
}

/* ---- which drives lock up ---- */

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0.0;
  for (int32_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

static void take_away(double *row, const double *unit, int32_t n) {
  const double part = dot(row, unit, n);
  for (int32_t k = 0; k < n; k++) row[k] -= part * unit[k];
}

/* Takes the span of the first rows from all that follow; these are made orthonormal, the largest remaining one first. */
static void project_out(double *matrix, int32_t rows, int32_t all, int32_t n) {
  double first = 0.0;
  for (int32_t k = 0; k < rows; k++) {
    double *pivot = matrix + (size_t)k * (size_t)n, *best = pivot;
    for (int32_t i = k; i < rows; i++) {
      double *row = matrix + (size_t)i * (size_t)n;
      if (dot(row, row, n) > dot(best, best, n)) best = row;
    }
    const double size = sqrt(dot(best, best, n));
    first = k ? first : size;
    if (!(size > LOCK_UP_RANK * first)) return;
    for (int32_t i = 0; i < n; i++) {
      const double kept = pivot[i];
      pivot[i] = best[i] / size;
      if (best != pivot) best[i] = kept;
    }
    for (int32_t i = k + 1; i < all; i++)
      for (int twice = 0; twice < 2; twice++) take_away(matrix + (size_t)i * (size_t)n, pivot, n);
  }
}

/* The combination of rows that is least: the eigenvector of the smallest eigenvalue of their Gram matrix, by Jacobi's
 * rotations. `gram` and `vectors` are rows x rows. Returns the column of it. */
static int32_t least_combination(double *gram, double *vectors, int32_t rows) {
  const size_t n = (size_t)rows;
  for (size_t i = 0; i < n * n; i++) vectors[i] = i % (n + 1) ? 0.0 : 1.0;
  for (int sweep = 0; sweep < 60; sweep++)
    for (size_t p = 0; p < n; p++)
      for (size_t q = p + 1; q < n; q++) {
        if (gram[p * n + q] == 0.0) continue;
        const double theta = 0.5 * (gram[q * n + q] - gram[p * n + p]) / gram[p * n + q];
        const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
        const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (size_t k = 0; k < n; k++) {
          const double a = gram[k * n + p], b = gram[k * n + q], v = vectors[k * n + p], w = vectors[k * n + q];
          gram[k * n + p] = c * a - s * b, gram[k * n + q] = s * a + c * b;
          vectors[k * n + p] = c * v - s * w, vectors[k * n + q] = s * v + c * w;
        }
        for (size_t k = 0; k < n; k++) {
          const double a = gram[p * n + k], b = gram[q * n + k];
          gram[p * n + k] = c * a - s * b, gram[q * n + k] = s * a + c * b;
        }
      }
  size_t least = 0;
  for (size_t k = 1; k < n; k++)
    if (gram[k * n + k] < gram[least * n + least]) least = k;
  return (int32_t)least;
}

/* Of drives those that the other constraints block: the rows of a combination that no motion changes. With the admissible
 * motions N without the drives and the rows D of these, D N loses rank there. drives[]: 1 for each, 0 for those that have no
 * part in it. */
static void find_blocked(follower *f, int32_t count, unsigned char *drives) {
  const lw_model *m = f->run->model;
  const int32_t all = lw_constraint_rows(m), n = f->run->size.nu, first = all - f->run->size.couplings;
  const size_t width = (size_t)n, square = (size_t)count * (size_t)count;
  double *matrix = calloc((size_t)(2 * all) * width + 2 * square + 1, sizeof *matrix);
  if (!matrix) return;
  double *sorted = matrix + (size_t)all * width, *gram = sorted + (size_t)all * width;
  if (!lw_constraint_jacobian(f->state, matrix)) {
    int32_t others = 0, at = all - count;
    for (int32_t k = 0; k < all; k++) {
      const int is_drive = k >= first && drives[k - first];
      double *to = sorted + (size_t)(is_drive ? at++ : others++) * width;
      memcpy(to, matrix + (size_t)k * width, sizeof *to * width);
      const double size = is_drive ? sqrt(dot(to, to, n)) : 1.0;
      for (int32_t i = 0; i < n && size > 0.0; i++) to[i] /= size;
    }
    project_out(sorted, others, all, n);
    const double *rows = sorted + (size_t)others * width;
    for (int32_t i = 0; i < count; i++)
      for (int32_t j = 0; j < count; j++)
        gram[i * count + j] = dot(rows + (size_t)i * width, rows + (size_t)j * width, n);
    const int32_t column = least_combination(gram, gram + square, count);
    double largest = 0.0;
    for (int32_t i = 0; i < count; i++) largest = fmax(largest, fabs((gram + square)[i * count + column]));
    for (int32_t k = 0, i = 0; k < f->run->size.couplings; k++)
      if (drives[k]) drives[k] = fabs((gram + square)[i++ * count + column]) >= LOCK_UP_SHARE * largest;
  }
  free(matrix);
}

/* ---- in words ---- */

typedef struct words {
  char drives[400], joints[400], values[600];
  int32_t n_drives, n_joints, n_values;
} words;

static void list(char *text, size_t size, int32_t *count, const char *between, const char *one) {
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s", (*count)++ ? between : "", one);
}

static void add_joint(words *w, const char *name) {
  char quoted[200];
  snprintf(quoted, sizeof quoted, "'%s'", name);
  if (!strstr(w->joints, quoted)) list(w->joints, sizeof w->joints, &w->n_joints, ", ", quoted);
}

static void add_coordinate(const follower *f, words *w, const lw_term *term) {
  const lw_model *m = f->run->model;
  const lw_joint *joint = lw_joint_with(m, 0, term->u);
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  const char *name = m->joint_name[joint - m->joint];
  const int32_t q = m->coordinate[term->u];
  char one[260], element[16] = "";
  if (size->q > 1) snprintf(element, sizeof element, "[%d]", (int)(q - joint->q + 1));
  snprintf(one, sizeof one, "%s.q%s = %.9g %s", name, element, f->at.q[q],
           size->translations >> (term->u - joint->u) & 1 ? "m" : "rad");
  if (!strstr(w->values, one)) list(w->values, sizeof w->values, &w->n_values, " and ", one);
  add_joint(w, name);
}

static void add_lock_up(follower *f, const unsigned char *drives) {
  const lw_model *m = f->run->model;
  words w = {"", "", "", 0, 0, 0};
  for (int32_t k = 0; k < f->run->size.couplings; k++) {
    char quoted[200];
    if (!drives[k]) continue;
    snprintf(quoted, sizeof quoted, "'%s'", m->coupling_name[k]);
    list(w.drives, sizeof w.drives, &w.n_drives, ", ", quoted);
    for (int32_t i = 0; i < m->coupling[k].terms; i++) add_coordinate(f, &w, &m->term[m->coupling[k].first + i]);
  }
  const int one = w.n_drives == 1;
  lw_run_add(
      f->run,
      ". The mechanism locks up: %s %s cannot move %s %s beyond %s, reached at t = %.9g s, where its loops are at the "
      "end of their range. Keep %s within that range, or drive another joint instead of %s",
      one ? "drive" : "drives", w.drives, w.n_joints > 1 ? "joints" : "joint", w.joints, w.values, f->at.t,
      one ? "its motion" : "motions", one ? "it" : "them");
}

/* Of couplings, as drives[] notes them. */
static int32_t find_drives(const lw_run *r, unsigned char *drives) {
  int32_t count = 0;
  for (int32_t k = 0; k < r->size.couplings; k++) count += drives[k] = (unsigned char)lw_prescribes_motion(r->state, k);
  return count;
}

static void forget_starts(follower *f) {
  double *x = lw_state_reals(f->state);
  const lw_model *m = f->run->model;
  memset(x + m->at.q_priority, 0, sizeof *x * (size_t)f->nq);
  memset(x + m->at.u_priority, 0, sizeof *x * (size_t)f->nu);
  memset(x + m->at.u_start, 0, sizeof *x * (size_t)f->nu);
  if (!f->run->n_discrete) return;
  memcpy(x + m->at.joint_closed, lw_state_reals(f->run->state) + m->at.joint_closed,
         sizeof *x * (size_t)f->run->n_discrete);
  lw_discrete_state_changed(f->state);
}

static int explain(follower *f, unsigned char *drives) {
  lw_run *r = f->run;
  const double span = r->options.t_end - r->began;
  const int32_t count = find_drives(r, drives);
  forget_starts(f);
  if (!count || !find_followed(f) || !find_end(f, span, r->t + LOCK_UP_AHEAD * span)) return 0;
  memcpy(f->guess, f->at.q, sizeof *f->guess * (size_t)f->nq);
  if (count > 1 && !assemble(f, f->at.t, f->guess)) find_blocked(f, count, drives);
  add_lock_up(f, drives);
  return 1;
}

int lw_run_explain_lock_up(lw_run *r) {
  follower f = {.run = r, .nq = r->size.nq + r->size.nq_cut, .nu = r->size.nu + r->size.nu_cut};
  if (!r->size.couplings || !r->record.t.count || r->direction < 0.0) return 0;
  if (lw_run_enter_part(r, -1) || lw_state_create(r->model, &f.state)) return 0;
  const size_t nq = (size_t)f.nq, nu = (size_t)f.nu;
  double *memory = malloc(sizeof *memory * (3 * nq + 2 * nu) + (size_t)r->size.couplings);
  int found = 0;
  if (memory) {
    f.at = (pose){0.0, memory, memory + nq}, f.found = (pose){0.0, memory + nq + nu, memory + 2 * nq + nu};
    f.guess = memory + 2 * (nq + nu);
    found = explain(&f, (unsigned char *)(memory + 3 * nq + 2 * nu));
  }
  free(memory);
  lw_state_free(f.state);
  return found;
}
