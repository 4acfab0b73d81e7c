-- The table behind a proxy is not handed out by pairs.
--! ends: lua.ok
--! not in trusted: trusted has one script's world only
for _, library in pairs { string = string, table = table } do
  local iterate, state = pairs(library)
  assert(not pcall(rawset, state, "x", 1))
  pcall(iterate, {}, "nothing")
  pcall(iterate, state, "nothing")
end
assert(string.x == nil)
