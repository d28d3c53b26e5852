/* From a description to a model: spanning tree, numbering, methods; for every set of joints that may be open together
 * a topology variant; then bytes, which are read as those of any file. */
#include "plan.h"
#include "model/model.h"
#include <stdlib.h>
#include <string.h>

/* Pins stand behind all other joints while the model is made. */
static lw_status add_pin_joints(lw_builder *b) {
  const int32_t joints = b->joints;
  lw_status e = LW_OK;
  for (int32_t k = 0; !e && k < b->pins; k++) e = append_joint(b, b->pin[k]);
  if (e) b->joints = joints;
  return e;
}

/* Terms by coupling, in the order in which they were added. */
static void group_terms(plan *p) {
  const lw_builder *b = p->builder;
  for (int32_t k = 0; k <= b->couplings; k++) p->first_term[k] = 0;
  for (int32_t k = 0; k < b->terms; k++) p->first_term[b->term[k].coupling]++;
  for (int32_t k = 1; k <= b->couplings; k++) p->first_term[k] += p->first_term[k - 1];
  for (int32_t k = b->terms - 1; k >= 0; k--) p->term_order[--p->first_term[b->term[k].coupling]] = k;
}

static void number_joints(plan *p) {
  const lw_builder *b = p->builder;
  numbering *at = &p->at;
  int32_t q = 0, u = 0;
  for (int32_t j = 0; j < b->joints; j++) p->is_cut[j] = 0;
  for (int32_t k = 0; k < p->tree.cuts; k++) p->is_cut[p->tree.cut[k]] = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t j = 0; j < b->joints; j++) {
      if (p->is_cut[j] != pass) continue;
      at->q[j] = q, at->u[j] = u;
      q += lw_joint_sizes[b->joint[j].type].q, u += lw_joint_sizes[b->joint[j].type].u;
    }
    if (pass == 0) at->nq = q, at->nu = u;
  }
  at->nq_cut = q - at->nq, at->nu_cut = u - at->nu;
}

static lw_status make_plan(plan *p) {
  lw_builder *b = p->builder;
  lw_status e;
  if ((e = lw_check_transitions(b)) || (e = lw_plan_variants(b, &p->variants)) || (e = lw_span(b, &p->tree))) return e;
  p->memory = malloc(sizeof(int32_t) * (3 * (size_t)b->joints + (size_t)b->terms + (size_t)b->couplings + 1));
  if (!p->memory) return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the numbering");
  p->at.q = p->memory, p->at.u = p->at.q + b->joints, p->is_cut = p->at.u + b->joints;
  p->term_order = p->is_cut + b->joints, p->first_term = p->term_order + b->terms;
  group_terms(p);
  number_joints(p);
  for (int32_t k = 0; k < b->couplings; k++)
    if (p->first_term[k] == p->first_term[k + 1])
      return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s' has no terms: add one with lw_builder_add_term",
                       b->coupling[k].name);
  for (int32_t k = 0, g = 0; k < b->actuators; k++) {
    if (g == b->gears || b->gear[g].actuator != k)
      return lw_refuse(b, LW_ERROR_USAGE, "actuator '%s' acts on no joint: add one with lw_builder_add_gear",
                       b->actuator[k].name);
    while (g < b->gears && b->gear[g].actuator == k) g++;
  }
  return LW_OK;
}

/* The model that begins at `start`. */
static lw_status load(lw_builder *b, const model_bytes *bytes, size_t start, lw_model **model) {
  char message[256];
  if (bytes->failed) return lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the model");
  const lw_status e = lw_model_load(bytes->bytes + start, bytes->size - start, model, message, sizeof message);
  return e ? lw_refuse(b, e, "%s", message) : LW_OK;
}

static int32_t whole_method(lw_method_choice choice) {
  switch (choice) {
    case LW_METHOD_MULTIPLIERS: return LW_MULTIPLIERS_JOINT;
    case LW_METHOD_MULTIPLIERS_CENTROID: return LW_MULTIPLIERS_CENTROID;
    case LW_METHOD_MULTIPLIERS_ORIGIN: return LW_MULTIPLIERS_ORIGIN;
    case LW_METHOD_DCA: return LW_DCA;
    case LW_METHOD_AUTO:
    case LW_METHOD_RCR:
    case LW_METHOD_EMBEDDING: break;
  }
  return LW_BY_CLUSTERS;
}

/* Adds the model with some joints open; then, where `model` is not NULL, returns it as well, loaded. The choice of methods
 * needs what a model that is solved loop by loop expects of its clusters. */
static lw_status write_variant(const plan *p, uint32_t open, int32_t others, model_bytes *out, lw_model **model) {
  lw_builder *b = p->builder;
  topology t;
  lw_model *first = NULL;
  lw_status e = lw_lay_topology(p, open, &t);
  const int32_t method = whole_method(b->method);
  const size_t start = out->size;
  int embedded = 0;
  if (!e) lw_write_model(p, &t, method, 0, out);
  if (!e && !(e = load(b, out, start, &first)) && !(e = lw_check_massless(b, first)) && method == LW_BY_CLUSTERS)
    e = lw_choose_methods(b, &t, first, open != 0);
  for (int32_t k = 0; !e && k < t.clusters; k++) embedded |= t.cluster[k][3];
  if (!e && (embedded || others)) {
    out->size = start;
    lw_write_model(p, &t, method, others, out);
    if (embedded && model) {
      lw_model_free(first);
      e = load(b, out, start, &first);
    }
  }
  if (model && !e) *model = first;
  else lw_model_free(first);
  free(t.memory);
  return e;
}

static int bits(uint32_t set) {
  int n = 0;
  for (; set; set &= set - 1) n++;
  return n;
}

/* Sets of open joints: by their number, then by the places of their joints, as a dictionary orders words. */
static int comes_before(uint32_t a, uint32_t c, int32_t removable_joints) {
  if (bits(a) != bits(c)) return bits(a) < bits(c);
  for (int32_t i = 0; i < removable_joints; i++)
    if ((a ^ c) >> i & 1) return a >> i & 1;
  return 0;
}

/* The variant that holds at first, then all others. */
static lw_status write_variants(const plan *p, model_bytes *out) {
  const int32_t removable_joints = p->variants.removable_joints;
  const uint32_t all = 1u << removable_joints;
  uint32_t order[1 << LW_MOST_REMOVABLE];
  lw_status e = write_variant(p, p->variants.open, (int32_t)all - 1, out, NULL);
  for (uint32_t k = 0; k < all; k++) { /* insertion: there are 256 at most */
    uint32_t i = k;
    for (; i > 0 && comes_before(k, order[i - 1], removable_joints); i--) order[i] = order[i - 1];
    order[i] = k;
  }
  for (uint32_t k = 0; k < all && !e; k++)
    if (order[k] != p->variants.open) e = write_variant(p, order[k], 0, out, NULL);
  return e;
}

static void copy_frames(lw_builder *b, lw_frame (*frames)[2], int enter) {
  for (int32_t j = 0; j < b->joints; j++) {
    if (enter) memcpy(b->joint[j].frame, frames[j], sizeof frames[j]);
    else memcpy(frames[j], b->joint[j].frame, sizeof frames[j]);
  }
}

/* Finds the frames with which the loops of a model are exact, where those given are not. */
static lw_status find_exact_frames(lw_builder *b, const lw_model *m) {
  int32_t changed = 0;
  lw_frame(*frames)[2] = malloc(sizeof *frames * (size_t)b->joints);
  if (!frames) return lw_no_memory(b);
  copy_frames(b, frames, 0);
  const lw_status e = lw_model_exact_frames(m, frames[0], &changed, &b->inexact) ? lw_no_memory(b) : LW_OK;
  if (changed && !e) b->exact = frames[0];
  else free(frames);
  return e;
}

/* Writes and loads the first variant, again where its frames are not exact, as they then are for all of them; then the
 * others. */
static lw_status write_exact(const plan *p, model_bytes *out, lw_model **model) {
  lw_builder *b = p->builder;
  lw_status e = write_variant(p, p->variants.open, 0, out, model);
  if (!e) e = find_exact_frames(b, *model);
  if (!e && b->exact) {
    copy_frames(b, (lw_frame(*)[2])b->exact, 1);
    lw_model_free(*model);
    *model = NULL, out->size = 0;
    e = write_variant(p, p->variants.open, 0, out, model);
  }
  if (e || !p->variants.removable_joints) return e;
  lw_model_free(*model);
  *model = NULL, out->size = 0;
  if (!(e = write_variants(p, out))) e = load(b, out, 0, model);
  return e;
}

static uint32_t open_of(const plan *p, const int32_t *open, int32_t count) {
  uint32_t set = 0;
  for (int32_t k = 0; k < p->variants.removable_joints; k++)
    for (int32_t i = 0; i < count; i++) set |= (uint32_t)(open[i] == p->variants.removable_joint[k]) << k;
  return set;
}

/* All variants with exact frames, or where `count` is not negative that one with these joints open. The description stays
 * as it was given. */
static lw_status finish(lw_builder *b, const int32_t *open, int32_t count, lw_model **model) {
  plan p = {.builder = b};
  model_bytes out = {0};
  const int32_t joints = b->joints;
  *model = NULL;
  if (b->status) return b->status;
  free(b->exact);
  b->exact = NULL, b->inexact = -1;
  lw_frame(*given)[2] = malloc(sizeof *given * ((size_t)b->joints + (size_t)b->pins + 1));
  lw_status e = given ? add_pin_joints(b) : lw_no_memory(b);
  if (!e) copy_frames(b, given, 0);
  if (!e && !(e = make_plan(&p)))
    e = count < 0 ? write_exact(&p, &out, model) : write_variant(&p, open_of(&p, open, count), 0, &out, model);
  if (b->exact) copy_frames(b, given, 1);
  if (e) lw_model_free(*model), *model = NULL;
  b->joints = joints;
  free(given);
  free(p.variants.lock);
  free(p.tree.memory);
  free(p.memory);
  free(b->bytes);
  b->bytes = e ? NULL : out.bytes, b->size = e ? 0 : out.size;
  if (e) free(out.bytes);
  return e;
}

lw_status lw_builder_finish(lw_builder *b, lw_model **model) { return finish(b, NULL, -1, model); }

lw_status lw_builder_finish_variant(lw_builder *b, const int32_t *open, int32_t count, lw_model **model) {
  return finish(b, open, count < 0 ? 0 : count, model);
}

const lw_frame *lw_builder_exact_frames(const lw_builder *b, int32_t *inexact) {
  *inexact = b->inexact;
  return b->exact;
}

const void *lw_builder_bytes(const lw_builder *b, size_t *size) {
  *size = b->size;
  return b->bytes;
}
