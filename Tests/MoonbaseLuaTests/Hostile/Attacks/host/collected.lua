-- Handles of host objects made and dropped without end.
--! ends: lua.ok
for _ = 1, 3000 do local o = make() assert(o.name) end
collectgarbage()
