-- Errors of every type.
--! ends: lua.ok
for _, v in ipairs { 1, 1.5, true, {}, print, coroutine.create(print), "x\0y", "\xff", ("x"):rep(100000) } do
  assert(not pcall(error, v))
  assert(not pcall(error, v, math.maxinteger))
  assert(not pcall(error, v, math.mininteger))
  coroutine.resume(coroutine.create(error), v)
  xpcall(error, error, v)
end
