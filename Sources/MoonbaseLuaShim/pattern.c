#define _GNU_SOURCE
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "internal.h"

// Lua's patterns, matched under the limits of the run: the system library's matcher runs for hours on forty characters and
// looks at no hook. Results and messages are Lua's; every step is counted.

#define CAPTURES 32
#define DEPTH 200
#define STEPS 2048  // steps between two looks at the limits

enum { OPEN = -1, POSITION = -2 };

typedef struct Matcher {
  const char *begin, *end;  // the subject
  const char *patternEnd;
  lua_State *L;
  int depth;
  int steps;
  int level;
  struct {
    const char *start;
    ptrdiff_t length;
  } capture[CAPTURES];
} Matcher;

static const char *match(Matcher *m, const char *s, const char *p);

static void count(Matcher *m, size_t steps) {
  if (steps < (size_t)m->steps) {
    m->steps -= (int)steps;
    return;
  }
  m->steps = STEPS;
  mbl_charge(m->L, (int64_t)(steps + STEPS) / 4);
}

// MARK: Single characters

static bool in_class(int c, int class) {
  bool result;
  switch (tolower(class)) {
    case 'a': result = isalpha(c); break;
    case 'c': result = iscntrl(c); break;
    case 'd': result = isdigit(c); break;
    case 'g': result = isgraph(c); break;
    case 'l': result = islower(c); break;
    case 'p': result = ispunct(c); break;
    case 's': result = isspace(c); break;
    case 'u': result = isupper(c); break;
    case 'w': result = isalnum(c); break;
    case 'x': result = isxdigit(c); break;
    case 'z': result = c == 0; break;
    default: return class == c;
  }
  return isupper(class) ? !result : result;
}

// `p` is at the '[', `last` at the ']'.
static bool in_set(int c, const char *p, const char *last) {
  bool wanted = true;
  if (p[1] == '^') {
    wanted = false;
    p++;
  }
  while (++p < last) {
    if (*p == '%') {
      p++;
      if (in_class(c, (unsigned char)*p)) return wanted;
    } else if (p[1] == '-' && p + 2 < last) {
      p += 2;
      if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p) return wanted;
    } else if ((unsigned char)*p == c) {
      return wanted;
    }
  }
  return !wanted;
}

// The end of the item that begins at `p`, without its suffix.
static const char *item_end(Matcher *m, const char *p) {
  char first = *p++;
  if (first == '%') {
    if (p == m->patternEnd) luaL_error(m->L, "malformed pattern (ends with '%%')");
    return p + 1;
  }
  if (first != '[') return p;
  if (*p == '^') p++;
  do {
    if (p == m->patternEnd) luaL_error(m->L, "malformed pattern (missing ']')");
    if (*p++ == '%' && p < m->patternEnd) p++;
  } while (*p != ']');
  return p + 1;
}

static inline bool single(Matcher *m, const char *s, const char *p, const char *end) {
  if (s >= m->end) return false;
  int c = (unsigned char)*s;
  switch (*p) {
    case '.': return true;
    case '%': return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(c, p, end - 1);
    default: return (unsigned char)*p == c;
  }
}

// MARK: Captures

static int capture_index(Matcher *m, int digit) {
  int index = digit - '1';
  if (index < 0 || index >= m->level || m->capture[index].length == OPEN) {
    luaL_error(m->L, "invalid capture index %%%d", index + 1);
  }
  return index;
}

static const char *begin_capture(Matcher *m, const char *s, const char *p, ptrdiff_t kind) {
  if (m->level >= CAPTURES) luaL_error(m->L, "too many captures");
  m->capture[m->level].start = s;
  m->capture[m->level].length = kind;
  m->level++;
  const char *result = match(m, s, p);
  if (result == NULL) m->level--;
  return result;
}

static const char *end_capture(Matcher *m, const char *s, const char *p) {
  int index = m->level;
  do {
    if (--index < 0) luaL_error(m->L, "invalid pattern capture");
  } while (m->capture[index].length != OPEN);
  m->capture[index].length = s - m->capture[index].start;
  const char *result = match(m, s, p);
  if (result == NULL) m->capture[index].length = OPEN;
  return result;
}

static const char *same_as_capture(Matcher *m, const char *s, int digit) {
  int index = capture_index(m, digit);
  size_t length = (size_t)m->capture[index].length;
  if ((size_t)(m->end - s) < length || memcmp(m->capture[index].start, s, length) != 0) return NULL;
  count(m, length / 16);
  return s + length;
}

// MARK: Repetition

static const char *longest(Matcher *m, const char *s, const char *p, const char *end) {
  ptrdiff_t length = 0;
  while (single(m, s + length, p, end)) length++;
  count(m, (size_t)length);
  for (; length >= 0; length--) {
    const char *result = match(m, s + length, end + 1);
    if (result != NULL) return result;
  }
  return NULL;
}

static const char *shortest(Matcher *m, const char *s, const char *p, const char *end) {
  for (;;) {
    const char *result = match(m, s, end + 1);
    if (result != NULL) return result;
    if (!single(m, s, p, end)) return NULL;
    s++;
  }
}

static const char *balanced(Matcher *m, const char *s, const char *p) {
  if (p >= m->patternEnd - 1) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->end || *s != *p) return NULL;
  int depth = 1;
  for (const char *at = s + 1; at < m->end; at++) {
    if (*at == p[1]) {
      if (--depth == 0) {
        count(m, (size_t)(at - s));
        return at + 1;
      }
    } else if (*at == *p) {
      depth++;
    }
  }
  count(m, (size_t)(m->end - s));
  return NULL;
}

static bool at_frontier(Matcher *m, const char *s, const char *p, const char *end) {
  int before = s == m->begin ? 0 : (unsigned char)s[-1];
  int after = s == m->end ? 0 : (unsigned char)*s;
  return !in_set(before, p, end - 1) && in_set(after, p, end - 1);
}

// MARK: The matcher

static const char *match_items(Matcher *m, const char *s, const char *p) {
  while (p != m->patternEnd) {
    count(m, 1);
    switch (*p) {
      case '(':
        return p[1] == ')' ? begin_capture(m, s, p + 2, POSITION) : begin_capture(m, s, p + 1, OPEN);
      case ')': return end_capture(m, s, p + 1);
      case '$':
        if (p + 1 == m->patternEnd) return s == m->end ? s : NULL;
        break;
      case '%':
        switch (p[1]) {
          case 'b':
            s = balanced(m, s, p + 2);
            if (s == NULL) return NULL;
            p += 4;
            continue;
          case 'f': {
            p += 2;
            if (*p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
            const char *end = item_end(m, p);
            if (!at_frontier(m, s, p, end)) return NULL;
            p = end;
            continue;
          }
          case '0': case '1': case '2': case '3': case '4':
          case '5': case '6': case '7': case '8': case '9':
            s = same_as_capture(m, s, (unsigned char)p[1]);
            if (s == NULL) return NULL;
            p += 2;
            continue;
          default: break;
        }
        break;
      default: break;
    }
    const char *end = item_end(m, p);
    char suffix = end < m->patternEnd ? *end : 0;
    if (suffix == '*') return longest(m, s, p, end);
    if (suffix == '-') return shortest(m, s, p, end);
    bool fits = single(m, s, p, end);
    if (suffix == '+') return fits ? longest(m, s + 1, p, end) : NULL;
    if (suffix == '?') {
      if (fits) {
        const char *result = match(m, s + 1, end + 1);
        if (result != NULL) return result;
      }
      p = end + 1;
      continue;
    }
    if (!fits) return NULL;
    s++;
    p = end;
  }
  return s;
}

// The end of the match of `p` at `s`, or NULL.
static const char *match(Matcher *m, const char *s, const char *p) {
  if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
  const char *result = match_items(m, s, p);
  m->depth++;
  return result;
}

static void prepare(Matcher *m, lua_State *L, const char *s, size_t length, const char *p, size_t patternLength) {
  m->L = L;
  m->begin = s;
  m->end = s + length;
  m->patternEnd = p + patternLength;
  m->steps = STEPS;
  m->depth = DEPTH;
  m->level = 0;
}

static const char *match_at(Matcher *m, const char *s, const char *p) {
  m->level = 0;
  m->depth = DEPTH;
  return match(m, s, p);
}

// MARK: Results

// Capture `index`; the whole match if there are no captures and it is the first.
static size_t capture(Matcher *m, int index, const char *s, const char *e, const char **text) {
  if (index >= m->level) {
    if (index != 0) luaL_error(m->L, "invalid capture index %%%d", index + 1);
    *text = s;
    return (size_t)(e - s);
  }
  ptrdiff_t length = m->capture[index].length;
  *text = m->capture[index].start;
  if (length == OPEN) luaL_error(m->L, "unfinished capture");
  if (length == POSITION) lua_pushinteger(m->L, m->capture[index].start - m->begin + 1);
  return (size_t)length;
}

static void push_capture(Matcher *m, int index, const char *s, const char *e) {
  const char *text;
  size_t length = capture(m, index, s, e, &text);
  if ((ptrdiff_t)length != POSITION) lua_pushlstring(m->L, text, length);
}

static int push_captures(Matcher *m, const char *s, const char *e) {
  int results = m->level == 0 && s != NULL ? 1 : m->level;
  luaL_checkstack(m->L, results, "too many captures");
  for (int i = 0; i < results; i++) push_capture(m, i, s, e);
  return results;
}

static size_t start_of(lua_Integer position, size_t length) {
  if (position > 0) return (size_t)position - 1;
  if (position == 0) return 0;
  if (position < -(lua_Integer)length) return 0;
  return length + (size_t)position;
}

static bool is_plain_text(const char *p, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (strchr("^$*+?.([%-", p[i]) != NULL && p[i] != 0) return false;
  }
  return true;
}

static int find_plain(lua_State *L, const char *s, size_t length, size_t start, const char *p, size_t patternLength) {
  mbl_charge(L, (int64_t)((length - start) / 64));
  const char *found = patternLength == 0 ? s + start : memmem(s + start, length - start, p, patternLength);
  if (found == NULL) {
    luaL_pushfail(L);
    return 1;
  }
  lua_pushinteger(L, found - s + 1);
  lua_pushinteger(L, found - s + (lua_Integer)patternLength);
  return 2;
}

static int search(lua_State *L, bool finding) {
  size_t length, patternLength;
  const char *s = luaL_checklstring(L, 1, &length), *p = luaL_checklstring(L, 2, &patternLength);
  size_t start = start_of(luaL_optinteger(L, 3, 1), length);
  if (start > length) {
    luaL_pushfail(L);
    return 1;
  }
  if (finding && (lua_toboolean(L, 4) || is_plain_text(p, patternLength))) {
    return find_plain(L, s, length, start, p, patternLength);
  }
  bool anchored = *p == '^';
  if (anchored) {
    p++;
    patternLength--;
  }
  Matcher m;
  prepare(&m, L, s, length, p, patternLength);
  const char *at = s + start;
  do {
    const char *end = match_at(&m, at, p);
    if (end == NULL) continue;
    if (!finding) return push_captures(&m, at, end);
    lua_pushinteger(L, at - s + 1);
    lua_pushinteger(L, end - s);
    return push_captures(&m, NULL, NULL) + 2;
  } while (at++ < m.end && !anchored);
  luaL_pushfail(L);
  return 1;
}

static int str_find(lua_State *L) { return search(L, true); }
static int str_match(lua_State *L) { return search(L, false); }

// MARK: gmatch

typedef struct Iterator {
  size_t at;
  size_t last;  // the end of the last match, or SIZE_MAX
} Iterator;

static int gmatch_next(lua_State *L) {
  Iterator *iterator = lua_touserdata(L, lua_upvalueindex(3));
  size_t length, patternLength;
  const char *s = lua_tolstring(L, lua_upvalueindex(1), &length);
  const char *p = lua_tolstring(L, lua_upvalueindex(2), &patternLength);
  Matcher m;
  prepare(&m, L, s, length, p, patternLength);
  for (size_t at = iterator->at; at <= length; at++) {
    const char *end = match_at(&m, s + at, p);
    if (end == NULL || (size_t)(end - s) == iterator->last) continue;
    iterator->at = iterator->last = (size_t)(end - s);
    return push_captures(&m, s + at, end);
  }
  return 0;
}

static int str_gmatch(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  luaL_checkstring(L, 2);
  size_t start = start_of(luaL_optinteger(L, 3, 1), length);
  lua_settop(L, 2);
  Iterator *iterator = lua_newuserdatauv(L, sizeof(Iterator), 0);
  iterator->at = start > length ? length + 1 : start;
  iterator->last = SIZE_MAX;
  lua_pushcclosure(L, gmatch_next, 3);
  return 1;
}

// MARK: gsub

static void add_text(Matcher *m, luaL_Buffer *buffer, const char *s, const char *e) {
  lua_State *L = m->L;
  size_t length;
  const char *text = lua_tolstring(L, 3, &length), *end = text + length;
  while (text < end) {
    const char *mark = memchr(text, '%', (size_t)(end - text));
    if (mark == NULL) {
      luaL_addlstring(buffer, text, (size_t)(end - text));
      return;
    }
    luaL_addlstring(buffer, text, (size_t)(mark - text));
    text = mark + 2;
    char kind = mark + 1 < end ? mark[1] : 0;
    if (kind == '%') {
      luaL_addchar(buffer, '%');
    } else if (kind == '0') {
      luaL_addlstring(buffer, s, (size_t)(e - s));
    } else if (isdigit((unsigned char)kind)) {
      const char *piece;
      size_t pieceLength = capture(m, kind - '1', s, e, &piece);
      if ((ptrdiff_t)pieceLength == POSITION) {
        luaL_addvalue(buffer);
      } else {
        luaL_addlstring(buffer, piece, pieceLength);
      }
    } else {
      luaL_error(L, "invalid use of '%%' in replacement string");
    }
  }
}

// Adds what replaces the match; false if the match stays as it is.
static bool add_value(Matcher *m, luaL_Buffer *buffer, const char *s, const char *e, int type) {
  lua_State *L = m->L;
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    int count = push_captures(m, s, e);
    lua_callk(L, count, 1, 0, NULL);
  } else if (type == LUA_TTABLE) {
    push_capture(m, 0, s, e);
    lua_gettable(L, 3);
  } else {
    add_text(m, buffer, s, e);
    return true;
  }
  if (!lua_toboolean(L, -1)) {
    lua_settop(L, -2);
    luaL_addlstring(buffer, s, (size_t)(e - s));
    return false;
  }
  if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  luaL_addvalue(buffer);
  return true;
}

static int str_gsub(lua_State *L) {
  size_t length, patternLength;
  const char *s = luaL_checklstring(L, 1, &length), *p = luaL_checklstring(L, 2, &patternLength);
  int type = lua_type(L, 3);
  luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                   "string/function/table");
  lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)length + 1), done = 0;
  if (type == LUA_TNUMBER) lua_tolstring(L, 3, NULL);
  bool anchored = *p == '^', changed = false;
  if (anchored) {
    p++;
    patternLength--;
  }
  Matcher m;
  prepare(&m, L, s, length, p, patternLength);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  const char *at = s, *last = NULL;
  while (done < most) {
    const char *end = match_at(&m, at, p);
    if (end != NULL && end != last) {
      done++;
      changed = add_value(&m, &buffer, at, end, type) | changed;
      at = last = end;
    } else if (at < m.end) {
      luaL_addchar(&buffer, *at++);
    } else {
      break;
    }
    if (anchored) break;
  }
  if (changed) {
    luaL_addlstring(&buffer, at, (size_t)(m.end - at));
    luaL_pushresult(&buffer);
  } else {
    lua_pushvalue(L, 1);
  }
  lua_pushinteger(L, done);
  return 2;
}

// Changes the library on the top.
void mbl_open_patterns(lua_State *L) {
  static const luaL_Reg entries[] = {
      {"find", str_find}, {"match", str_match}, {"gmatch", str_gmatch}, {"gsub", str_gsub}, {NULL, NULL}};
  luaL_setfuncs(L, entries, 0);
}
