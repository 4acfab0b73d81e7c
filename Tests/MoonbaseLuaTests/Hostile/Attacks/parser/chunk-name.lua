-- CVE-2025-49844: chunk names, while the collector works.
--! ends: lua.ok lua.limit.memory lua.limit.instructions
for i = 1, 200 do
  load("x = " .. ("{"):rep(i % 100) .. ("}"):rep(i % 100), ("name"):rep(i * 10) .. i)
  load(("error("):rep(i), "=" .. ("\0"):rep(i))
  load("\n\n=", "@" .. ("\n"):rep(i))
  collectgarbage("step")
end
