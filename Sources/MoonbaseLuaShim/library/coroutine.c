#include "library/library.h"

// A replacement for Lua's coroutine library, for three reasons: the running coroutine must be known, to end it from a
// signal handler; a resume must not catch the end of a run; coroutines that close coroutines need their own limit.

// The depth to which coroutines may close coroutines. A little deeper, Lua 5.4.4 crashes.
#define CLOSE_DEPTH 64

// The registry key of the table of coroutines, used while they are counted.
static const char threads = 0;

static lua_State *check_thread(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "coroutine");
  return co;
}

// Runs `co` and returns its status. The results are on its stack.
static int run(lua_State *L, lua_State *co, int arguments, int *results) {
  MBLState *S = mbl_of(L);
  lua_State *before = S->running;
  S->running = co;
  if (S->run.abort) mbl_arm(S);
  int status = lua_resume(co, L, arguments, results);
  S->running = before;
  if (S->run.abort) mbl_arm(S);
  return status;
}

static int close_thread(lua_State *L, lua_State *co) {
  MBLState *S = mbl_of(L);
  if (S->library.closeDepth >= CLOSE_DEPTH) return luaL_error(L, "C stack overflow (coroutines that close coroutines)");
  S->library.closeDepth++;
  lua_State *before = S->running;
  S->running = co;
  if (S->run.abort) mbl_arm(S);
  int status = lua_resetthread(co);
  S->running = before;
  S->library.closeDepth--;
  if (S->run.abort) {
    mbl_arm(S);
    return mbl_raise_abort(L);
  }
  return status;
}

static int census(lua_State *L) {
  int64_t count = 0;
  lua_gc(L, LUA_GCCOLLECT);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &threads);
  for (lua_pushnil(L); lua_next(L, -2); lua_settop(L, -2)) {
    int status = lua_status(lua_tothread(L, -2));
    if (status == LUA_YIELD || status == LUA_OK) count++;
  }
  lua_settop(L, -2);
  mbl_of(L)->library.coroutines = count;
  return 0;
}

static void count_thread(lua_State *L) {
  MBLState *S = mbl_of(L);
  mbl_charge(L, MBL_GRANULE / 4);
  if (S->limits.coroutines <= 0) return;
  if (S->library.coroutines >= S->limits.coroutines) {
    census(L);
    // At least a quarter must have been collected, or each new coroutine would cost a collection.
    if (S->library.coroutines > S->limits.coroutines / 2 + S->limits.coroutines / 4) {
      mbl_end_run(S, MBLAbortCoroutines);
      mbl_arm(S);
      mbl_raise_abort(L);
    }
  }
  S->library.coroutines++;
}

int mbl_coroutine_create(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  count_thread(L);
  lua_State *co = lua_newthread(L);
  if (mbl_of(L)->limits.coroutines > 0) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &threads);
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_settop(L, -2);
  }
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

int mbl_coroutine_resume(lua_State *L, lua_State *co, int arguments) {
  int results;
  if (!lua_checkstack(co, arguments)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  if (lua_status(co) == LUA_OK && lua_gettop(co) == 0) {
    lua_pushliteral(L, "cannot resume dead coroutine");
    return -1;
  }
  lua_xmove(L, co, arguments);
  int status = run(L, co, arguments, &results);
  if (mbl_of(L)->run.abort) return mbl_raise_abort(L);
  if (status == LUA_OK || status == LUA_YIELD) {
    if (!lua_checkstack(L, results + 1)) {
      lua_settop(co, -results - 1);
      lua_pushliteral(L, "too many results to resume");
      return -1;
    }
    lua_xmove(co, L, results);
    return results;
  }
  lua_xmove(co, L, 1);
  return -1;
}

const char *mbl_coroutine_status(lua_State *L, lua_State *co) {
  if (L == co) return "running";
  switch (lua_status(co)) {
    case LUA_YIELD: return "suspended";
    case LUA_OK: {
      lua_Debug frame;
      if (lua_getstack(co, 0, &frame)) return "normal";
      return lua_gettop(co) == 0 ? "dead" : "suspended";
    }
    default: return "dead";
  }
}

bool mbl_coroutine_check(lua_State *L, lua_State *co) {
  const char *status = mbl_coroutine_status(L, co);
  if (status[0] == 's') return true;
  lua_pushfstring(L, "cannot resume %s coroutine", status[0] == 'd' ? "dead" : "non-suspended");
  return false;
}

static int co_resume(lua_State *L) {
  lua_State *co = check_thread(L);
  int results = mbl_coroutine_check(L, co) ? mbl_coroutine_resume(L, co, lua_gettop(L) - 1) : -1;
  if (results < 0) {
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
  }
  lua_pushboolean(L, 1);
  lua_insert(L, -(results + 1));
  return results + 1;
}

static int wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int results = mbl_coroutine_check(L, co) ? mbl_coroutine_resume(L, co, lua_gettop(L)) : -1;
  if (results >= 0) return results;
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    if (close_thread(L, co) != LUA_OK) lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int co_wrap(lua_State *L) {
  mbl_coroutine_create(L);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

static int co_yield(lua_State *L) { return lua_yield(L, lua_gettop(L)); }

static int co_status(lua_State *L) {
  lua_State *co = check_thread(L);
  lua_pushstring(L, mbl_coroutine_status(L, co));
  return 1;
}

static int co_running(lua_State *L) {
  int main = lua_pushthread(L);
  lua_pushboolean(L, main);
  return 2;
}

static int co_isyieldable(lua_State *L) {
  lua_State *co = lua_isnone(L, 1) ? L : check_thread(L);
  lua_pushboolean(L, lua_isyieldable(co));
  return 1;
}

int mbl_coroutine_close(lua_State *L) {
  lua_State *co = check_thread(L);
  const char *status = mbl_coroutine_status(L, co);
  if (status[0] != 's' && status[0] != 'd') return luaL_error(L, "cannot close a %s coroutine", status);
  if (close_thread(L, co) == LUA_OK) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushboolean(L, 0);
  lua_xmove(co, L, 1);
  return 2;
}

int mbl_open_coroutine(lua_State *L) {
  mbl_make_weak_table(L, &threads, "k");
  static const luaL_Reg entries[] = {
      {"create", mbl_coroutine_create}, {"resume", co_resume},         {"running", co_running}, {"status", co_status},
      {"wrap", co_wrap},     {"isyieldable", co_isyieldable}, {"yield", co_yield},   {"close", mbl_coroutine_close},
      {NULL, NULL}};
  luaL_newlib(L, entries);
  return 1;
}
