-- CVE-2024-31449: host functions with every kind of argument.
--! ends: lua.ok lua.limit.memory
for _, v in ipairs { math.mininteger, math.maxinteger, -2 ^ 31, 1e308, 0 / 0, "\xff", "", {}, print, object, coroutine.create(print) } do
  pcall(many, v) pcall(nest, v) pcall(fresh, v) pcall(tree, v) pcall(take, v) pcall(fail, v)
  pcall(many, v, v, v) pcall(nest, v, v, v) pcall(fresh, v, v, v)
end
