// The four-bar linkage of four_bar.py, a crank-rocker under gravity: made, assembled and simulated in C++17.
#include <linkwork.h>

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

template <class T, void (*free)(T *)>
struct Free {
  void operator()(T *object) const { free(object); }
};
using Builder = std::unique_ptr<lw_builder, Free<lw_builder, lw_builder_free>>;
using Model = std::unique_ptr<lw_model, Free<lw_model, lw_model_free>>;
using State = std::unique_ptr<lw_state, Free<lw_state, lw_state_free>>;
using Ode = std::unique_ptr<lw_ode, Free<lw_ode, lw_ode_free>>;

constexpr double crank = 0.4, coupler = 1.0, rocker = 0.8, base = 0.9;  // m
constexpr int rows = 51;                                                // of output, 0.1 s apart

void add_rod(lw_builder *b, const char *name, double mass, double length) {
  const std::array<double, 3> com{length / 2, 0, 0};
  const double across = mass * length * length / 12;
  const std::array<double, 9> inertia{0, 0, 0, 0, across, 0, 0, 0, across};
  lw_builder_add_body(b, name, mass, com.data(), inertia.data());
}

void add_hinge(lw_builder *b, const char *name, const char *parent, const char *child, double on_parent, double on_child) {
  const lw_joint_kind hinge = {"revolute", {0, 1, 0}, 0.0, NULL, 0};  // the plane of motion is x-z
  lw_frame parent_frame = {}, child_frame = {};
  parent_frame.position[0] = on_parent;
  child_frame.position[0] = on_child;
  lw_builder_add_joint(b, name, &hinge, parent, child, &parent_frame, &child_frame);
}

Model make_four_bar() {
  lw_builder *made = nullptr;
  if (lw_builder_create(&made)) throw std::bad_alloc();
  const Builder b(made);
  add_rod(made, "crank", 1.0, crank);
  add_rod(made, "coupler", 2.0, coupler);
  add_rod(made, "rocker", 1.5, rocker);
  add_hinge(made, "A", "ground", "crank", 0.0, 0.0);
  add_hinge(made, "B", "crank", "coupler", crank, 0.0);
  add_hinge(made, "C", "coupler", "rocker", coupler, 0.0);
  add_hinge(made, "D", "ground", "rocker", base, rocker);  // closes the loop
  const double q[] = {-1.0, 0.6, 1.9}, u = -2.0;
  const char *names[] = {"A", "B", "C"};
  for (int i = 0; i < 3; i++) lw_builder_start_q(made, names[i], &q[i]);
  lw_builder_start_u(made, "A", &u);
  lw_model *model = nullptr;
  if (lw_builder_finish(made, &model)) throw std::runtime_error(lw_builder_message(made));
  return Model(model);
}

void check(lw_status status, const State &state) {
  if (status) throw std::runtime_error(lw_state_message(state.get()));
}

void print_accelerations(const Model &model, const State &state) {
  check(lw_evaluate(state.get(), LW_STAGE_DERIVATIVES), state);
  for (int32_t i = 0; i < lw_model_count(model.get(), LW_KIND_JOINT); i++) {
    const char *joint = lw_model_name(model.get(), LW_KIND_JOINT, i);
    int32_t first = 0, count = 0;
    if (lw_model_find_variable(model.get(), "acceleration", joint, &first, &count)) throw std::logic_error(joint);
    std::printf("acceleration %s %.17g\n", joint, lw_state_reals(state.get())[first]);
  }
}

void simulate(const Model &model, const State &state) {
  const lw_sizes size = lw_model_sizes(model.get());
  const int32_t n = size.nq + size.nu;
  int32_t first = 0, count = 0;
  lw_model_find_variable(model.get(), "q", nullptr, &first, &count);
  const double *x = lw_state_reals(state.get()) + first;
  const std::vector<double> start(x, x + n);  // u follows q
  lw_ode_options options = {};
  options.rtol = 1e-9;
  options.atol = 1e-11;
  const Ode ode(lw_ode_create(n, 0, lw_ode_mechanism, nullptr, state.get(), &options));
  if (!ode) throw std::bad_alloc();
  std::vector<double> t(rows), y(static_cast<size_t>(rows * n));
  for (int i = 0; i < rows; i++) t[static_cast<size_t>(i)] = 0.1 * i;
  lw_ode_output output = {};
  output.times_given = 1;
  output.capacity = rows;
  output.t = t.data();
  output.y = y.data();
  if (lw_ode_start(ode.get(), 0.0, start.data()) != LW_ODE_STEP ||
      lw_ode_run(ode.get(), t.back(), 0, &output) != LW_ODE_STEP || output.count != rows)
    throw std::runtime_error("the integrator gave up");
  for (size_t i = 0; i < t.size(); i++)  // time, angle and speed of the crank
    std::printf("motion %.17g %.17g %.17g\n", t[i], y[i * static_cast<size_t>(n)], y[i * static_cast<size_t>(n) + 3]);
}

}  // namespace

int main() try {
  const Model model = make_four_bar();
  lw_state *made = nullptr;
  if (lw_state_create(model.get(), &made)) throw std::bad_alloc();
  const State state(made);
  check(lw_assemble(state.get(), 1e-10), state);
  print_accelerations(model, state);
  simulate(model, state);
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
