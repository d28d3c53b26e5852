/* Names of a mechanism: look-up in constant time, the rules for new ones, the nearest one for messages. */
#include "description.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_COMPARED 64

static const char *const kind_words[NAME_KINDS] = {"body",  "joint", "coupling", "distance", "transition",
                                                   "force", "point", "measure",  "output",   "state"};

lw_status lw_refuse(lw_builder *b, lw_status status, const char *format, ...) {
  if (b->status) return status;
  b->status = status;
  va_list list;
  va_start(list, format);
  vsnprintf(b->message, sizeof b->message, format, list);
  va_end(list);
  return status;
}

/* The slot of a name, or the empty one where it would stand. */
static size_t slot_of(const name_table *t, const char *name) {
  size_t h = 5381;
  for (const char *p = name; *p; p++) h = h * 33 ^ (unsigned char)*p;
  for (h &= t->slots - 1; t->entry[h].name && strcmp(t->entry[h].name, name) != 0;) h = (h + 1) & (t->slots - 1);
  return h;
}

static int make_slots(name_table *t) {
  if (2 * (t->used + 1) <= t->slots) return 1;
  name_table larger = {NULL, t->slots ? 2 * t->slots : 64, t->used};
  larger.entry = calloc(larger.slots, sizeof *larger.entry);
  if (!larger.entry) return 0;
  for (size_t i = 0; i < t->slots; i++)
    if (t->entry[i].name) larger.entry[slot_of(&larger, t->entry[i].name)] = t->entry[i];
  free(t->entry);
  *t = larger;
  return 1;
}

void lw_free_names(name_table *t) {
  for (size_t i = 0; i < t->slots; i++) free(t->entry[i].name);
  free(t->entry);
}

int32_t lw_named(const lw_builder *b, name_kind kind, const char *name) {
  if (!b->names.slots || !name) return -1;
  const name_entry *e = &b->names.entry[slot_of(&b->names, name)];
  return e->name ? e->number[kind] - 1 : -1;
}

/* ---- legal names: the rules are those of linkwork/_util/part_names.py ---- */

static const char signs[] = "!#$%&()+-/:;<>@^_{|}~ ";

static int is_sign(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr(signs, c));
}

/* What a name may not have, in words; NULL: it is legal. `refused` is a character that no name has, else 0. */
static const char *objection(const char *name, char *refused) {
  *refused = 0;
  if (!*name) return "it is empty";
  for (const char *c = name; *c; c++)
    if (!is_sign(*c)) {
      *refused = *c > ' ' && *c < 127 ? *c : 0;
      return *refused ? "it has" : "it has a character that is not printable ASCII";
    }
  if (*name == ' ') return "it begins with a blank";
  if (*name == '-') return "it begins with '-'";
  return name[strlen(name) - 1] == ' ' ? "it ends with a blank" : NULL;
}

static int is_name(lw_builder *b, const char *what, const char *name) {
  char refused, sign[8] = "";
  const char *why = objection(name ? name : "", &refused);
  if (!why) return 1;
  if (refused) snprintf(sign, sizeof sign, refused == '\'' ? " \"%c\"" : " '%c'", refused);
  lw_refuse(b, LW_ERROR_USAGE,
            "%s '%s': %s%s; a name consists of ASCII letters, digits, blanks between them and the signs ! # $ %% & ( "
            ") + - / : ; < > @ ^ _ { | } ~; give another one",
            what, name ? name : "", why, sign);
  return 0;
}

static int may_share(name_kind a, name_kind b) {
  return (a == A_BODY && b == A_JOINT) || (a == A_JOINT && b == A_BODY);
}

const char *lw_new_name(lw_builder *b, name_kind kind, const char *what, const char *name, int32_t number) {
  if (!is_name(b, what, name)) return NULL;
  if (strcmp(name, "ground") == 0) {
    lw_refuse(b, LW_ERROR_USAGE, "%s 'ground': this name stands for the world; give another one", what);
    return NULL;
  }
  for (name_kind other = 0; other < NAME_KINDS; other++)
    if (!may_share(kind, other) && lw_named(b, other, name) >= 0) {
      lw_refuse(b, LW_ERROR_USAGE, "there is a%s %s '%s' already: give this %s another name",
                other == AN_OUTPUT ? "n" : "", kind_words[other], name, kind_words[kind]);
      return NULL;
    }
  name_entry *e = make_slots(&b->names) ? &b->names.entry[slot_of(&b->names, name)] : NULL;
  if (e && !e->name && (e->name = malloc(strlen(name) + 1))) {
    strcpy(e->name, name);
    b->names.used++;
  }
  if (!e || !e->name) {
    lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for another %s", kind_words[kind]);
    return NULL;
  }
  e->number[kind] = number + 1;
  return e->name;
}

/* ---- lists ---- */

#define MOST_QUOTED 8

void lw_quote_names(char text[LW_LISTED], const char *const *name, int32_t count) {
  const int32_t left = count > MOST_QUOTED ? count - MOST_QUOTED : 0;
  size_t end = 0;
  text[0] = 0;
  for (int32_t k = 0; k < count && end < LW_LISTED - 1; k++) {
    if (left && k == MOST_QUOTED - 1) {
      end += (size_t)snprintf(text + end, LW_LISTED - end, ", ... (%d more)", (int)left);
      k += left;
      if (end >= LW_LISTED - 1) break;
    }
    end += (size_t)snprintf(text + end, LW_LISTED - end, "%s'%s'", k ? ", " : "", name[k]);
  }
}

/* ---- the nearest name ---- */

/* Insertions, deletions and replacements that make one name the other. */
static size_t edits(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  size_t row[LONGEST_COMPARED + 1];
  if (n > LONGEST_COMPARED || m > LONGEST_COMPARED) return LONGEST_COMPARED;
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= m; j++) {
      size_t least = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < least) least = row[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = least;
    }
  }
  return row[m];
}

static lw_status refuse_unknown(lw_builder *b, name_kind kind, const char *where, const char *name) {
  const char *nearest = NULL;
  size_t best = 1 + (name ? strlen(name) : 0) / 2;
  for (size_t i = 0; name && i < b->names.slots; i++) {
    const name_entry *e = &b->names.entry[i];
    const size_t n = e->name && e->number[kind] ? edits(name, e->name) : best;
    if (n < best) best = n, nearest = e->name;
  }
  return lw_refuse(b, LW_ERROR_USAGE, "%s: there is no %s '%s'%s%s%s (add it before what names it)", where,
                   kind_words[kind], name ? name : "", nearest ? ": did you mean '" : "", nearest ? nearest : "",
                   nearest ? "'?" : "");
}

static lw_status find(lw_builder *b, name_kind kind, const char *what, const char *owner, const char *name,
                      int32_t *number) {
  char where[160];
  if ((*number = lw_named(b, kind, name)) >= 0) return LW_OK;
  snprintf(where, sizeof where, owner ? "%s '%s'" : "%s", what, owner);
  return refuse_unknown(b, kind, where, name);
}

lw_status lw_find_body(lw_builder *b, const char *what, const char *owner, const char *name, int32_t *body) {
  *body = GROUND;
  return name && strcmp(name, "ground") == 0 ? LW_OK : find(b, A_BODY, what, owner, name, body);
}

lw_status lw_find_joint(lw_builder *b, const char *what, const char *owner, const char *name, int32_t *joint) {
  if (lw_named(b, A_TRANSITION, name) >= 0 && lw_named(b, A_JOINT, name) < 0)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s': '%s' is a transition: name a joint", what, owner ? owner : "", name);
  return find(b, A_JOINT, what, owner, name, joint);
}

lw_status lw_find_among(lw_builder *b, name_kind kind, const char *what, const char *name, int32_t *number) {
  return find(b, kind, what, NULL, name, number);
}
