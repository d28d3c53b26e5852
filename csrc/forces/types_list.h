/* The types of forces in the order of their numbers in the block: a file and an entry each. */
#include "forces/spring_kernel.h"
#include "forces/wrench_kernel.h"
#include "forces/actuator_kernel.h"
#define LW_EACH_FORCE(F, X) F(SPRING, X) F(WRENCH, X) F(ACTUATOR, X)
