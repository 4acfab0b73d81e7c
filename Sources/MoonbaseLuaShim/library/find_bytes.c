#define _GNU_SOURCE
#include <string.h>

#include "library/library.h"

// Finds a short text in a long text, sixteen positions at a time: positions with matching first and last bytes are
// compared.

typedef uint8_t Lanes __attribute__((vector_size(16)));

static Lanes load(const char *bytes) {
  Lanes lanes;
  memcpy(&lanes, bytes, sizeof lanes);
  return lanes;
}

static Lanes all(char byte) { return (Lanes){0} + (uint8_t)byte; }

static bool any(Lanes lanes) {
  uint64_t halves[2];
  memcpy(halves, &lanes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

const char *mbl_find_bytes(const char *s, size_t length, const char *wanted, size_t count) {
  if (count == 0) return s;
  if (count > length) return NULL;
  if (count == 1) return memchr(s, *wanted, length);
  // The code below takes time proportional to the product of both lengths for texts that nearly match everywhere.
  if (count > 32) return memmem(s, length, wanted, count);
  Lanes first = all(wanted[0]), last = all(wanted[count - 1]);
  size_t places = length - count + 1, place = 0;
  for (; place + sizeof(Lanes) <= places; place += sizeof(Lanes)) {
    Lanes hits = (Lanes)(load(s + place) == first) & (Lanes)(load(s + place + count - 1) == last);
    if (!any(hits)) continue;
    for (size_t lane = 0; lane < sizeof(Lanes); lane++) {
      if (hits[lane] && memcmp(s + place + lane, wanted, count) == 0) return s + place + lane;
    }
  }
  for (; place < places; place++) {
    if (s[place] == *wanted && memcmp(s + place, wanted, count) == 0) return s + place;
  }
  return NULL;
}
