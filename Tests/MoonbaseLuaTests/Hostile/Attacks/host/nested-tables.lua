-- CVE-2018-11218, CVE-2022-24834: tables nested 100,000 deep for a converter.
--! ends: lua.ok lua.runtime
--! with: memory=64M instructions=5M
local t = {}
for _ = 1, 100000 do t = { t } end
local ok, message = pcall(tree, t)
assert(not ok)
