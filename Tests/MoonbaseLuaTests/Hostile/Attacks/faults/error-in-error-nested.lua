-- CVE-2022-33099: an error while an error is handled, repeatedly in coroutines.
--! ends: lua.ok lua.limit.memory lua.limit.instructions
for _ = 1, 20 do
  local co = coroutine.create(function()
    local function f() local ok, e = pcall(f) return f(e) + 1 end
    return f()
  end)
  coroutine.resume(co)
end
