#include "parser/parser.h"
#include "run/run.h"

// Functions from sources and bytecode, and bytecode from functions.

typedef struct LoadRequest {
  const char *bytes;
  size_t length;
  const char *name;
  int32_t environment;
  bool binary;
  int64_t lines_before;
  bool is_expression;
} LoadRequest;

// Lines before a partial source are empty for the parser, so that it counts correctly.
static const char *next_piece(lua_State *L, void *data, size_t *size) {
  static const char lines[] = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n";
  LoadRequest *rest = data;
  (void)L;
  if (rest->lines_before > 0) {
    size_t most = sizeof lines - 1;
    *size = rest->lines_before < (int64_t)most ? (size_t)rest->lines_before : most;
    rest->lines_before -= (int64_t)*size;
    return lines;
  }
  if (rest->is_expression) {
    rest->is_expression = false;
    *size = sizeof "return " - 1;
    return "return ";
  }
  *size = rest->length;
  rest->length = 0;
  return *size > 0 ? rest->bytes : NULL;
}

static int load_body(lua_State *L) {
  LoadRequest *request = lua_touserdata(L, 1);
  const char *problem;
  int line = request->binary ? 0 : mbl_unfit_source(request->bytes, request->length, &problem);
  if (line > 0) {
    // The first byte of the name marks it as a name.
    lua_pushfstring(L, "%s:%d: %s", request->name + 1, line + (int)request->lines_before, problem);
    lua_pushinteger(L, LUA_ERRSYNTAX);
    return 2;
  }
  LoadRequest rest = *request;
  int status = lua_load(L, next_piece, &rest, request->name, request->binary ? "b" : "t");
  if (status != LUA_OK) mbl_tell_overflow(L);
  if (status == LUA_OK && request->environment != LUA_NOREF) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, request->environment);
    if (lua_setupvalue(L, -2, 1) == NULL) lua_settop(L, -2);
  }
  if (status == LUA_OK) mbl_coverage_load(mbl_of(L), L);
  lua_pushinteger(L, status);
  return 2;
}

MBLStatus mbl_load(MBLState *S, const char *bytes, size_t length, const char *name, int32_t environment, bool binary) {
  return mbl_load_part(S, bytes, length, name, environment, binary, 0, false);
}

MBLStatus mbl_load_part(MBLState *S, const char *bytes, size_t length, const char *name, int32_t environment,
                        bool binary, int64_t lines_before, bool is_expression) {
  LoadRequest request = {bytes, length, name, environment, binary, lines_before, is_expression};
  MBLStatus status = mbl_protect(S, load_body, &request, 2);
  if (status != MBLStatusOK) return status;
  status = (MBLStatus)lua_tointegerx(S->running, -1, NULL);
  lua_settop(S->running, -2);
  return status;
}

static int dump_writer(lua_State *L, const void *bytes, size_t size, void *buffer) {
  (void)L;
  luaL_addlstring(buffer, bytes, size);
  return 0;
}

static int dump_body(lua_State *L) {
  int32_t *request = lua_touserdata(L, 1);
  luaL_Buffer buffer;
  lua_rawgeti(L, LUA_REGISTRYINDEX, request[0]);
  // The function must be on the top, and luaL_Buffer moves the top: dump through a second stack.
  lua_State *side = lua_newthread(L);
  lua_pushvalue(L, -2);
  lua_xmove(L, side, 1);
  luaL_buffinit(L, &buffer);
  if (lua_dump(side, dump_writer, &buffer, request[1]) != 0) return luaL_error(L, "unable to dump the function");
  luaL_pushresult(&buffer);
  return 1;
}

MBLStatus mbl_dump(MBLState *S, int32_t function, bool strip) {
  int32_t request[2] = {function, strip};
  return mbl_protect(S, dump_body, request, 1);
}
