-- A host object: its metatable, wrong keys, wrong receivers.
--! ends: lua.ok
assert(not getmetatable(object) and not pcall(setmetatable, object, {}))
assert(not pcall(rawset, object, "name", 1) and not pcall(rawget, object, "name"))
assert(object.name == "a thing")
assert(not pcall(function() return object.nothing end))
assert(not pcall(function() object.nothing = 1 end))
for _, other in ipairs { {}, 1, "x", print, coroutine.create(print), true } do
  assert(not pcall(object.twice, other, 1))
  assert(not pcall(object.name, other))
end
assert(not pcall(object.twice) and not pcall(object.twice, nil, 1))
assert(not pcall(object.twice, object) and not pcall(object.twice, object, {}))
assert(object:twice(4) == 8)
for _, n in ipairs { math.mininteger, math.maxinteger, 0.5, 1e308, 0 / 0, "x", "0x10" } do pcall(object.twice, object, n) end
