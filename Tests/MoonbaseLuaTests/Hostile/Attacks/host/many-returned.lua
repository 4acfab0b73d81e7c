-- Very many results for the host.
--! ends: lua.ok
--! with: memory=64M instructions=1M
return table.unpack({}, 1, 200000)
