/* Times Pinocchio's analytic derivatives of the accelerations by q, v and tau, forward dynamics included; reads the text
 * that the driver of the peers reads. Prints the best CPU time, us, and the matrices row by row: by q, by v, by tau. */
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#ifdef WITH_CONSTRAINTS
#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#endif
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

using namespace pinocchio;

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* us, the best of 25 batches of 16 ms at least. */
template <typename work>
static double time_of(const work &evaluate) {
  long count = 1;
  double best = std::numeric_limits<double>::infinity();
  const auto spent = [&](long n) {
    const double begin = now();
    for (long i = 0; i < n; i++) evaluate();
    return now() - begin;
  };
  while (spent(count) < 0.016) count *= 2;
  for (int k = 0; k < 25; k++) best = std::min(best, spent(count) / (double)count);
  return 1e6 * best;
}

static Eigen::Vector3d read_vector() {
  Eigen::Vector3d found;
  for (int i = 0; i < 3; i++) std::cin >> found[i];
  return found;
}

static void add_joint(Model &model, int number) {
  int parent, type;
  std::cin >> parent >> type;
  const SE3 place(Eigen::Matrix3d::Identity(), read_vector());
  const std::string name = "j" + std::to_string(number);
  JointIndex id = 0;
  switch (type) {
    case 0: id = model.addJoint((JointIndex)parent, JointModelRX(), place, name); break;
    case 1: id = model.addJoint((JointIndex)parent, JointModelRY(), place, name); break;
    case 2: id = model.addJoint((JointIndex)parent, JointModelRZ(), place, name); break;
    default:
      id = model.addJoint((JointIndex)parent, JointModelUniversal(Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY()),
                          place, name);
  }
  double mass, inertia[6];
  std::cin >> mass;
  const Eigen::Vector3d com = read_vector();
  for (double &one : inertia) std::cin >> one;
  const Symmetric3 about(inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]);
  model.appendBodyToJoint(id, Inertia(mass, com, about), SE3::Identity());
}

template <typename matrix>
static void print(const matrix &of) {
  for (Eigen::Index i = 0; i < of.rows(); i++)
    for (Eigen::Index k = 0; k < of.cols(); k++) std::printf(" %.17g", of(i, k));
}

int main() {
  int joints, pins;
  std::cin >> joints;
  Model model;
  for (int i = 0; i < joints; i++) add_joint(model, i);
  model.gravity.linear(read_vector());
  Eigen::VectorXd q(model.nv), v(model.nv), tau(model.nv);
  for (Eigen::VectorXd *one : {&q, &v, &tau})
    for (double &number : *one) std::cin >> number;
  std::cin >> pins;
  Data data(model);
#ifdef WITH_CONSTRAINTS
  std::vector<RigidConstraintModel> constraints;
  std::vector<RigidConstraintData> of_constraints;
  for (int i = 0; i < pins; i++) {
    int joint[2];
    Eigen::Vector3d point[2];
    for (int end = 0; end < 2; end++) std::cin >> joint[end], point[end] = read_vector();
    std::string equations;
    std::cin >> equations;
    const SE3 first(Eigen::Matrix3d::Identity(), point[0]), second(Eigen::Matrix3d::Identity(), point[1]);
    constraints.emplace_back(CONTACT_3D, model, (JointIndex)joint[0], first, (JointIndex)joint[1], second, LOCAL);
  }
  for (const RigidConstraintModel &one : constraints) of_constraints.emplace_back(one);
  initConstraintDynamics(model, data, constraints, of_constraints);
  ProximalSettings settings(1e-12, 1e-12, 1);
  std::printf("%.9g", time_of([&] {
                settings.iter = 0;
                constraintDynamics(model, data, q, v, tau, constraints, of_constraints, settings);
                computeConstraintDynamicsDerivatives(model, data, constraints, of_constraints, settings);
              }));
  print(data.ddq_dq), print(data.ddq_dv), print(data.ddq_dtau);
#else
  std::printf("%.9g", time_of([&] { computeABADerivatives(model, data, q, v, tau); }));
  data.Minv.triangularView<Eigen::StrictlyLower>() = data.Minv.transpose().triangularView<Eigen::StrictlyLower>();
  print(data.ddq_dq), print(data.ddq_dv), print(data.Minv);
#endif
  std::printf("\n");
  return 0;
}
