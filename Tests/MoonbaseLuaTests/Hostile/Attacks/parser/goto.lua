-- Jumps without a label, or into blocks.
--! ends: lua.ok
for _, s in ipairs {
  "goto nowhere", "goto a do ::a:: end", "goto a local x ::a:: print(x)", "::a:: ::a::", "break", "do break end",
  "repeat local x goto a ::a:: until x", ("goto a "):rep(1000) .. "::a::",
} do
  load(s)
end
