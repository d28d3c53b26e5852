/* Calls every lw_chain and lw_ida function, with valid and invalid arguments, for chains of 1 to N bodies. Run it with
 * the sanitizers and valgrind: Python tests check the numbers, this driver checks memory and error returns. */
#include "expect.h"
#include "linkwork.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS = 14 };

/* An allocation of exactly this size, so that access past the end is detected; numbers between -1 and 1. */
static double *reals(size_t n) {
  double *p = malloc(n * sizeof *p);
  if (!p) exit(2);
  for (size_t i = 0; i < n; i++) p[i] = 2.0 * random_below(UINT32_MAX) / UINT32_MAX - 1.0;
  return p;
}

static lw_chain *make(int32_t n, int32_t dense) {
  double *mass = reals((size_t)n), *inertia = reals(9 * (size_t)n);
  double *inner = reals(3 * (size_t)n), *centre = reals(3 * (size_t)n);
  lw_chain *chain = NULL, *refused = NULL;
  for (int32_t i = 0; i < n; i++) mass[i] = 1.5 + mass[i];
  for (int32_t i = 0; i < 9 * n; i++) inertia[i] = i % 9 % 4 == 0 ? 0.2 : 0.01;
  lw_chain_bodies given = {n, dense, mass, inertia, inner, centre, {0.0, 0.0, -9.81}, {0.0, 0.0, 0.0}};
  EXPECT(lw_chain_create(&given, &chain) == LW_OK && chain);
  given.n = 0;
  EXPECT(lw_chain_create(&given, &refused) == LW_ERROR_PARAMETER && !refused);
  given.n = INT32_MAX;
  EXPECT(lw_chain_create(&given, &refused) == LW_ERROR_PARAMETER && !refused);
  given.n = n;
  mass[n - 1] = -1.0;
  EXPECT(lw_chain_create(&given, &refused) == LW_ERROR_PARAMETER && !refused);
  free(mass), free(inertia), free(inner), free(centre);
  return chain;
}

static double largest(const double *x, size_t n) {
  double most = 0.0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* Solves J x = b with the factored J. */
static void expect_solution(lw_chain *chain, const double *matrix, const double *b, double *x, size_t size) {
  EXPECT(lw_chain_solve(chain, b, x) == LW_OK);
  for (size_t i = 0; i < size; i++) {
    double left = -b[i], scale = fabs(b[i]);
    for (size_t j = 0; j < size; j++) {
      left += matrix[i * size + j] * x[j];
      scale += fabs(matrix[i * size + j] * x[j]);
    }
    EXPECT(fabs(left) <= 1e-9 * scale);
  }
  double *same = malloc(size * sizeof *same);
  if (!same) exit(2);
  memcpy(same, b, size * sizeof *same);
  EXPECT(lw_chain_solve(chain, same, same) == LW_OK);
  EXPECT(memcmp(same, x, size * sizeof *same) == 0);
  free(same);
}

static void expect_refusals(lw_chain *chain, double *x, const double *xdot, double *out, int32_t dense) {
  const double saved = x[6];
  x[6] = NAN;
  EXPECT(lw_chain_factor(chain, x, xdot, 10.0) == LW_ERROR_VALUE);
  if (dense) EXPECT(lw_chain_reduce(chain, x, xdot, 10.0) == LW_ERROR_VALUE);
  EXPECT(lw_chain_derivative(chain, x, out) == LW_ERROR_VALUE);
  EXPECT(lw_chain_solve(chain, xdot, out) == LW_ERROR_USAGE);
  EXPECT(lw_chain_rate_times(chain, xdot, out) == LW_ERROR_USAGE);
  lw_chain_residual(chain, x, xdot, out);
  EXPECT(isnan(out[9]));
  memset(x + 6, 0, 4 * sizeof *x);
  EXPECT(lw_chain_make_consistent(chain, x) == LW_ERROR_VALUE);
  x[6] = saved;
}

static double *identity(void *vector) { return vector; } /* for N_VGetArrayPointer: a vector is its array */

/* Compares the functions that IDA calls with direct calls; x and xdot need not be consistent. */
static void drive_ida(lw_chain *chain, int32_t reduced, double *x, double *xdot, const double *b, size_t size) {
  double *out = reals(size), *expected = reals(size), *vector = reals(size);
  lw_ida ida = {.get_array = identity,
                .work = reals(size),
                .n = (int32_t)size,
                .factor_needed = 1,
                .time_scale = 1.0,
                .cj = 10.0};
  lw_chain_implicit(chain, reduced, &ida.equations);
  EXPECT(lw_ida_residual(0.0, x, xdot, out, &ida) == 0);
  EXPECT(ida.residuals == 1 && ida.factorisations == 1 && !ida.factor_needed && !ida.not_finite && !ida.singular);
  lw_chain_residual(chain, x, xdot, expected);
  EXPECT(lw_chain_solve(chain, expected, expected) == LW_OK);
  EXPECT(memcmp(out, expected, size * sizeof *out) == 0);

  memcpy(vector, b, size * sizeof *b);
  EXPECT(lw_ida_jac_times(0.0, x, xdot, out, vector, out, 10.0, &ida, NULL, NULL) == 0);
  EXPECT(memcmp(out, b, size * sizeof *out) == 0); /* cj is unchanged */
  EXPECT(lw_ida_jac_times(0.0, x, xdot, out, vector, out, 15.0, &ida, NULL, NULL) == 0);
  EXPECT(lw_chain_rate_times(chain, b, expected) == LW_OK);
  EXPECT(lw_chain_solve(chain, expected, expected) == LW_OK);
  for (size_t i = 0; i < size; i++) EXPECT(fabs(out[i] - b[i] - 5.0 * expected[i]) <= 1e-12 * (1.0 + fabs(out[i])));

  EXPECT(lw_ida_residual(0.1, x, xdot, out, &ida) == 0 && ida.factorisations == 1);
  EXPECT(lw_ida_jac_times_setup(0.1, x, xdot, out, 15.0, &ida) == 0 && ida.factor_needed);
  EXPECT(lw_ida_residual(0.1, x, xdot, out, &ida) == 0 && ida.factorisations == 2 && ida.cj_factored == 15.0);
  const double saved = x[6];
  x[6] = NAN;
  EXPECT(lw_ida_residual(0.1, x, xdot, out, &ida) > 0 && ida.not_finite);
  x[6] = saved;
  EXPECT(lw_ida_residual(0.1, x, xdot, out, &ida) == 0 && !ida.not_finite);
  free(out), free(expected), free(vector), free(ida.work);
}

/* A reduced matrix that is not allocated is reported like a singular one. */
static void expect_ida_refusal(lw_chain *chain, double *x, double *xdot, double *out, size_t size) {
  lw_ida ida = {.get_array = identity,
                .work = reals(size),
                .n = (int32_t)size,
                .factor_needed = 1,
                .time_scale = 1.0,
                .cj = 10.0};
  lw_chain_implicit(chain, 1, &ida.equations);
  EXPECT(lw_ida_residual(0.0, x, xdot, out, &ida) > 0);
  EXPECT(ida.singular && ida.factor_needed && ida.cj > 10.0);
  free(ida.work);
}

static void drive(int32_t n, int32_t dense) {
  const size_t size = UNKNOWNS * (size_t)n;
  double *x = reals(size), *xdot = reals(size), *b = reals(size), *out = reals(size), *matrix = reals(size * size);
  lw_chain *chain = make(n, dense);
  static char bodies[30];
  snprintf(bodies, sizeof bodies, "%d bodies", (int)n);
  subject = bodies;
  EXPECT(lw_chain_solve(chain, b, out) == LW_ERROR_USAGE);
  lw_chain_jacobian(chain, x, xdot, 10.0, matrix);
  EXPECT(lw_chain_factor(chain, x, xdot, 10.0) == LW_OK);
  expect_solution(chain, matrix, b, out, size);
  EXPECT(lw_chain_rate_times(chain, b, b) == LW_OK);
  EXPECT(lw_chain_reduce(chain, x, xdot, 10.0) == (dense ? LW_OK : LW_ERROR_USAGE));
  if (dense) expect_solution(chain, matrix, b, out, size);
  drive_ida(chain, 0, x, xdot, b, size);
  if (dense) drive_ida(chain, 1, x, xdot, b, size);
  else expect_ida_refusal(chain, x, xdot, out, size);

  EXPECT(lw_chain_make_consistent(chain, x) == LW_OK);
  EXPECT(lw_chain_derivative(chain, x, xdot) == LW_OK);
  lw_chain_residual(chain, x, xdot, out);
  EXPECT(largest(out, size) <= 1e-11 * (1.0 + largest(xdot, size)) * n);
  expect_refusals(chain, x, xdot, out, dense);
  lw_chain_free(chain);
  free(x), free(xdot), free(b), free(out), free(matrix);
}

int main(int argc, char **argv) {
  const int32_t most = argc > 1 ? (int32_t)atoi(argv[1]) : 20;
  lw_chain_free(NULL);
  for (int32_t n = 1; n <= most; n++)
    for (int32_t dense = 0; dense < 2; dense++) drive(n, dense);
  return failures != 0;
}
