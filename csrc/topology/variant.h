/* The topology variants of a model on demand: compiled when they are first needed, and kept. */
#ifndef LW_TOPOLOGY_VARIANT_H
#define LW_TOPOLOGY_VARIANT_H
#include "model/model.h"

/* The variant in which these of the removable joints are closed, one use more (see load/kept_variants.h); on failure
 * `why` says in words what is wrong. */
lw_status lw_variant_with(const lw_model *m, const unsigned char *closed, const lw_model **variant, char *why,
                          size_t size);
#endif
