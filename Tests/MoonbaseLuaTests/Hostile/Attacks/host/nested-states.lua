-- Each call makes a state of its own: no state's own bound is reached.
--! ends: lua.limit.callDepth
--! with: instructions=100M memory=16M
local code = "local code = ... fresh(code, code)"
fresh(code, code)
