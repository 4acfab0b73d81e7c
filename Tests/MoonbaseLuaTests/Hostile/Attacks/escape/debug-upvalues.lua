-- The debug library gives texts about calls only, no functions or variables.
--! ends: lua.ok
--! not in trusted: trusted has the debug library
for level = 0, 20 do
  for key, value in pairs(debug.getinfo and debug.getinfo(level, "nSlutfrL") or {}) do
    assert(type(value) ~= "function" and type(value) ~= "table", key)
  end
end
for _, level in ipairs { -1, math.mininteger, math.maxinteger } do
  assert(not debug.getinfo or debug.getinfo(level) == nil)
  debug.traceback("x", level)
end
assert(not debug.getmetatable or debug.getmetatable("") == false and debug.getmetatable(string) == false)
debug.traceback(coroutine.create(print), ("x"):rep(1000), 0)
for _, name in ipairs { "getlocal", "getregistry", "getupvalue", "getuservalue", "setcstacklimit",
  "setlocal", "setmetatable", "setupvalue", "setuservalue", "upvalueid", "upvaluejoin", "debug" } do
  assert(not debug or not debug[name])
end
