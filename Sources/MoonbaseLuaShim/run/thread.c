#include "run/run.h"

// Coroutines created, resumed and closed by the host.

static int thread_body(lua_State *L) {
  int32_t *function = lua_touserdata(L, 1);
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, *function);
  return mbl_coroutine_create(L);
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
  if (!mbl_coroutine_check(L, co)) return lua_error(L);
  luaL_checkstack(L, request->count + 4, NULL);
  for (int32_t i = 0; i < request->count; i++) mbl_push_value(S, L, &request->arguments[i]);
  int results = mbl_coroutine_resume(L, co, request->count);
  if (results < 0) {
    mbl_trace_capture(S, co, 0);
    return lua_error(L);
  }
  request->results = results;
  return results;
}

MBLStatus mbl_thread_resume(MBLState *S, int32_t thread, const MBLValue *arguments, int32_t count, int32_t *results) {
  ResumeRequest request = {thread, arguments, count, 0};
  S->trace.count = 0;
  MBLStatus status = mbl_protect(S, resume_body, &request, LUA_MULTRET);
  *results = request.results;
  return status;
}

int32_t mbl_thread_status(MBLState *S, int32_t thread) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return 2;
  lua_rawgeti(L, LUA_REGISTRYINDEX, thread);
  const char *status = mbl_coroutine_status(L, lua_tothread(L, -1));
  lua_settop(L, -2);
  return status[0] == 's' ? 0 : status[0] == 'd' ? 2 : 1;
}

static int close_body(lua_State *L) {
  int32_t *thread = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, *thread);
  lua_replace(L, 1);
  lua_settop(L, 1);
  int count = mbl_coroutine_close(L);
  if (count == 2) return lua_error(L);
  return 0;
}

MBLStatus mbl_thread_close(MBLState *S, int32_t thread) { return mbl_protect(S, close_body, &thread, 0); }
