-- Coroutines that resume, wrap and close themselves and each other.
--! ends: lua.ok
local co
co = coroutine.create(function()
  assert(not coroutine.resume(co))
  assert(not pcall(coroutine.close, co))
  local other = coroutine.create(function() return coroutine.resume(co), pcall(coroutine.close, co) end)
  coroutine.resume(other)
end)
assert(coroutine.resume(co))
assert(not coroutine.resume(co))
coroutine.close(co)
