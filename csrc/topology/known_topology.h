/* The topology of a compiled model as a description, from which the builder compiles its variants. */
#ifndef LW_TOPOLOGY_KNOWN_TOPOLOGY_H
#define LW_TOPOLOGY_KNOWN_TOPOLOGY_H
#include "builder/plan.h"

/* Fills a builder and a plan, which lw_free_description() frees in any case. */
lw_status lw_describe_topology(const lw_model *m, lw_builder *b, plan *p);
void lw_free_description(lw_builder *b, plan *p);
#endif
