-- CVE-2019-6706: an upvalue joined with itself (only preset trusted has the function).
--! ends: lua.ok
pcall(function()
  local function f() return print end
  debug.upvaluejoin(f, 1, f, 1)
  collectgarbage()
  f()
end)
