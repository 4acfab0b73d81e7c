#include "library/pattern.h"

// Classes and sets of bytes. The classes are those of ASCII, independent of the host's locale: a pattern has the same
// meaning in every process.

// The ASCII bytes of each class, 64 a word.
static const uint64_t classes[26][2] = {
    ['a' - 'a'] = {0, 0x07fffffe07fffffe},
    ['c' - 'a'] = {0x00000000ffffffff, 0x8000000000000000},
    ['d' - 'a'] = {0x03ff000000000000, 0},
    ['g' - 'a'] = {0xfffffffe00000000, 0x7fffffffffffffff},
    ['l' - 'a'] = {0, 0x07fffffe00000000},
    ['p' - 'a'] = {0xfc00fffe00000000, 0x78000001f8000001},
    ['s' - 'a'] = {0x0000000100003e00, 0},
    ['u' - 'a'] = {0, 0x0000000007fffffe},
    ['w' - 'a'] = {0x03ff000000000000, 0x07fffffe07fffffe},
    ['x' - 'a'] = {0x03ff000000000000, 0x0000007e0000007e},
    ['z' - 'a'] = {0x0000000000000001, 0},
};

// The bytes of the class, or NULL. An upper-case class is negated.
static const uint64_t *class_bits(int class, bool *negated) {
  int letter = class | 0x20;
  if (letter < 'a' || letter > 'z') return NULL;
  const uint64_t *bits = classes[letter - 'a'];
  if ((bits[0] | bits[1]) == 0) return NULL;
  *negated = class != letter;
  return bits;
}

bool mbl_in_class(int c, int class) {
  bool negated;
  const uint64_t *bits = class_bits(class, &negated);
  if (bits == NULL) return class == c;
  return (c < 128 && (bits[c >> 6] >> (c & 63) & 1)) != negated;
}

bool mbl_in_set(int c, const char *p, const char *last) {
  bool wanted = true;
  if (p[1] == '^') {
    wanted = false;
    p++;
  }
  while (++p < last) {
    if (*p == '%') {
      p++;
      if (mbl_in_class(c, (unsigned char)*p)) return wanted;
    } else if (p[1] == '-' && p + 2 < last) {
      p += 2;
      if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p) return wanted;
    } else if ((unsigned char)*p == c) {
      return wanted;
    }
  }
  return !wanted;
}

static void add_byte(MBLSet *set, int c) { set->bits[c >> 6] |= (uint64_t)1 << (c & 63); }

static void add_range(MBLSet *set, int from, int to) {
  for (int c = from; c <= to; c++) add_byte(set, c);
}

static void add_class(MBLSet *set, int class) {
  bool negated;
  const uint64_t *bits = class_bits(class, &negated);
  if (bits == NULL) {
    add_byte(set, class);
    return;
  }
  for (int word = 0; word < 4; word++) {
    uint64_t own = word < 2 ? bits[word] : 0;
    set->bits[word] |= negated ? ~own : own;
  }
}

MBLSet mbl_class(int class) {
  MBLSet set = {{0}};
  add_class(&set, class);
  return set;
}

MBLSet mbl_set(const char *p, const char *last) {
  MBLSet set = {{0}};
  bool negated = p[1] == '^';
  if (negated) p++;
  while (++p < last) {
    if (*p == '%') {
      add_class(&set, (unsigned char)*++p);
    } else if (p[1] == '-' && p + 2 < last) {
      p += 2;
      add_range(&set, (unsigned char)p[-2], (unsigned char)*p);
    } else {
      add_byte(&set, (unsigned char)*p);
    }
  }
  if (negated) {
    for (int word = 0; word < 4; word++) set.bits[word] = ~set.bits[word];
  }
  return set;
}
