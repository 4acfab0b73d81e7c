-- An error of the host's comes back as it was.
--! ends: lua.host
fail()
