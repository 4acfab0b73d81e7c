-- pairs does not return the table behind a proxy.
--! ends: lua.ok
--! not in trusted: trusted has one script's world only
for _, library in pairs { string = string, table = table } do
  local iterate, state = pairs(library)
  assert(not pcall(rawset, state, "x", 1))
  pcall(iterate, {}, "nothing")
  pcall(iterate, state, "nothing")
end
assert(string.x == nil)
