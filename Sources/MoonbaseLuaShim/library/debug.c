#include <string.h>

#include "library/library.h"

// The harmless part of the debug library: it returns texts and numbers about calls, never functions or variables.

static lua_State *thread_argument(lua_State *L, int *first) {
  lua_State *co = lua_tothread(L, 1);
  *first = co != NULL ? 2 : 1;
  return co != NULL ? co : L;
}

// Appends to the text on the top.
static void add_frame(lua_State *L, lua_State *co, lua_Debug *frame) {
  lua_getinfo(co, "Sln", frame);
  if (frame->currentline > 0) {
    lua_pushfstring(L, "\n\t%s:%d: in ", frame->short_src, frame->currentline);
  } else {
    lua_pushfstring(L, "\n\t%s: in ", frame->short_src);
  }
  if (frame->what[0] == 'm') {
    lua_pushliteral(L, "main chunk");
  } else if (frame->name != NULL) {
    lua_pushfstring(L, "%s '%s'", frame->namewhat, frame->name);
  } else if (frame->what[0] == 'C') {
    lua_pushliteral(L, "?");
  } else {
    lua_pushfstring(L, "function <%s:%d>", frame->short_src, frame->linedefined);
  }
  lua_concat(L, 3);
}

// traceback([thread,] [message [, level]])
static int debug_traceback(lua_State *L) {
  int first;
  lua_State *co = thread_argument(L, &first);
  lua_settop(L, first + 1);
  if (!lua_isnoneornil(L, first) && !lua_isstring(L, first)) {
    lua_pushvalue(L, first);
    return 1;
  }
  lua_Integer level = luaL_optinteger(L, first + 1, co == L ? 1 : 0);
  if (lua_isnoneornil(L, first)) {
    lua_pushliteral(L, "stack traceback:");
  } else {
    lua_pushvalue(L, first);
    lua_pushliteral(L, "\nstack traceback:");
    lua_concat(L, 2);
  }
  lua_Debug frame;
  for (int count = 0; level >= 0 && level < 100000 && lua_getstack(co, (int)level, &frame); level++) {
    if (++count > MBL_TRACE_ENTRIES) {
      lua_pushliteral(L, "\n\t...");
      lua_concat(L, 2);
      break;
    }
    add_frame(L, co, &frame);
  }
  return 1;
}

static void set_text(lua_State *L, const char *key, const char *text) {
  if (text == NULL) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, lua_Integer number) {
  lua_pushinteger(L, number);
  lua_setfield(L, -2, key);
}

// getinfo([thread,] function or level [, what]): returns neither functions nor lists of lines, which may be long.
static int debug_getinfo(lua_State *L) {
  int first;
  lua_State *co = thread_argument(L, &first);
  lua_Debug frame;
  memset(&frame, 0, sizeof frame);
  if (lua_type(L, first) == LUA_TFUNCTION) {
    lua_pushvalue(L, first);
    lua_getinfo(L, ">Su", &frame);
    frame.currentline = -1;
  } else {
    lua_Integer level = luaL_checkinteger(L, first);
    if (level < 0 || level > 100000 || !lua_getstack(co, (int)level, &frame)) {
      lua_pushnil(L);
      return 1;
    }
    lua_getinfo(co, "Slnu", &frame);
  }
  lua_createtable(L, 0, 12);
  set_text(L, "source", frame.source);
  set_text(L, "short_src", frame.short_src);
  set_text(L, "what", frame.what);
  set_text(L, "name", frame.name);
  set_text(L, "namewhat", frame.namewhat);
  set_number(L, "currentline", frame.currentline);
  set_number(L, "linedefined", frame.linedefined);
  set_number(L, "lastlinedefined", frame.lastlinedefined);
  set_number(L, "nparams", frame.nparams);
  set_number(L, "nups", frame.nups);
  lua_pushboolean(L, frame.isvararg);
  lua_setfield(L, -2, "isvararg");
  return 1;
}

static int debug_nothing(lua_State *L) {
  (void)L;
  return 0;
}

int mbl_open_debug(lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, debug_traceback);
  lua_setfield(L, -2, "traceback");
  if (mbl_of(L)->preset == MBLPresetCompat) {
    lua_pushcfunction(L, debug_getinfo);
    lua_setfield(L, -2, "getinfo");
    // The function of the base library, which respects `__metatable`.
    lua_getglobal(L, "getmetatable");
    lua_setfield(L, -2, "getmetatable");
    lua_pushcfunction(L, debug_nothing);
    lua_setfield(L, -2, "gethook");
    lua_pushcfunction(L, debug_nothing);
    lua_setfield(L, -2, "sethook");
  }
  return 1;
}
