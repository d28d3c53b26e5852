/* The four-bar linkage of four_bar.py, a crank-rocker under gravity: made, assembled and simulated in C99. */
#include <linkwork.h>
#include <stdio.h>

#define CRANK 0.4 /* m */
#define COUPLER 1.0
#define ROCKER 0.8
#define BASE 0.9
#define ROWS 51 /* of output, 0.1 s apart */

static void add_rod(lw_builder *b, const char *name, double mass, double length) {
  const double com[3] = {length / 2, 0, 0}, across = mass * length * length / 12;
  const double inertia[9] = {0, 0, 0, 0, across, 0, 0, 0, across};
  lw_builder_add_body(b, name, mass, com, inertia);
}

static void add_hinge(lw_builder *b, const char *name, const char *parent, const char *child, double on_parent,
                      double on_child) {
  const lw_joint_kind hinge = {"revolute", {0, 1, 0}, 0.0, NULL, 0}; /* the plane of motion is x-z */
  const lw_frame parent_frame = {{on_parent, 0, 0}, {0}}, child_frame = {{on_child, 0, 0}, {0}};
  lw_builder_add_joint(b, name, &hinge, parent, child, &parent_frame, &child_frame);
}

/* The builder keeps the first failure, which lw_builder_finish returns: the calls before go unchecked. */
static lw_model *make_four_bar(void) {
  const double q[3] = {-1.0, 0.6, 1.9}, u = -2.0;
  lw_builder *b;
  lw_model *model = NULL;
  if (lw_builder_create(&b)) return NULL;
  add_rod(b, "crank", 1.0, CRANK);
  add_rod(b, "coupler", 2.0, COUPLER);
  add_rod(b, "rocker", 1.5, ROCKER);
  add_hinge(b, "A", "ground", "crank", 0.0, 0.0);
  add_hinge(b, "B", "crank", "coupler", CRANK, 0.0);
  add_hinge(b, "C", "coupler", "rocker", COUPLER, 0.0);
  add_hinge(b, "D", "ground", "rocker", BASE, ROCKER); /* closes the loop */
  lw_builder_start_q(b, "A", &q[0]);
  lw_builder_start_q(b, "B", &q[1]);
  lw_builder_start_q(b, "C", &q[2]);
  lw_builder_start_u(b, "A", &u);
  if (lw_builder_finish(b, &model)) fprintf(stderr, "%s\n", lw_builder_message(b));
  lw_builder_free(b);
  return model;
}

static int print_accelerations(const lw_model *model, lw_state *state) {
  if (lw_evaluate(state, LW_STAGE_DERIVATIVES)) return 1;
  for (int32_t i = 0; i < lw_model_count(model, LW_KIND_JOINT); i++) {
    const char *joint = lw_model_name(model, LW_KIND_JOINT, i);
    int32_t first, count;
    if (lw_model_find_variable(model, "acceleration", joint, &first, &count)) return 1;
    printf("acceleration %s %.17g\n", joint, lw_state_reals(state)[first]);
  }
  return 0;
}

/* The states are the coordinates and speeds of A, B and C; D was cut. */
static int simulate(const lw_model *model, lw_state *state) {
  const double *x = lw_state_reals(state);
  const lw_ode_options options = {.rtol = 1e-9, .atol = 1e-11};
  int32_t first_q, count;
  double y[6], t[ROWS], rows[ROWS][6];
  lw_ode_output output = {.times_given = 1, .capacity = ROWS, .t = t, .y = &rows[0][0]};
  if (lw_model_find_variable(model, "q", NULL, &first_q, &count) || count != 3) return 1;
  for (int i = 0; i < 6; i++) y[i] = x[first_q + i]; /* u follows q */
  for (int i = 0; i < ROWS; i++) t[i] = 0.1 * i;
  lw_ode *ode = lw_ode_create(6, 0, lw_ode_mechanism, NULL, state, &options);
  if (!ode) return 1;
  lw_ode_outcome outcome = lw_ode_start(ode, 0.0, y);
  if (outcome == LW_ODE_STEP) outcome = lw_ode_run(ode, t[ROWS - 1], 0, &output);
  lw_ode_free(ode);
  for (int64_t i = 0; i < output.count; i++)
    printf("motion %.17g %.17g %.17g\n", t[i], rows[i][0], rows[i][3]); /* time, angle and speed of the crank */
  return outcome != LW_ODE_STEP || output.count != ROWS;
}

int main(void) {
  lw_model *model = make_four_bar();
  lw_state *state = NULL;
  int failed = !model || lw_state_create(model, &state) || lw_assemble(state, 1e-10) ||
               print_accelerations(model, state) || simulate(model, state);
  if (failed && state) fprintf(stderr, "%s\n", lw_state_message(state));
  lw_state_free(state);
  lw_model_free(model);
  return failed;
}
