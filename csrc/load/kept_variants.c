/* The topology variants that a model keeps, and the end of both. */
#include "load/kept_variants.h"
#include "load/reader.h"
#include <stdlib.h>
#include <string.h>

static void lock(struct lw_kept_variants *kept) {
  while (atomic_flag_test_and_set_explicit(&kept->busy, memory_order_acquire)) {
  }
}

static void unlock(struct lw_kept_variants *kept) { atomic_flag_clear_explicit(&kept->busy, memory_order_release); }

lw_status lw_keep_variants_of(lw_model *m, const void *bytes, size_t size) {
  if (!m->removable_joints) return LW_OK;
  struct lw_kept_variants *kept = m->variants = calloc(1, sizeof *kept);
  if (!kept) return LW_ERROR_MEMORY;
  atomic_flag_clear(&kept->busy);
  if (!(kept->bytes = malloc(size))) return LW_ERROR_MEMORY;
  memcpy(kept->bytes, bytes, size);
  kept->size = size;
  return LW_OK;
}

static void free_list(lw_kept_variant *list) {
  while (list) {
    lw_kept_variant *next = list->older;
    lw_model_free(list->model);
    free(list);
    list = next;
  }
}

void lw_model_free(lw_model *m) {
  if (!m) return;
  if (m->variants) {
    free_list(m->variants->newest);
    free(m->variants->bytes);
    free(m->variants);
  }
  lw_free_multipliers(&m->multipliers);
  lw_dca_plan_free(&m->dca);
  free(m->memory);
  free(m);
}

/* Bytes of all its allocations but the kept variants, about. */
static size_t memory_of(const lw_model *m) {
  const lw_dca_plan *p = &m->dca;
  return sizeof *m + m->memory_bytes + m->multipliers.bytes + sizeof *p->list * (size_t)p->constraints +
         sizeof(int32_t) * (size_t)(p->handle.capacity + p->remaining.capacity + 3 * p->jacobian_blocks) +
         (sizeof *p->subassembly + 4 * sizeof(int32_t)) * (size_t)p->subassemblies;
}

/* Finds a variant and makes it the newest. */
static lw_kept_variant *find(struct lw_kept_variants *kept, const lw_model *m, const unsigned char *closed) {
  for (lw_kept_variant **at = &kept->newest, *one; (one = *at); at = &one->older) {
    if (memcmp(one->model->closed, closed, (size_t)m->removable_joints) != 0) continue;
    *at = one->older, one->older = kept->newest, kept->newest = one;
    return one;
  }
  return NULL;
}

const lw_model *lw_use_kept_variant(const lw_model *m, const unsigned char *closed) {
  lock(m->variants);
  lw_kept_variant *found = find(m->variants, m, closed);
  if (found) found->users++;
  unlock(m->variants);
  return found ? found->model : NULL;
}

/* Takes those off the list that are beyond what is kept; returns them as a list. */
static lw_kept_variant *take_off_oldest(struct lw_kept_variants *kept) {
  lw_kept_variant *off = NULL;
  size_t bytes = 0;
  for (lw_kept_variant **at = &kept->newest, *one; (one = *at);) {
    if (!one->users) bytes += one->bytes;
    if (one->users || bytes <= LW_KEPT_BYTES) {
      at = &one->older;
      continue;
    }
    *at = one->older, one->older = off, off = one;
  }
  return off;
}

const lw_model *lw_keep_variant(const lw_model *m, lw_model *variant) {
  struct lw_kept_variants *kept = m->variants;
  lw_kept_variant *mine = malloc(sizeof *mine), *off = NULL;
  if (!mine) {
    lw_model_free(variant);
    return NULL;
  }
  *mine = (lw_kept_variant){.model = variant, .bytes = memory_of(variant)};
  variant->kept = mine;
  lock(kept);
  lw_kept_variant *found = find(kept, m, variant->closed);
  if (!found) found = mine, mine->older = kept->newest, kept->newest = mine, mine = NULL;
  found->users++;
  off = take_off_oldest(kept);
  unlock(kept);
  free_list(mine);
  free_list(off);
  return found->model;
}

static void count_user(const lw_model *m, const lw_model *variant, int32_t change) {
  if (variant == m || !variant->kept) return;
  lock(m->variants);
  variant->kept->users += change;
  unlock(m->variants);
}

void lw_use_variant(const lw_model *m, const lw_model *variant) { count_user(m, variant, 1); }
void lw_leave_variant(const lw_model *m, const lw_model *variant) { count_user(m, variant, -1); }
