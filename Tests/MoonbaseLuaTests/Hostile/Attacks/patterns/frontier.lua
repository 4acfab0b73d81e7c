-- A frontier searched repeatedly.
--! ends: lua.limit.instructions
--! timed
--! not in trusted: trusted has the system library's matcher, which looks at no hook
while true do for _ in ("a"):rep(100000):gmatch("%f[b].-c") do end end
