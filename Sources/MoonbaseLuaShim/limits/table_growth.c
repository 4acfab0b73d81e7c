#include <stdlib.h>
#include <string.h>

#include "limits/control.h"
#include "limits/table_growth.h"

// When the hash part of a table is full, Lua allocates a new one and puts every key into it, and for each it walks along the keys
// that are there already with the same hash: with keys chosen to collide, a time that grows with the square of their number, in
// which no hook is looked at. So that time is estimated when the new part is asked for, and where it does not fit what is left of
// the run, the run ends there: the part is not handed out, and the table stays as it was.
//
// The allocator knows no tables, but a hash part by its size, 24 bytes for each of 2^k nodes, and by how it is asked for. Which of
// them grows is not known either: it is one of those that have no free node. What is not a hash part and looks like one is only
// read; at worst the run ends that made it.
//
// Whole numbers and floats are counted. The hashes of texts depend on a seed, and those of tables on addresses: who found such that
// collide at every size spent as long on filling the part, instruction by instruction.

// A node of Lua 5.4: the value (8 bytes), its tag, the key's tag, the distance to the next node (4 bytes), the key (8 bytes).
#if LUA_VERSION_NUM != 504
#error "the nodes of tables are known for Lua 5.4 only"
#endif
#define NODE 24
#define VALUE_TAG 8
#define KEY_TAG 9
#define KEY 16
#define WHOLE 0x03
#define FLOAT 0x13

// A first look counts keys by so many bits of their hash at most: it stays in the processor's cache.
#define COARSE_LOG 15
// Of this length chains are nothing to be wondered at.
#define COMMON 64
// A step along a chain takes some 2 ns: as long as half an instruction.
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

// What Lua makes of a float before it takes the remainder: the exponent and 31 bits of what `frexp` gives.
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

// The remainder for 2^k - 1: numbers in base 2^k have that of the sum of their digits.
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
  double chained;  // steps along chains of keys with one hash, in whichever order they come
  double steps;    // all of them
} Estimate;

// Whether the part may be the one that grows to 2^log nodes (it has no free node, nor more keys than will fit), and its keys fall
// unevenly. Of those that may move to the table's array it is not known whether they do.
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
  uint32_t chain;  // whose key is here, from 1 on; 0: no key
  uint32_t place;  // in which order it came there
  uint32_t length;
} Slot;

// Goes through what Lua will do. A key whose place is taken by one of another chain walks along that, and moves it to a free node.
static void play(MBLPart part, int log, Slot *slots, Estimate *estimate) {
  size_t unused = (size_t)1 << log;
  for (size_t i = 0; i < (size_t)1 << part.log; i++) {
    const unsigned char *node = part.nodes + i * NODE;
    if (!has_value(node) || !is_number(node)) continue;
    uint64_t position = main_position(node, log);
    Slot *home = &slots[position], new = {.chain = (uint32_t)position + 1};
    if (home->chain != 0) {
      while (unused > 0 && slots[unused - 1].chain != 0) unused--;
      if (unused == 0) return;  // they do not fit: some go to the array
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

// False where there is no memory to find out.
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

// The innermost run on whose deadline this one would run, NULL if there is time.
static MBLState *out_of_time(MBLState *S, double seconds) {
  for (; S != NULL; S = S->run.parent) {
    if (S->limits.deadline > 0 && seconds >= mbl_watch_rest(S->control)) return S;
  }
  return NULL;
}

bool mbl_growth_is_refused(MBLState *S, size_t size) {
  int log = log_of(size);
  if (size <= MBL_LEAST_PART || log == 0 || S->run.depth == 0 || S->main == NULL) return false;
  bool isTimed = false;
  for (MBLState *P = S; P != NULL; P = P->run.parent) isTimed = isTimed || P->limits.deadline > 0;
  if (S->limits.instructions <= 0 && !isTimed) return false;
  Estimate estimate = {0};
  if (!estimate_growth(S, log, &estimate)) return true;
  if (estimate.steps < 1) return false;
  if (S->limits.instructions > 0) {
    double rest = (double)S->run.budget - estimate.chained / STEPS;
    S->run.budget = rest > 0 ? (int64_t)rest : 0;
    if (S->run.budget == 0) {
      mbl_set_abort(S, MBLAbortInstructions);
      return true;
    }
  }
  MBLState *hit = isTimed ? out_of_time(S, estimate.steps * SECONDS) : NULL;
  if (hit == NULL) return false;
  // Those below the one that is out of time run on its behalf.
  for (MBLState *P = S; P != hit; P = P->run.parent) mbl_set_abort(P, MBLAbortDeadline);
  mbl_set_abort(hit, MBLAbortDeadline);
  return true;  // Lua asks a second time, after a collection, and is refused again
}
