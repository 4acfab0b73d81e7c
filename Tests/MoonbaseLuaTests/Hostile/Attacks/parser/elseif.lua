-- Very many branches.
--! ends: lua.ok
load("if a then " .. ("elseif a then "):rep(4000) .. "end")
