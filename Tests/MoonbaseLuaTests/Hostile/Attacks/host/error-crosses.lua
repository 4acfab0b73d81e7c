-- A host error crosses the script unchanged.
--! ends: lua.host
fail()
