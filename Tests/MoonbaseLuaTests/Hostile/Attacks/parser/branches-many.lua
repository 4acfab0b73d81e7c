-- A practically endless number of branches.
--! ends: lua.ok
--! with: instructions=10M memory=64M
--! not in trusted: trusted has the system library's load
assert(not load("if a then " .. ("elseif a then "):rep(70000) .. "end"))
