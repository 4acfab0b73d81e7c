-- Keys that a converter does not support.
--! ends: lua.ok
for _, t in ipairs { { [{}] = 1 }, { [print] = 1 }, { [1.5] = 1 }, { [true] = 1 }, { [2 ^ 53] = 1 }, { ["\xff"] = 1 }, { [math.mininteger] = 1 }, { 1, nil, 3 } } do
  pcall(tree, t)
end
