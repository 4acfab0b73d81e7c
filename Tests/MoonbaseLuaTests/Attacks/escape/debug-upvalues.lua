-- No function of debug is there, in compat neither.
--! ends: lua.ok
--! not in trusted: trusted has the debug library
for _, name in ipairs { "getinfo", "getlocal", "getmetatable", "getregistry", "getupvalue", "gethook", "getuservalue", "setcstacklimit",
  "sethook", "setlocal", "setmetatable", "setupvalue", "setuservalue", "upvalueid", "upvaluejoin", "debug" } do
  assert(not debug or not debug[name])
end
