/* The built-in controllers. */
#include "controller.h"

#define CONTROLLERS(X) X(pid) X(state_feedback) X(skyhook) X(latch_supervisor) X(trajectory) X(signal)

#define DECLARE(name) extern const controller_type controller_##name;
#define ENTRY(name) &controller_##name,
CONTROLLERS(DECLARE)
const controller_type *const controller_types[] = {CONTROLLERS(ENTRY) NULL};
