#ifndef MOONBASE_LUA_SHIM_H
#define MOONBASE_LUA_SHIM_H

// Everything that Swift calls, with a header for each folder of the shim. No function here raises a Lua error across
// its caller: code that can raise runs in C under lua_pcall and returns a status. Lua's own headers are not included,
// so that Swift cannot access them.

#include "MBLHost.h"
#include "MBLLibrary.h"
#include "MBLLimits.h"
#include "MBLRun.h"
#include "MBLTypes.h"

#endif
