/* Times formulas without Python. time_formulas alone prints the formulas that are here in C as well: text, then parameters
 * and their values. time_formulas MODEL prints for each formula of the model the CPU time of one evaluation in ns: free,
 * held at the kinks it has, of the C here (nan: it is not here, as one by a table), then of loading the model and making a
 * state in us. Those of the model that are here are its first ones. The coordinate is another one each time. */
#pragma GCC diagnostic ignored "-Wunused-function" /* slopes of tables */
#include "formula/evaluate_kernel.h"
#include "linkwork.h"
#include "model/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 25, EVALUATIONS = 40000, SAMPLES = 1024 };

static double damper(double q, double u, const double *p) { return -p[0] * q - p[1] * u; }
static double hardening(double q, double u, const double *p) {
  return -p[0] * q - p[1] * q * q * q - p[2] * u * fabs(u);
}
static double bumper(double q, double u, const double *p) {
  const double depth = q - p[0];
  return depth > 0.0 ? -p[1] * depth * sqrt(depth) * (1.0 + p[2] * u) : 0.0;
}
static double stribeck(double q, double u, const double *p) {
  const double ratio = (q * p[3] + u) / p[2];
  return -p[0] * tanh(ratio) - p[1] * exp(-ratio * ratio);
}

static const struct here {
  double (*force)(double q, double u, const double *p);
  const char *text, *names;
  double p[4];
} here[] = {{damper, "-k*q - d*u", "k d", {300.0, 2.0}},
            {hardening, "-k*q - k3*q^3 - d*u*abs(u)", "k k3 d", {300.0, 4000.0, 2.0}},
            {bumper, "if(q > gap, -k*max(q - gap, 0)*sqrt(max(q - gap, 0))*(1 + c*u), 0)", "gap k c", {0.4, 5e4, 0.2}},
            {stribeck, "-f*tanh((q*w + u)/v) - g*exp(-((q*w + u)/v)^2)", "f g v w", {3.0, 1.0, 0.5, 0.1}}};
enum { HERE = sizeof here / sizeof *here };

_Noreturn static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Called where compilers cannot see which one it is. */
static void (*volatile evaluate)(const lw_program *, double *) = evaluate_program;

static double samples[SAMPLES];

/* Of a formula whose quantities are q and then u. Returns ns. */
static double time_program(const lw_program *program, double *x, double *sum) {
  double *q = x + program->quantity[0].offset, best = INFINITY;
  if (program->quantities > 1) x[program->quantity[1].offset] = 0.3;
  for (int batch = 0; batch < BATCHES; batch++) {
    const double start = now();
    *sum = 0.0;
    for (int i = 0; i < EVALUATIONS; i++) {
      *q = samples[i % SAMPLES];
      evaluate(program, x);
      *sum += x[program->result[0]];
    }
    best = fmin(best, now() - start);
  }
  return 1e9 * best / EVALUATIONS;
}

static double time_here(const struct here *h, double *sum) {
  double (*volatile force)(double, double, const double *) = h->force;
  double best = INFINITY;
  for (int batch = 0; batch < BATCHES; batch++) {
    const double start = now();
    *sum = 0.0;
    for (int i = 0; i < EVALUATIONS; i++) *sum += force(samples[i % SAMPLES], 0.3, h->p);
    best = fmin(best, now() - start);
  }
  return 1e9 * best / EVALUATIONS;
}

static void set_kinks(const lw_model *model, double *x, lw_kink_branch branch) {
  for (int32_t k = 0; k < model->size.kinks; k++) x[model->at.kink + LW_KINK_NUMBERS * k + LW_KINK_BRANCH] = branch;
}

static void print_times(const lw_model *model, double *x, int32_t formula) {
  const lw_program *program = model->program + formula;
  double free_sum, held_sum, own_sum, held = NAN, own = NAN;
  set_kinks(model, x, LW_KINK_FREE);
  const double as_it_is = time_program(program, x, &free_sum);
  if (program->kinks) {
    set_kinks(model, x, LW_KINK_SOUGHT);
    held = time_program(program, x, &held_sum);
  }
  if (formula < HERE && !program->tables) {
    own = time_here(&here[formula], &own_sum);
    if (!(fabs(own_sum - free_sum) <= 1e-12 * fabs(own_sum))) fail(here[formula].text, "differs from the C");
  }
  printf("%g %g %g\n", as_it_is, held, own);
}

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail(path, "cannot be read");
  *size = (size_t)ftell(file);
  void *bytes = malloc(*size + 1);
  rewind(file);
  if (!bytes || fread(bytes, 1, *size, file) != *size) fail(path, "cannot be read");
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  char message[256];
  size_t size;
  lw_model *model;
  lw_state *state;
  if (argc == 1)
    for (int k = 0; k < HERE; k++)
      printf("%s; %s; %g %g %g %g\n", here[k].text, here[k].names, here[k].p[0], here[k].p[1], here[k].p[2],
             here[k].p[3]);
  if (argc != 2) return 0;
  void *bytes = read_file(argv[1], &size);
  double load = INFINITY;
  for (int k = 0; k < 3; k++) {
    const double start = now();
    if (lw_model_load(bytes, size, &model, message, sizeof message)) fail(argv[1], message);
    if (lw_state_create(model, &state)) fail(argv[1], "no memory");
    if (lw_evaluate(state, LW_STAGE_ACCELERATIONS)) fail("evaluation", lw_state_message(state));
    load = fmin(load, now() - start);
    if (k < 2) lw_state_free(state), lw_model_free(model);
  }
  for (int i = 0; i < SAMPLES; i++) samples[i] = fmod(0.61803398874989485 * (i + 1), 1.0); /* spread over 0 to 1 */
  for (int32_t k = 0; k < model->size.formulas; k++) print_times(model, lw_state_reals(state), k);
  printf("%g\n", 1e6 * load);
  lw_state_free(state);
  lw_model_free(model);
  free(bytes);
  return 0;
}
