/* Variables whose names do not depend on the user, for a law with rows VARIABLES(X) of X(name, role, type): an
 * enumeration of their positions, and a function that takes them in this order. */
#ifndef LINKWORK_CONTROLLER_NAMED_H
#define LINKWORK_CONTROLLER_NAMED_H
#include "controller.h"

#define NAMED_POSITION(name, role, type) name,
#define NAMED_TAKE(name, role, type) controller_take(b, #name, CONTROLLER_##role, CONTROLLER_##type);
#define DEFINE_NAMED(VARIABLES)                                           \
  enum { VARIABLES(NAMED_POSITION) };                                     \
  static void take_named(controller_binding *b) { VARIABLES(NAMED_TAKE) }
#endif
