-- Very many arguments for a host function.
--! ends: lua.ok
--! with: instructions=1M
assert(take(table.unpack({}, 1, 100000)) == 100000)
