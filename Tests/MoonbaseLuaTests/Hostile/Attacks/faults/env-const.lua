-- CVE-2022-28805: _ENV as a constant.
--! ends: lua.ok
for _, source in ipairs {
  "local _ENV <const> = 1; a = 1", "local _ENV <const> = nil; a = b", "local _ENV <const> = {}; return a.b.c",
  "local a <const> = 1; local _ENV <const> = a; b = 1",
} do
  pcall(load(source) or error)
end
