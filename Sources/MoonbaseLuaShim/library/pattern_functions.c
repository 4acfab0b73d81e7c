#include <ctype.h>
#include <string.h>

#include "library/pattern.h"

// find, match, gmatch and gsub with our matcher.

// MARK: Results

// Capture `index`, or the whole match for index 0 without captures.
static size_t capture(MBLMatcher *m, int index, const char *s, const char *e, const char **text) {
  if (index >= m->level) {
    if (index != 0) luaL_error(m->L, "invalid capture index %%%d", index + 1);
    *text = s;
    return (size_t)(e - s);
  }
  ptrdiff_t length = m->capture[index].length;
  *text = m->capture[index].start;
  if (length == MBL_CAPTURE_OPEN) luaL_error(m->L, "unfinished capture");
  if (length == MBL_CAPTURE_POSITION) lua_pushinteger(m->L, m->capture[index].start - m->begin + 1);
  return (size_t)length;
}

static void push_capture(MBLMatcher *m, int index, const char *s, const char *e) {
  const char *text;
  size_t length = capture(m, index, s, e, &text);
  if ((ptrdiff_t)length != MBL_CAPTURE_POSITION) lua_pushlstring(m->L, text, length);
}

static int push_captures(MBLMatcher *m, const char *s, const char *e) {
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
  const char *found = mbl_find_bytes(s + start, length - start, p, patternLength);
  // Only the bytes before the match are charged, because scripts search a long text repeatedly.
  mbl_charge(L, (int64_t)((found == NULL ? length - start : (size_t)(found - s) - start) / 64));
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
  MBLMatcher m;
  mbl_matcher_prepare(&m, L, s, length, p, patternLength);
  const char *at = s + start;
  MBLPrefix prefix = anchored ? (MBLPrefix){0} : mbl_prefix(&m, p);
  do {
    if ((at = mbl_next_place(&m, at, &prefix)) == NULL) break;
    const char *end = mbl_match_after(&m, at, p, &prefix);
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
  MBLMatcher m;
  mbl_matcher_prepare(&m, L, s, length, p, patternLength);
  MBLPrefix prefix = mbl_prefix(&m, p);
  for (size_t from = iterator->at; from <= length; from++) {
    const char *at = mbl_next_place(&m, s + from, &prefix);
    if (at == NULL) break;
    from = (size_t)(at - s);
    const char *end = mbl_match_after(&m, at, p, &prefix);
    if (end == NULL || (size_t)(end - s) == iterator->last) continue;
    iterator->at = iterator->last = (size_t)(end - s);
    return push_captures(&m, at, end);
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

// A replacement may be longer than the replaced text, so its bytes are charged too.
static void add_bytes(MBLMatcher *m, luaL_Buffer *buffer, const char *bytes, size_t length) {
  mbl_matcher_count(m, length / 64);
  luaL_addlstring(buffer, bytes, length);
}

// Appends the value on the top.
static void add_top(MBLMatcher *m, luaL_Buffer *buffer) {
  mbl_matcher_count(m, lua_rawlen(m->L, -1) / 64);
  luaL_addvalue(buffer);
}

static void add_text(MBLMatcher *m, luaL_Buffer *buffer, const char *s, const char *e) {
  lua_State *L = m->L;
  size_t length;
  const char *text = lua_tolstring(L, 3, &length), *end = text + length;
  while (text < end) {
    const char *mark = memchr(text, '%', (size_t)(end - text));
    if (mark == NULL) {
      add_bytes(m, buffer, text, (size_t)(end - text));
      return;
    }
    add_bytes(m, buffer, text, (size_t)(mark - text));
    text = mark + 2;
    char kind = mark + 1 < end ? mark[1] : 0;
    if (kind == '%') {
      luaL_addchar(buffer, '%');
    } else if (kind == '0') {
      add_bytes(m, buffer, s, (size_t)(e - s));
    } else if (isdigit((unsigned char)kind)) {
      const char *piece;
      size_t pieceLength = capture(m, kind - '1', s, e, &piece);
      if ((ptrdiff_t)pieceLength == MBL_CAPTURE_POSITION) {
        luaL_addvalue(buffer);
      } else {
        add_bytes(m, buffer, piece, pieceLength);
      }
    } else {
      luaL_error(L, "invalid use of '%%' in replacement string");
    }
  }
}

// A replacement without '%', which is copied unchanged.
typedef struct PlainText {
  const char *bytes;  // NULL if there is none
  size_t length;
} PlainText;

static PlainText plain_replacement(lua_State *L, int type) {
  PlainText text = {0};
  if (type != LUA_TSTRING && type != LUA_TNUMBER) return text;
  text.bytes = lua_tolstring(L, 3, &text.length);
  if (memchr(text.bytes, '%', text.length) != NULL) text.bytes = NULL;
  return text;
}

// Appends the replacement of the match. Returns false if the match stays unchanged.
static bool add_value(MBLMatcher *m, luaL_Buffer *buffer, const char *s, const char *e, int type) {
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
  add_top(m, buffer);
  return true;
}

static int str_gsub(lua_State *L) {
  size_t length, patternLength;
  const char *s = luaL_checklstring(L, 1, &length), *p = luaL_checklstring(L, 2, &patternLength);
  int type = lua_type(L, 3);
  luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                   "string/function/table");
  lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)length + 1), done = 0;
  PlainText plain = plain_replacement(L, type);
  bool anchored = *p == '^', changed = false;
  if (anchored) {
    p++;
    patternLength--;
  }
  MBLMatcher m;
  mbl_matcher_prepare(&m, L, s, length, p, patternLength);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  const char *at = s, *last = NULL;
  MBLPrefix prefix = anchored ? (MBLPrefix){0} : mbl_prefix(&m, p);
  while (done < most) {
    const char *place = mbl_next_place(&m, at, &prefix);
    if (place == NULL) break;
    luaL_addlstring(&buffer, at, (size_t)(place - at));
    at = place;
    const char *end = mbl_match_after(&m, at, p, &prefix);
    if (end != NULL && end != last) {
      done++;
      if (plain.bytes != NULL) {
        add_bytes(&m, &buffer, plain.bytes, plain.length);
        changed = true;
      } else {
        changed = add_value(&m, &buffer, at, end, type) | changed;
      }
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
