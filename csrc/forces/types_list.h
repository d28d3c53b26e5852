/* The types of forces in the order of their numbers in the block: a file and an entry each. Those by formulas stand behind
 * the others, in the order of the formulas. */
#include "forces/spring_kernel.h"
#include "forces/wrench_kernel.h"
#include "forces/actuator_kernel.h"
#include "forces/friction_kernel.h"
#include "forces/bushing_kernel.h"
#include "forces/joint_formula_kernel.h"
#include "forces/line_formula_kernel.h"
#include "forces/point_formula_kernel.h"
#include "forces/brake_kernel.h"
#include "forces/frame_formula_kernel.h"
#define LW_EACH_BUILT_IN_FORCE(F, X) F(SPRING, X) F(WRENCH, X) F(ACTUATOR, X) F(FRICTION, X) F(BUSHING, X)
#define LW_EACH_FORMULA_FORCE(F, X)                                                          \
  F(JOINT_FORMULA, X) F(LINE_FORMULA, X) F(POINT_FORMULA, X) F(BRAKE, X) F(FRAME_FORMULA, X)
#define LW_EACH_FORCE(F, X) LW_EACH_BUILT_IN_FORCE(F, X) LW_EACH_FORMULA_FORCE(F, X)
/* Those that stick: of TYPE, type the fields type_state, type_limit and type_force. */
#define LW_EACH_STICKING_FORCE(F) F(FRICTION, friction) F(BRAKE, brake)
