#include "host/host.h"

// Swift functions that Lua calls.

typedef struct MBLFunctionBox {
  void *function;
  int64_t weight;
  int32_t place;
} MBLFunctionBox;

static int function_call(lua_State *L) {
  MBLState *S = mbl_of(L);
  MBLFunctionBox *box = lua_touserdata(L, lua_upvalueindex(1));
  if (S->closing) return luaL_error(L, "the state is closing");
  MBLPassage passage;
  mbl_passage_begin(&passage, S, L, lua_gettop(L));
  return mbl_passage_end(&passage, S->host->call(box->function, &passage.frame));
}

bool mbl_frame_environment(MBLFrame *frame) {
  lua_State *L = frame->thread;
  if (lua_type(L, lua_upvalueindex(2)) != LUA_TTABLE || !lua_checkstack(L, 1)) return false;
  lua_pushvalue(L, lua_upvalueindex(2));
  return true;
}

static int function_collect(lua_State *L) {
  MBLFunctionBox *box = mbl_check_box(L, &mbl_key_function_metatable, "host function");
  if (box->function != NULL) mbl_disown(mbl_of(L), box->place, box->weight);
  box->function = NULL;
  return 0;
}

// Leaves a closure on the stack and retains the Swift function.
void mbl_push_function(MBLState *S, lua_State *L, void *function, int64_t weight) {
  MBLFunctionBox *box = lua_newuserdatauv(L, sizeof(MBLFunctionBox), 0);
  box->function = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_function_metatable);
  lua_setmetatable(L, -2);
  mbl_reserve_place(S, L);
  S->host->retain(function);
  box->function = function;
  box->weight = weight;
  box->place = mbl_own(S, function, weight);
  lua_pushcclosure(L, function_call, 1);
}

// Copies a host function between tables. The copy uses the target table as the environment of its caller.
void mbl_bind_function(lua_State *L, int from, int to, const char *name) {
  int top = lua_gettop(L);
  lua_getfield(L, from, name);
  if (lua_tocfunction(L, -1) == function_call && lua_getupvalue(L, -1, 1) != NULL) {
    lua_pushvalue(L, to);
    lua_pushcclosure(L, function_call, 2);
    lua_setfield(L, to, name);
  }
  lua_settop(L, top);
}

typedef struct FunctionRequest {
  void *function;
  int64_t weight;
} FunctionRequest;

static int function_body(lua_State *L) {
  FunctionRequest *request = lua_touserdata(L, 1);
  mbl_push_function(mbl_of(L), L, request->function, request->weight);
  return 1;
}

MBLStatus mbl_function_new(MBLState *S, void *function, int64_t weight) {
  FunctionRequest request = {function, weight};
  return mbl_protect(S, function_body, &request, 1);
}

void mbl_function_setup(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, function_collect);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_function_metatable);
}
