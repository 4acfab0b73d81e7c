-- There is no string.dump in any form.
--! ends: lua.runtime
--! not in trusted: trusted has string.dump
return (string.dump or ("").dump)(function() end)
