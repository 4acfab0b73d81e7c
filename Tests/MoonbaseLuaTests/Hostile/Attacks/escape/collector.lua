-- The collector cannot be stopped or tuned.
--! ends: lua.ok
--! not in trusted: trusted has Lua's own function
for _, option in ipairs { "stop", "restart", "generational", "incremental", "setpause", "setstepmul", "step", "collect" } do
  collectgarbage(option, 0, 0, 0)
end
assert(collectgarbage("isrunning"))
