/* From a description to a model: spanning tree, numbering, exact frames. */
#include "plan.h"
#include "load/kept_variants.h"
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
  lw_sort_formulas(b);
  if ((e = lw_add_sticking(b)) || (e = lw_check_transitions(b)) || (e = lw_plan_variants(b, &p->variants)) ||
      (e = lw_span(b, &p->tree)))
    return e;
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
  for (int32_t k = 0, g = 0, point = 0; k < b->forces; k++) {
    const lw_force_type *type = &lw_force_types[b->force[k].type];
    if (type->on == LW_ON_SPEEDS && (g == b->gears || b->gear[g].force != k))
      return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' acts on no joint: add one with lw_builder_add_gear", type->name,
                       b->force[k].name);
    while (g < b->gears && b->gear[g].force == k) g++;
    const int32_t first = point;
    int32_t bodies = 0;
    for (; point < b->line_points && b->line_point[point].force == k; point++)
      bodies |= point > first && b->line_point[point].factor != 0.0 &&
                b->line_point[point].body != b->line_point[point - 1].body;
    if (type->on == LW_ALONG_LINE && !bodies)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "%s '%s': its line connects no two bodies: add points by lw_builder_add_line_point", type->name,
                       b->force[k].name);
    if (type->results && !b->force[k].has_formula)
      return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' has no formula: give one by lw_builder_set_formula", type->name,
                       b->force[k].name);
  }
  return LW_OK;
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

/* Refuses what the mechanism cannot be with all joints closed, or with all open that may open: variants between are
 * compiled at the events that need them. */
static lw_status check_extremes(const plan *p) {
  unsigned char *open = calloc((size_t)p->builder->joints, 1);
  lw_status e = open ? LW_OK : lw_no_memory(p->builder);
  for (int pass = 0; !e && pass < 2; pass++) {
    model_bytes out = {0};
    lw_model *model = NULL;
    for (int32_t k = 0; k < p->variants.removable_joints; k++) open[p->variants.removable_joint[k]] = pass == 1;
    if (memcmp(open, p->variants.open, (size_t)p->builder->joints) != 0) e = lw_compile_variant(p, open, &out, &model);
    lw_model_free(model);
    free(out.bytes);
  }
  free(open);
  return e;
}

/* Writes and loads the mechanism as it is at first, again where its frames are not exact, as they then are for all of
 * its variants. */
static lw_status write_exact(const plan *p, model_bytes *out, lw_model **model) {
  lw_builder *b = p->builder;
  lw_status e = lw_compile_variant(p, p->variants.open, out, model);
  if (!e) e = find_exact_frames(b, *model);
  if (!e && b->exact) {
    copy_frames(b, (lw_frame(*)[2])b->exact, 1);
    lw_model_free(*model);
    *model = NULL, out->size = 0;
    e = lw_compile_variant(p, p->variants.open, out, model);
  }
  return e || !p->variants.removable_joints ? e : check_extremes(p);
}

/* With these of the joints open that may open, and frames as they were given. */
static lw_status write_variant(const plan *p, const int32_t *open, int32_t count, model_bytes *out, lw_model **model) {
  unsigned char *mark = calloc((size_t)p->builder->joints, 1);
  if (!mark) return lw_no_memory(p->builder);
  for (int32_t k = 0; k < p->variants.removable_joints; k++)
    for (int32_t i = 0; i < count; i++)
      if (open[i] == p->variants.removable_joint[k]) mark[open[i]] = 1;
  const lw_status e = lw_compile_variant(p, mark, out, model);
  free(mark);
  return e;
}

/* As it is at first with exact frames, or where `count` is not negative the variant with these joints open. The
 * description stays as it was given. */
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
    e = count < 0 ? write_exact(&p, &out, model) : write_variant(&p, open, count, &out, model);
  if (!e && lw_keep_variants_of(*model, out.bytes, out.size)) e = lw_no_memory(b);
  if (b->exact) copy_frames(b, given, 1);
  if (e) lw_model_free(*model), *model = NULL;
  b->joints = joints;
  lw_remove_sticking(b);
  free(given);
  lw_free_plan(&p);
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
