-- Draws the sum of the orders of each month.
local months, names, most = {}, {}, 0
for row in moonbase.context:fetch("Order"):sort("placed"):rows { "placed", "total" } do
  local month = moonbase.date.format(row.placed, "%b")
  if not months[month] then names[#names + 1] = month end
  months[month] = (months[month] or 0) + row.total:number()
  most = math.max(most, months[month])
end

print(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="130" font-family="sans-serif" font-size="12">')
  :format(60 * #names))
for index, month in ipairs(names) do
  local height = 100 * months[month] / most
  local x = 60 * index - 50
  print(('<rect x="%d" y="%.1f" width="40" height="%.1f" fill="#47a"/>'):format(x, 110 - height, height))
  print(('<text x="%d" y="125">%s %.2f</text>'):format(x - 5, month, months[month]))
end
print("</svg>")
