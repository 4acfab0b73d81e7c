#include <string.h>

#include "library/library.h"

// The utf8 library. Functions that walk over a text are charged by its bytes.

// The bytes charged as an instruction.
#define PACE 4

static bool continues(char byte) { return (byte & 0xC0) == 0x80; }

// The bytes of the character at `bytes`; 0 if it is invalid. A Lua string ends with a zero byte.
static size_t decode(const char *bytes, bool isStrict, uint32_t *code) {
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000, 0x200000, 0x4000000};
  unsigned char first = (unsigned char)*bytes;
  if (first < 0x80) {
    *code = first;
    return 1;
  }
  if (first < 0xC0 || first >= 0xFE) return 0;
  size_t more = 1;
  while (first & (0x40 >> more)) more++;
  uint32_t value = first & (0x3F >> more);
  for (size_t i = 1; i <= more; i++) {
    if (!continues(bytes[i])) return 0;
    value = value << 6 | (uint32_t)(bytes[i] & 0x3F);
  }
  if (value < least[more]) return 0;
  if (isStrict && (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))) return 0;
  *code = value;
  return more + 1;
}

// A step of utf8.codes. Lua 5.4.4 skips any number of continuation bytes after a character; here up to five are
// skipped.
static int step(lua_State *L, bool isStrict) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Unsigned place = (lua_Unsigned)luaL_checkinteger(L, 2);
  for (int skipped = 0; place > 0 && place < length && continues(text[place]); skipped++) {
    if (skipped == 5) return luaL_error(L, "invalid UTF-8 code");
    place++;
  }
  if (place >= length) return 0;
  uint32_t code;
  size_t bytes = decode(text + place, isStrict, &code);
  if (bytes == 0 || continues(text[place + bytes])) return luaL_error(L, "invalid UTF-8 code");
  lua_pushinteger(L, (lua_Integer)place + 1);
  lua_pushinteger(L, code);
  return 2;
}

static int strict_step(lua_State *L) { return step(L, true); }
static int lax_step(lua_State *L) { return step(L, false); }

static int codes(lua_State *L) {
  const char *text = luaL_checkstring(L, 1);
  luaL_argcheck(L, !continues(*text), 1, "invalid UTF-8 code");
  lua_pushcfunction(L, lua_toboolean(L, 2) ? lax_step : strict_step);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

static lua_Integer place(lua_Integer index, size_t length) {
  if (index >= 0) return index;
  return index < -(lua_Integer)length ? 0 : (lua_Integer)length + index + 1;
}

static int charged(lua_State *L, lua_Integer from, lua_Integer to, size_t length) {
  from = place(from, length);
  to = place(to, length);
  if (to > (lua_Integer)length) to = (lua_Integer)length;
  if (to > from) mbl_charge(L, (to - from) / PACE);
  return mbl_call_original(L);
}

// The number of ASCII bytes from `text` on, counted in steps of eight.
static lua_Integer ascii_bytes(const char *text, lua_Integer most) {
  lua_Integer count = 0;
  for (uint64_t word; count + 8 <= most; count += 8) {
    memcpy(&word, text + count, 8);
    if (word & 0x8080808080808080) break;
  }
  return count;
}

static int len(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer from = place(luaL_optinteger(L, 2, 1), length), to = place(luaL_optinteger(L, 3, -1), length);
  bool isStrict = !lua_toboolean(L, 4);
  luaL_argcheck(L, 1 <= from && from <= (lua_Integer)length + 1, 2, "initial position out of bounds");
  luaL_argcheck(L, to <= (lua_Integer)length, 3, "final position out of bounds");
  lua_Integer at = from - 1, count = 0;
  if (to > at) mbl_charge(L, (to - at) / PACE);
  while (at < to) {
    lua_Integer ascii = ascii_bytes(text + at, to - at);
    at += ascii;
    count += ascii;
    if (at == to) break;
    uint32_t code;
    size_t bytes = decode(text + at, isStrict, &code);
    if (bytes == 0) {
      luaL_pushfail(L);
      lua_pushinteger(L, at + 1);
      return 2;
    }
    at += (lua_Integer)bytes;
    count++;
  }
  lua_pushinteger(L, count);
  return 1;
}

static int codepoint(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  lua_Integer from = luaL_optinteger(L, 2, 1);
  return charged(L, from, luaL_optinteger(L, 3, from), length);
}

// The number of bytes is known only after the walk, so it is charged then.
static int offset(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  lua_Integer count = luaL_checkinteger(L, 2);
  lua_Integer from = place(luaL_optinteger(L, 3, count > 0 ? 1 : (lua_Integer)length + 1), length);
  int results = mbl_call_original(L);
  lua_Integer to = lua_isinteger(L, -1) ? lua_tointegerx(L, -1, NULL) : count > 0 ? (lua_Integer)length : 0;
  mbl_charge(L, (to > from ? to - from : from - to) / PACE);
  return results;
}

int mbl_open_utf8(lua_State *L) {
  static const luaL_Reg entries[] = {{"codepoint", codepoint}, {"offset", offset}, {NULL, NULL}};
  luaopen_utf8(L);
  mbl_cover(L, entries);
  lua_pushcfunction(L, codes);
  lua_setfield(L, -2, "codes");
  lua_pushcfunction(L, len);
  lua_setfield(L, -2, "len");
  return 1;
}
