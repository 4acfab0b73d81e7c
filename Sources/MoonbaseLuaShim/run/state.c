#include <stdlib.h>
#include <string.h>

#include "run/run.h"

// States: opening and closing them.

static int setup(lua_State *L) {
  mbl_host_setup(L);
  mbl_open_libraries(L);
  return 0;
}

static void free_all(MBLState *S) {
  mbl_host_free(S);
  mbl_limits_free(S);
  free(S);
}

MBLState *mbl_open(const MBLHost *host, void *owner, MBLPreset preset) {
  MBLState *S = calloc(1, sizeof(MBLState));
  if (S == NULL) return NULL;
  mbl_work_prepare();
  S->host = host;
  S->owner = owner;
  S->preset = preset;
  S->run.budget = INT64_MAX;
  mbl_set_ceilings(S);
  S->memory.failAfter = -1;
  S->failure.reference = LUA_NOREF;
  S->queue = mbl_queue_new();
  S->control = mbl_control_new();
  lua_State *L = S->queue != NULL && S->control != NULL ? lua_newstate(mbl_allocate, S) : NULL;
  if (L == NULL) {
    free_all(S);
    return NULL;
  }
  S->main = S->running = L;
  *(MBLState **)lua_getextraspace(L) = S;
  lua_setwarnf(L, mbl_warn, S);
  lua_gc(L, LUA_GCSTOP);
  lua_pushcfunction(L, setup);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
    mbl_close(S);
    return NULL;
  }
  lua_gc(L, LUA_GCRESTART);
  // With Lua's default pause, scripts that build large tables spend half of their time on collections. Memory limits
  // cause further collections.
  lua_gc(L, LUA_GCINC, 300, 0, 0);
  // The memory of the libraries does not count for scripts.
  S->memory.baseline = S->memory.used;
  mbl_set_ceilings(S);
  S->hosted.mark = S->hosted.bytes + MBL_LEAST_GROWTH;
  return S;
}

void mbl_close(MBLState *S) {
  S->closing = true;
  S->limits = (MBLLimits){0};
  mbl_set_ceilings(S);
  S->memory.failAfter = -1;
  lua_sethook(S->main, NULL, 0, 0);
  lua_close(S->main);
  free_all(S);
}

void mbl_set_plain_output(MBLState *S, bool isPlain) { S->library.plainOutput = isPlain; }
void *mbl_owner(MBLState *S) { return S->owner; }
const char *mbl_version(void) { return LUA_RELEASE; }
