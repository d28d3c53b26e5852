/* The n-body pendulum by SUNDIALS IDA, all in C: what a coupling without any Python costs.
 *
 * usage: time_ida TOLERANCE POINTS END < PENDULUM
 * The pendulum is text: n, then mass[n], inertia[n][9], inner[n][3], centre[n][3], gravity[3], support[3], X[14 n].
 * Prints CPU seconds, steps, residuals and linear solves, then X at the end. */
#include "linkwork.h"
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sundials/sundials_linearsolver.h>
#include <time.h>

typedef struct pendulum {
  lw_chain *chain;
  void *ida;
} pendulum;

static int residual(realtype t, N_Vector x, N_Vector xdot, N_Vector r, void *user) {
  pendulum *p = user;
  (void)t;
  lw_chain_residual(p->chain, N_VGetArrayPointer(x), N_VGetArrayPointer(xdot), N_VGetArrayPointer(r));
  return 0;
}

static SUNLinearSolver_Type type_of(SUNLinearSolver solver) {
  (void)solver;
  return SUNLINEARSOLVER_MATRIX_EMBEDDED;
}

/* IDA asks for no separate preparation of such a solver. */
static int solve(SUNLinearSolver solver, SUNMatrix none, N_Vector x, N_Vector b, realtype tolerance) {
  pendulum *p = solver->content;
  realtype t, cj;
  N_Vector y, ydot, r;
  void *user;
  (void)none, (void)tolerance;
  if (IDAGetNonlinearSystemData(p->ida, &t, &y, &ydot, &y, &ydot, &r, &cj, &user) != IDA_SUCCESS) return -1;
  if (lw_chain_factor(p->chain, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot), cj) != LW_OK) return 1;
  return lw_chain_solve(p->chain, N_VGetArrayPointer(b), N_VGetArrayPointer(x)) == LW_OK ? 0 : 1;
}

static int read_numbers(double *to, long n) {
  for (long i = 0; i < n; i++)
    if (scanf("%lf", to + i) != 1) return 0;
  return 1;
}

static lw_chain *read_chain(int n, double *x) {
  lw_chain_bodies bodies = {.n = n};
  double *room = malloc(sizeof(double) * (size_t)(16 * n));
  lw_chain *chain = NULL;
  if (room && read_numbers(room, 16L * n) && read_numbers(bodies.gravity, 3) && read_numbers(bodies.support, 3) &&
      read_numbers(x, 14L * n)) {
    bodies.mass = room, bodies.inertia = room + n, bodies.inner = room + 10 * n, bodies.centre = room + 13 * n;
    if (lw_chain_create(&bodies, &chain) != LW_OK) chain = NULL;
  }
  free(room);
  return chain;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  int n;
  SUNContext context;
  pendulum p;
  if (argc != 4 || scanf("%d", &n) != 1 || n < 1 || SUNContext_Create(NULL, &context)) return 2;
  const double tolerance = atof(argv[1]), points = atof(argv[2]), end = atof(argv[3]);
  N_Vector x = N_VNew_Serial(14 * n, context), xdot = N_VNew_Serial(14 * n, context);
  if (!(p.chain = read_chain(n, N_VGetArrayPointer(x)))) return 2;
  const double begin = now();
  lw_chain_derivative(p.chain, N_VGetArrayPointer(x), N_VGetArrayPointer(xdot));
  p.ida = IDACreate(context);
  SUNLinearSolver solver = SUNLinSolNewEmpty(context);
  solver->content = &p;
  solver->ops->gettype = type_of;
  solver->ops->solve = solve;
  if (IDAInit(p.ida, residual, 0.0, x, xdot) || IDASStolerances(p.ida, tolerance, tolerance) ||
      IDASetUserData(p.ida, &p) || IDASetLinearSolver(p.ida, solver, NULL) || IDASetMaxNumSteps(p.ida, -1))
    return 1;
  for (int k = 1; k <= points; k++) {
    realtype t;
    if (IDASolve(p.ida, k * end / points, &t, x, xdot, IDA_NORMAL) < 0) return 1;
  }
  long steps, residuals, solves;
  IDAGetNumSteps(p.ida, &steps), IDAGetNumResEvals(p.ida, &residuals), IDAGetNumNonlinSolvIters(p.ida, &solves);
  printf("%.9g %ld %ld %ld\n", now() - begin, steps, residuals, solves);
  for (int i = 0; i < 14 * n; i++) printf("%.17g\n", N_VGetArrayPointer(x)[i]);
  return 0;
}
