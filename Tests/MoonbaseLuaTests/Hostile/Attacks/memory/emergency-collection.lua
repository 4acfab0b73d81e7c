-- An emergency collection frees a metamethod in use (Lua 5.4.4, fixed in 5.4.8).
--! ends: lua.limit.memory lua.limit.instructions
for _ = 1, math.huge do
  local mt = setmetatable({ __newindex = {} }, { __mode = "v" })
  local t = setmetatable({}, mt)
  pcall(string.rep, "x", 1 << 21)
  for i = 1, 1000 do t[i] = { i } end
  keep = { keep, t }
end
