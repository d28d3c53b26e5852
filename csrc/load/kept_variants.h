/* The topology variants that a model keeps: those that states are in, and of the others those used last. All functions
 * may be called by several threads at once. */
#ifndef LW_LOAD_KEPT_VARIANTS_H
#define LW_LOAD_KEPT_VARIANTS_H
#include "model/model.h"
#include <stdatomic.h>

#define LW_KEPT_BYTES (64u << 20) /* of variants in which no state is; beyond, those used longest ago are freed */

typedef struct lw_kept_variant {
  lw_model *model;
  int32_t users; /* states that are in it, and callers of lw_model_variant */
  size_t bytes;
  struct lw_kept_variant *older;
} lw_kept_variant;

struct lw_kept_variants {
  atomic_flag busy; /* a thread reads or changes the list; held for a few instructions */
  lw_kept_variant *newest;
  unsigned char *bytes; /* the model's own, from which variants are compiled */
  size_t size;
};

/* Lets a model whose joints may open keep variants; copies the bytes from which it was read. */
lw_status lw_keep_variants_of(lw_model *m, const void *bytes, size_t size);
/* The variant in which these of the joints that may open are closed, once more in use; NULL: it is not kept. */
const lw_model *lw_use_kept_variant(const lw_model *m, const unsigned char *closed);
/* Keeps a new variant, in use once, unless another thread kept the same one in the meantime. Takes it over in any case,
 * and returns the one that is kept; NULL: no memory. */
const lw_model *lw_keep_variant(const lw_model *m, lw_model *variant);
/* One use more, one use fewer; the model as it is at first is always there. */
void lw_use_variant(const lw_model *m, const lw_model *variant);
void lw_leave_variant(const lw_model *m, const lw_model *variant);
#endif
