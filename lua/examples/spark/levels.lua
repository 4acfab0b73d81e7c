local levels = {}

-- The level of a temperature in degrees Celsius.
function levels.of(celsius)
  if celsius < 10 then return "low" end
  if celsius < 30 then return "normal" end
  return "high"
end

return levels
