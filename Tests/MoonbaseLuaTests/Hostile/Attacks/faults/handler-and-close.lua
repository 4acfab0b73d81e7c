-- A message handler with __close in its way (fixed in 5.4.5).
--! ends: lua.ok
for _ = 1, 100 do
  xpcall(function()
    local x <close> = setmetatable({}, { __close = function() error("second") end })
    local y <close> = setmetatable({}, { __close = function() error({}) end })
    error("first")
  end, function(e) return pcall(error, e) end)
end
