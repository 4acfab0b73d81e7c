#include "state.h"

// Lua's coroutine library, written anew: the running thread must be known (to end it from a signal handler), an ended run
// must not be caught by a resume, and coroutines that close coroutines need a bound of their own.

static lua_State *check_thread(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "coroutine");
  return co;
}

// Runs `co`; gives its status. The results are on its stack.
int mbl_resume(lua_State *L, lua_State *co, int arguments, int *results) {
  MBLState *S = mbl_of(L);
  lua_State *before = S->running;
  S->running = co;
  if (S->abort) mbl_arm(S);
  int status = lua_resume(co, L, arguments, results);
  S->running = before;
  if (S->abort) mbl_arm(S);
  return status;
}

int mbl_close_thread(lua_State *L, lua_State *co) {
  MBLState *S = mbl_of(L);
  if (S->closeDepth >= MBL_CLOSE_DEPTH) return luaL_error(L, "C stack overflow (coroutines that close coroutines)");
  S->closeDepth++;
  lua_State *before = S->running;
  S->running = co;
  if (S->abort) mbl_arm(S);
  int status = lua_resetthread(co);
  S->running = before;
  S->closeDepth--;
  if (S->abort) {
    mbl_arm(S);
    return mbl_raise_abort(L);
  }
  return status;
}

static int census(lua_State *L) {
  int64_t count = 0;
  lua_gc(L, LUA_GCCOLLECT);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_threads);
  for (lua_pushnil(L); lua_next(L, -2); lua_settop(L, -2)) {
    int status = lua_status(lua_tothread(L, -2));
    if (status == LUA_YIELD || status == LUA_OK) count++;
  }
  lua_settop(L, -2);
  mbl_of(L)->coroutines = count;
  return 0;
}

static void count_thread(lua_State *L) {
  MBLState *S = mbl_of(L);
  mbl_charge(L, MBL_GRANULE / 4);
  if (S->limits.coroutines <= 0) return;
  if (S->coroutines >= S->limits.coroutines) {
    census(L);
    // Half of them must have gone, or each new one would cost a collection.
    if (S->coroutines > S->limits.coroutines / 2 + S->limits.coroutines / 4) {
      S->abort = MBLAbortCoroutines;
      mbl_arm(S);
      mbl_raise_abort(L);
    }
  }
  S->coroutines++;
}

static int co_create(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  count_thread(L);
  lua_State *co = lua_newthread(L);
  if (mbl_of(L)->limits.coroutines > 0) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_threads);
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_settop(L, -2);
  }
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

// The number of results moved to L, or -1 with an error value on L.
static int resume(lua_State *L, lua_State *co, int arguments) {
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
  int status = mbl_resume(L, co, arguments, &results);
  if (mbl_of(L)->abort) return mbl_raise_abort(L);
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

static const char *status_name(lua_State *L, lua_State *co) {
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

static bool resumable(lua_State *L, lua_State *co) {
  const char *status = status_name(L, co);
  if (status[0] == 's') return true;
  lua_pushfstring(L, "cannot resume %s coroutine", status[0] == 'd' ? "dead" : "non-suspended");
  return false;
}

static int co_resume(lua_State *L) {
  lua_State *co = check_thread(L);
  int results = resumable(L, co) ? resume(L, co, lua_gettop(L) - 1) : -1;
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
  int results = resumable(L, co) ? resume(L, co, lua_gettop(L)) : -1;
  if (results >= 0) return results;
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    if (mbl_close_thread(L, co) != LUA_OK) lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int co_wrap(lua_State *L) {
  co_create(L);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

static int co_yield(lua_State *L) { return lua_yield(L, lua_gettop(L)); }

static int co_status(lua_State *L) {
  lua_State *co = check_thread(L);
  lua_pushstring(L, status_name(L, co));
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

static int co_close(lua_State *L) {
  lua_State *co = check_thread(L);
  const char *status = status_name(L, co);
  if (status[0] != 's' && status[0] != 'd') return luaL_error(L, "cannot close a %s coroutine", status);
  if (mbl_close_thread(L, co) == LUA_OK) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushboolean(L, 0);
  lua_xmove(co, L, 1);
  return 2;
}

int mbl_open_coroutine(lua_State *L) {
  static const luaL_Reg entries[] = {
      {"create", co_create}, {"resume", co_resume},         {"running", co_running}, {"status", co_status},
      {"wrap", co_wrap},     {"isyieldable", co_isyieldable}, {"yield", co_yield},   {"close", co_close},
      {NULL, NULL}};
  luaL_newlib(L, entries);
  return 1;
}

// MARK: From the host

static int thread_body(lua_State *L) {
  int32_t *function = lua_touserdata(L, 1);
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, *function);
  return co_create(L);
}

MBLStatus mbl_thread_new(MBLState *S, int32_t function) { return mbl_protect(S, thread_body, &function, 1); }

typedef struct ResumeRequest {
  int32_t thread;
  const MBLValue *arguments;
  int32_t count;
  int32_t results;
} ResumeRequest;

static int resume_body(lua_State *L) {
  ResumeRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->thread);
  lua_State *co = lua_tothread(L, -1);
  if (!resumable(L, co)) return lua_error(L);
  luaL_checkstack(L, request->count + 4, NULL);
  for (int32_t i = 0; i < request->count; i++) mbl_push_value(S, L, &request->arguments[i]);
  int results = resume(L, co, request->count);
  if (results < 0) {
    mbl_trace_capture(S, co, 0);
    return lua_error(L);
  }
  request->results = results;
  return results;
}

MBLStatus mbl_thread_resume(MBLState *S, int32_t thread, const MBLValue *arguments, int32_t count, int32_t *results) {
  ResumeRequest request = {thread, arguments, count, 0};
  S->traceCount = 0;
  MBLStatus status = mbl_protect(S, resume_body, &request, LUA_MULTRET);
  *results = request.results;
  return status;
}

// 0 suspended, 1 running or normal, 2 dead.
int32_t mbl_thread_status(MBLState *S, int32_t thread) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return 2;
  lua_rawgeti(L, LUA_REGISTRYINDEX, thread);
  const char *status = status_name(L, lua_tothread(L, -1));
  lua_settop(L, -2);
  return status[0] == 's' ? 0 : status[0] == 'd' ? 2 : 1;
}

static int close_body(lua_State *L) {
  int32_t *thread = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, *thread);
  lua_replace(L, 1);
  lua_settop(L, 1);
  int count = co_close(L);
  if (count == 2) return lua_error(L);
  return 0;
}

MBLStatus mbl_thread_close(MBLState *S, int32_t thread) { return mbl_protect(S, close_body, &thread, 0); }
