-- There is no string.dump, by any way.
--! ends: lua.runtime
--! not in trusted: trusted has string.dump
return (string.dump or ("").dump)(function() end)
