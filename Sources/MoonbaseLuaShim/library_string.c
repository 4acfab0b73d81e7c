#include <limits.h>
#include <string.h>

#include "internal.h"

// Lua's string functions whose cost or results the host must hold in check.

// string.rep(s, n [, sep]): the size is known beforehand, so a limit is met before a byte is written.
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
  if (S->limits.softMemory > 0 && total > S->limits.softMemory && S->depth > 0) {
    S->abort = MBLAbortMemory;
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
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, count, 1, 0, NULL);
  return 1;
}

// Changes the library on the top.
void mbl_open_strings(lua_State *L) {
  mbl_open_patterns(L);
  lua_pushcfunction(L, str_rep);
  lua_setfield(L, -2, "rep");
  lua_getfield(L, -1, "format");
  lua_pushcclosure(L, str_format, 1);
  lua_setfield(L, -2, "format");
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
}
