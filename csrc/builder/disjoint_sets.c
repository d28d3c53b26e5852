/* Union-find. */
#include "builder/plan.h"

int32_t lw_find_group(int32_t *group, int32_t body) {
  while (group[body] != body) body = group[body] = group[group[body]];
  return body;
}
