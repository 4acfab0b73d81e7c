#include <limits.h>
#include <string.h>

#include "library/library.h"

// The string functions whose cost or results must be bounded.

// string.rep(s, n [, sep]). The size is known beforehand, so that a limit ends the run before a byte is written.
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
  MBLState *S = mbl_of(L);
  if (S->limits.softMemory > 0 && total > S->limits.softMemory && S->run.depth > 0) {
    S->run.abort = MBLAbortMemory;
  }
  mbl_charge(L, (int64_t)(total / 64));
  luaL_Buffer buffer;
  char *out = luaL_buffinitsize(L, &buffer, total);
  for (lua_Integer i = 0; i < count; i++) {
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

// string.format without %p, and with texts of values that hold no addresses.
static int str_format(lua_State *L) {
  const char *format = luaL_checkstring(L, 1);
  int count = lua_gettop(L), argument = 1;
  for (; *format != 0; format++) {
    if (*format != '%') continue;
    if (*++format == '%') continue;
    argument++;
    while (*format != 0 && strchr("-+ #0123456789.", *format) != NULL) format++;
    if (*format == 'p') return luaL_error(L, "'%%p' is not available in a sandbox");
    if (*format == 's' && argument <= count && lua_type(L, argument) >= LUA_TTABLE) {
      mbl_push_text(L, argument);
      lua_replace(L, argument);
    } else if (*format == 's' && argument <= count && lua_islightuserdata(L, argument)) {
      mbl_push_text(L, argument);
      lua_replace(L, argument);
    }
    if (*format == 0) break;
  }
  return mbl_call_original(L);
}

// string.pack, packsize and unpack go over their format, letter by letter.
static int str_packed(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  mbl_charge(L, (int64_t)length);
  return mbl_call_original(L);
}

static int str_unpack(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  // Makes room for all results at once: a stack that grows result by result looks like a circle of calls (memory.c).
  if (length > 1000) lua_checkstack(L, length < LUAI_MAXSTACK / 2 ? (int)length : LUAI_MAXSTACK / 2);
  return str_packed(L);
}

// Changes the library on the top.
void mbl_open_strings(lua_State *L) {
  static const luaL_Reg entries[] = {
      {"format", str_format}, {"pack", str_packed}, {"packsize", str_packed}, {"unpack", str_unpack}, {NULL, NULL}};
  mbl_open_patterns(L);
  mbl_cover(L, entries);
  lua_pushcfunction(L, str_rep);
  lua_setfield(L, -2, "rep");
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
}
