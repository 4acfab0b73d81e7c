#include <stdlib.h>
#include <string.h>

#include "limits/control.h"
#include "limits/table_growth.h"

// When the hash part of a table is full, Lua allocates a new one and inserts every key, walking along the keys with the
// same hash. Keys chosen to collide take quadratic time, and Lua runs no hook meanwhile. So the time is estimated when
// Lua requests the new part. If it exceeds the rest of the run, the run ends there: Lua does not get the part, and the
// table stays unchanged.
//
// The allocator does not know tables. It recognises a hash part by its size, 24 bytes for each of 2^k nodes, and by the
// form of the request. It does not know which part grows: one of those without a free node. A block that only resembles
// a hash part is merely read; at worst the run that allocated it ends.
//
// Integers and floats are counted. The hashes of texts depend on a seed and those of tables on addresses: finding keys
// that collide at every size takes a script as long as the growth itself.

// A node of Lua 5.4: the value (8 bytes), its tag, the key's tag, the distance to the next node (4 bytes), the key (8
// bytes).
#if LUA_VERSION_NUM != 504
#error "the nodes of tables are known for Lua 5.4 only"
#endif
#define NODE 24
#define VALUE_TAG 8
#define KEY_TAG 9
#define KEY 16
#define WHOLE 0x03
#define FLOAT 0x13

// The first check counts keys by at most this number of hash bits, so that the counts fit in the processor's cache.
#define COARSE_LOG 15
// Chains up to this length are common in ordinary tables.
#define COMMON 64
// A step along a chain takes some 2 ns, half the time of an instruction.
#define SECONDS 2e-9
#define STEPS 2

struct MBLPart {
  const unsigned char *nodes;
  int log;
};

// The k of 24 << k, 0 for another size.
static int log_of(size_t size) {
  if (size < MBL_LEAST_PART || size % NODE != 0) return 0;
  size_t count = size / NODE;
  return (count & (count - 1)) == 0 ? __builtin_ctzll(count) : 0;
}

// MARK: The parts there are

bool mbl_part_reserve(MBLState *S, size_t size) {
  if (log_of(size) == 0 || S->parts.count < S->parts.capacity) return true;
  MBLPart *grown = mbl_grown(S->parts.items, &S->parts.capacity, sizeof(MBLPart));
  if (grown == NULL) return false;
  S->parts.items = grown;
  return true;
}

void mbl_part_add(MBLState *S, const void *block, size_t size) {
  int log = log_of(size);
  if (log > 0 && block != NULL) S->parts.items[S->parts.count++] = (MBLPart){.nodes = block, .log = log};
}

void mbl_part_remove(MBLState *S, const void *block, size_t size) {
  if (S->closing || log_of(size) == 0) return;
  for (int i = S->parts.count - 1; i >= 0; i--) {
    if (S->parts.items[i].nodes != block) continue;
    S->parts.items[i] = S->parts.items[--S->parts.count];
    return;
  }
}

// MARK: Hashes

static bool has_value(const unsigned char *node) { return (node[VALUE_TAG] & 0x0f) != LUA_TNIL; }
static bool is_number(const unsigned char *node) { return node[KEY_TAG] == WHOLE || node[KEY_TAG] == FLOAT; }

// Lua's integer for a float before the remainder is taken: the exponent and 31 bits of the fraction from `frexp`.
static uint64_t mixed(uint64_t bits) {
  int exponent = (int)(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) return 0;
  uint64_t fraction = bits & 0xfffffffffffff;
  if (exponent > 0) {
    fraction |= (uint64_t)1 << 52;
  } else {
    if (fraction == 0) return 0;
    int shift = __builtin_clzll(fraction) - 11;
    fraction <<= shift;
    exponent = 1 - shift;
  }
  int64_t scaled = (int64_t)(fraction >> 22);
  unsigned int all = (unsigned int)(exponent - 1022) + (unsigned int)(bits >> 63 ? -scaled : scaled);
  return all <= INT32_MAX ? all : ~all;
}

// The remainder modulo 2^k - 1, which equals that of the sum of the digits in base 2^k.
static uint64_t remainder_of(uint64_t number, int log) {
  uint64_t mask = ((uint64_t)1 << log) - 1;
  while (number > mask) number = (number & mask) + (number >> log);
  return number == mask ? 0 : number;
}

static uint64_t main_position(const unsigned char *node, int log) {
  uint64_t key;
  memcpy(&key, node + KEY, sizeof key);
  if (node[KEY_TAG] == FLOAT) return remainder_of(mixed(key), log);
#if LUA_VERSION_RELEASE_NUM < 50403
  return key & (((uint64_t)1 << log) - 1);
#else
  return remainder_of(key, log);
#endif
}

// MARK: The estimate

typedef struct Estimate {
  double chained;  // steps along chains of keys with the same hash, in any order
  double steps;    // all steps
} Estimate;

// Whether the part may be the one that grows to 2^log nodes (it has no free node, and no more keys than will fit), and
// its keys are unevenly distributed. Keys that may move to the table's array are not counted among those that must fit.
static bool is_suspect(const MBLState *S, MBLPart part, int log, uint32_t *counts, int coarse) {
  uint64_t arrayable = S->memory.used / 8, kept = 0, numbers = 0;
  for (size_t i = 0; i < (size_t)1 << part.log; i++) {
    const unsigned char *node = part.nodes + i * NODE;
    if (node[KEY_TAG] == LUA_TNIL) return false;
    if (!has_value(node)) continue;
    uint64_t key = 0;
    if (node[KEY_TAG] == WHOLE) memcpy(&key, node + KEY, sizeof key);
    if (key - 1 >= arrayable && ++kept > (uint64_t)1 << log) return false;
    if (!is_number(node)) continue;
    numbers++;
    counts[main_position(node, log) >> (log - coarse)]++;
  }
  uint64_t usual = COMMON + 4 * (numbers >> coarse);
  for (size_t i = 0; i < (size_t)1 << coarse; i++) {
    if (counts[i] > usual) return true;
  }
  return false;
}

typedef struct Slot {
  uint32_t chain;  // the chain of the key in this slot, from 1; 0: no key
  uint32_t place;  // its position in the chain
  uint32_t length;
} Slot;

// Simulates Lua's insertions and counts their steps. A key whose slot holds a key of another chain moves that key to a
// free node, after a walk along that chain.
static void play(MBLPart part, int log, Slot *slots, Estimate *estimate) {
  size_t unused = (size_t)1 << log;
  for (size_t i = 0; i < (size_t)1 << part.log; i++) {
    const unsigned char *node = part.nodes + i * NODE;
    if (!has_value(node) || !is_number(node)) continue;
    uint64_t position = main_position(node, log);
    Slot *home = &slots[position], new = {.chain = (uint32_t)position + 1};
    if (home->chain != 0) {
      while (unused > 0 && slots[unused - 1].chain != 0) unused--;
      if (unused == 0) return;  // the keys do not fit: some go to the array
    }
    if (home->chain == new.chain) {
      estimate->steps += home->length;
      if (home->length > COMMON) estimate->chained += home->length;
      new.place = home->length++;
      slots[unused - 1].chain = new.chain;
      slots[unused - 1].place = new.place;
    } else {
      if (home->chain != 0) {
        estimate->steps += home->place;
        slots[unused - 1].chain = home->chain;
        slots[unused - 1].place = home->place;
      }
      home->chain = new.chain;
      home->place = 0;
      home->length = 1;
    }
  }
}

// Returns false without memory for the estimate.
static bool estimate_growth(const MBLState *S, int log, Estimate *worst) {
  int coarse = log < COARSE_LOG ? log : COARSE_LOG;
  uint32_t *counts = NULL;
  bool isKnown = true;
  for (int i = 0; i < S->parts.count && isKnown; i++) {
    if (S->parts.items[i].log < log - 1) continue;
    if (counts == NULL) counts = malloc(sizeof(uint32_t) << coarse);
    if (counts == NULL) return false;
    memset(counts, 0, sizeof(uint32_t) << coarse);
    if (!is_suspect(S, S->parts.items[i], log, counts, coarse)) continue;
    Slot *slots = calloc((size_t)1 << log, sizeof(Slot));
    Estimate estimate = {0};
    if (slots != NULL) play(S->parts.items[i], log, slots, &estimate);
    isKnown = slots != NULL;
    free(slots);
    if (estimate.chained > worst->chained) worst->chained = estimate.chained;
    if (estimate.steps > worst->steps) worst->steps = estimate.steps;
  }
  free(counts);
  return isKnown;
}

// MARK: The verdict

// The innermost run that would exceed its deadline, or NULL.
static MBLState *out_of_time(MBLState *S, double seconds) {
  for (; S != NULL; S = S->run.parent) {
    if (S->limits.deadline > 0 && seconds >= mbl_watch_rest(S->control)) return S;
  }
  return NULL;
}

bool mbl_growth_is_refused(MBLState *S, size_t size) {
  int log = log_of(size);
  if (size <= MBL_LEAST_PART || log == 0 || S->run.depth == 0 || S->main == NULL) return false;
  bool isTimed = mbl_allowance != NULL && mbl_allowance->end > 0;
  for (MBLState *P = S; P != NULL; P = P->run.parent) isTimed = isTimed || P->limits.deadline > 0;
  if (S->limits.instructions <= 0 && !isTimed) return false;
  Estimate estimate = {0};
  if (!estimate_growth(S, log, &estimate)) return true;
  if (estimate.steps < 1) return false;
  if (S->limits.instructions > 0) {
    double rest = (double)S->run.budget - estimate.chained / STEPS;
    S->run.budget = rest > 0 ? (int64_t)rest : 0;
    if (S->run.budget <= S->run.floor) {
      mbl_set_abort(S, MBLAbortInstructions);
      return true;
    }
  }
  if (mbl_allowance_lacks(estimate.steps * SECONDS)) return true;
  MBLState *hit = isTimed ? out_of_time(S, estimate.steps * SECONDS) : NULL;
  if (hit == NULL) return false;
  // The runs within the one that is out of time work on its behalf.
  for (MBLState *P = S; P != hit; P = P->run.parent) mbl_set_abort(P, MBLAbortDeadline);
  mbl_set_abort(hit, MBLAbortDeadline);
  return true;  // Lua tries again after a collection, and is refused again
}
