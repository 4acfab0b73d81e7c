#include <limits.h>
#include <string.h>

#include "library/library.h"

// The string functions whose cost or results must be limited; format is in its own file.

// The number of bytes written between two checks of the limits.
#define LOOK_BYTES (1 << 20)

// Ends the run if a text would exceed the memory limit, and charges the cost of making the text.
static void charge_text(lua_State *L, size_t total) {
  MBLState *S = mbl_of(L);
  if (total > S->memory.size && S->run.depth > 0) mbl_end_run(S, MBLAbortMemory);
  mbl_charge(L, (int64_t)(total / 64));
}

// string.rep(s, n [, sep]). The size is known beforehand, so a limit ends the run before any byte is written.
static int str_rep(lua_State *L) {
  size_t length, separatorLength;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer count = luaL_checkinteger(L, 2);
  const char *separator = luaL_optlstring(L, 3, "", &separatorLength);
  if (count <= 0 || length + separatorLength == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  size_t piece = length + separatorLength;
  if (piece < length || (piece > 0 && (uint64_t)count > (uint64_t)INT_MAX / piece)) {
    return luaL_error(L, "resulting string too large");
  }
  size_t total = (size_t)count * length + (size_t)(count - 1) * separatorLength;
  charge_text(L, total);
  luaL_Buffer buffer;
  char *out = luaL_buffinitsize(L, &buffer, total), *nextLook = out + LOOK_BYTES;
  for (lua_Integer i = 0; i < count; i++) {
    if (out >= nextLook) {
      mbl_check_abort(L);
      nextLook = out + LOOK_BYTES;
    }
    memcpy(out, text, length);
    out += length;
    if (separatorLength > 0 && i + 1 < count) {
      memcpy(out, separator, separatorLength);
      out += separatorLength;
    }
  }
  luaL_pushresultsize(&buffer, total);
  return 1;
}

// An upper bound of the bytes that string.pack writes, for its texts and for the padding of `cN`.
static size_t packed_size(lua_State *L, const char *format, size_t length) {
  size_t total = 16 * length;
  for (int i = lua_gettop(L); i > 1; i--) {
    if (lua_type(L, i) == LUA_TSTRING) total += lua_rawlen(L, i);
  }
  for (const char *c = memchr(format, 'c', length); c != NULL; c = memchr(c, 'c', length - (size_t)(c - format))) {
    size_t size = 0;
    for (c++; *c >= '0' && *c <= '9' && size <= INT_MAX; c++) size = size * 10 + (size_t)(*c - '0');
    total += size;
  }
  return total;
}

static int str_pack(lua_State *L) {
  size_t length;
  const char *format = luaL_checklstring(L, 1, &length);
  size_t total = packed_size(L, format, length);
  if (total > INT_MAX) return luaL_error(L, "resulting string too large");
  charge_text(L, total);
  mbl_charge(L, (int64_t)length);
  return mbl_call_original(L);
}

// string.packsize and unpack walk their format letter by letter.
static int str_packed(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  mbl_charge(L, (int64_t)length);
  return mbl_call_original(L);
}

static int str_unpack(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  // Makes room for all results at once, because a stack that grows result by result looks like a circle of calls
  // (memory.c).
  if (length > 1000) lua_checkstack(L, length < LUAI_MAXSTACK / 2 ? (int)length : LUAI_MAXSTACK / 2);
  return str_packed(L);
}

// Changes the library on the top.
void mbl_open_strings(lua_State *L) {
  static const luaL_Reg entries[] = {
      {"format", mbl_format}, {"pack", str_pack}, {"packsize", str_packed}, {"unpack", str_unpack}, {NULL, NULL}};
  mbl_open_patterns(L);
  mbl_cover(L, entries);
  lua_pushcfunction(L, str_rep);
  lua_setfield(L, -2, "rep");
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
}
