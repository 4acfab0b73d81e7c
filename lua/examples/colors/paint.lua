-- Imports the named colours of CSS, fetches some, and paints them all:
--
--   scripts/moonbase run lua/examples/colors/paint.lua
--
-- It writes moonbase-colors.sqlite and moonbase-colors.svg into the current folder.

local csv = require "moonbase.csv"

local here = arg[0]:match("^(.*)/[^/]*$") or "."
local source = here .. "/colors.csv"
local store_path, picture_path = "moonbase-colors.sqlite", "moonbase-colors.svg"

local store = moonbase.open {
  store = store_path,
  model = here .. "/model.lua",
  extensions = { here .. "/extension.lua" },
}
local context = store.context
local Color = moonbase.classes.Color

-- 1. Import ----------------------------------------------------------------------------------------------------

local families = {
  { name = "greys", from = -1, to = 0 }, { name = "reds", from = 0, to = 16 }, { name = "oranges", from = 16, to = 42 },
  { name = "yellows", from = 42, to = 68 }, { name = "greens", from = 68, to = 165 },
  { name = "cyans", from = 165, to = 190 }, { name = "blues", from = 190, to = 255 },
  { name = "purples", from = 255, to = 310 }, { name = "pinks", from = 310, to = 345 },
  { name = "reds", from = 345, to = 360.1 },
}

--- The object with this name: the one of an earlier run, or a new one.
local function named(entity, name)
  return context:find(entity, { name = name }) or context:insert(entity, { name = name })
end

local function family_of(hue)
  for position, family in ipairs(families) do
    if hue >= family.from and hue < family.to then
      local object = named("Family", family.name)
      if object.position == 0 then object.position = position end
      return object
    end
  end
end

local function import(path)
  local imported, refused = 0, 0
  for row, line in csv.rows(assert(io.open(path))) do
    local color = named("NamedColor", row.name)
    color.hex = row.hex
    local valid, err = color:validate()
    if valid then
      color.color = Color.parse(row.hex)
      color.family = family_of(color.hue)
      imported = imported + 1
    else
      for _, detail in ipairs(err.details) do
        io.stderr:write(string.format("%s:%d: row %s refused: %s \"%s\" breaks its rule: %s\n",
          path, line, row.name, detail.key, tostring(detail.value), detail.message))
      end
      context:delete(color)
      refused = refused + 1
    end
  end
  assert(context:save())
  return imported, refused
end

local imported, refused = import(source)
print(string.format("%d colours imported, %d refused", imported, refused))

-- 2. Fetch -----------------------------------------------------------------------------------------------------

print("\nBlues that are light enough to write on in black:\n")
print(string.format("  %-16s %-8s %10s %6s", "name", "hex", "luminance", "hue"))
local light_blues = context:fetch("NamedColor"):where("family.name = 'blues' AND luminance > 0.4"):sort("-luminance")
for color in light_blues:each() do
  print(string.format("  %-16s %-8s %10.3f %5.0f°", color.name, tostring(color.color), color.luminance, color.hue))
end

print("\nColours in each family:\n")
local in_order = context:fetch("Family"):sort("position"):all()
for _, family in ipairs(in_order) do
  print(string.format("  %-10s %s %d", family.name, string.rep("▪", #family.colors), #family.colors))
end

-- 3. Paint -----------------------------------------------------------------------------------------------------

local columns, width, height, gap, margin = 8, 156, 76, 10, 36

--- Swatches of one family from `top` on; returns where the next family may begin.
local function swatches(out, family, top)
  out[#out + 1] = string.format(
    '<text class="family" x="%d" y="%d">%s<tspan class="count" dx="10">%d</tspan></text>',
    margin, top + 20, family.name, #family.colors)
  top = top + 34
  local count = 0
  for color in context:fetch("NamedColor"):where("family = %@", family):sort("luminance", "name"):each() do
    local x = margin + count % columns * (width + gap)
    local y = top + count // columns * (height + gap)
    local ink = color.luminance > 0.25 and "#1b1b1f" or "#ffffff"
    out[#out + 1] = string.format(
      '<g transform="translate(%d %d)" fill="%s">'
      .. '<rect width="%d" height="%d" rx="10" fill="%s" stroke="#000000" stroke-opacity="0.12"/>'
      .. '<text x="12" y="%d" class="name"%s>%s</text><text x="12" y="%d" class="hex">%s</text></g>',
      x, y, ink, width, height, tostring(color.color), height - 30,
      #color.name > 16 and string.format(' textLength="%d" lengthAdjust="spacingAndGlyphs"', width - 24) or "",
      color.name, height - 13, tostring(color.color))
    count = count + 1
  end
  return top + (count + columns - 1) // columns * (height + gap) + 18
end

--- All colours that have a hue as rays of a wheel, bright ones reaching further.
local function wheel(out, x, y, radius)
  local rays = context:fetch("NamedColor"):where("hue >= 0"):sort("hue", "luminance"):all()
  local step = 2 * math.pi / #rays
  for index, color in ipairs(rays) do
    local from, to = (index - 1) * step - math.pi / 2, index * step - math.pi / 2
    local reach = radius * (0.55 + 0.45 * color.luminance ^ 0.5)
    out[#out + 1] = string.format(
      '<path d="M%.1f %.1fL%.1f %.1fA%.1f %.1f 0 0 1 %.1f %.1fL%.1f %.1fA%.1f %.1f 0 0 0 %.1f %.1fZ" fill="%s">'
      .. '<title>%s</title></path>',
      x + math.cos(from) * radius * 0.3, y + math.sin(from) * radius * 0.3,
      x + math.cos(from) * reach, y + math.sin(from) * reach, reach, reach,
      x + math.cos(to) * reach, y + math.sin(to) * reach,
      x + math.cos(to) * radius * 0.3, y + math.sin(to) * radius * 0.3, radius * 0.3, radius * 0.3,
      x + math.cos(from) * radius * 0.3, y + math.sin(from) * radius * 0.3,
      tostring(color.color), color.name)
  end
end

local full_width = 2 * margin + columns * (width + gap) - gap
local body = {}
wheel(body, full_width - margin - 170, margin + 170, 170)
local top = margin + 380
for _, family in ipairs(in_order) do
  top = swatches(body, family, top)
end

local picture = assert(io.open(picture_path, "w"))
picture:write(string.format([[
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">
<style>
  text { font-family: "Inter", "Helvetica Neue", "DejaVu Sans", sans-serif }
  .title { font-size: 46px; font-weight: 700; fill: #1b1b1f }
  .line { font-size: 18px; fill: #5c5c66 }
  .family { font-size: 20px; font-weight: 700; fill: #1b1b1f }
  .count { font-weight: 400; fill: #8a8a94 }
  .name { font-size: 12.5px; font-weight: 600 }
  .hex { font-size: 12px; opacity: 0.75 }
</style>
<rect width="100%%" height="100%%" fill="#fbfaf7"/>
<text class="title" x="%d" y="%d">The named colours of CSS</text>
<text class="line" x="%d" y="%d">%d colours, each stored as 32 bytes by a transformer written in Lua,</text>
<text class="line" x="%d" y="%d">fetched by family and sorted by a luminance that is computed, not stored.</text>
]], full_width, top + margin, full_width, top + margin, margin, margin + 150, margin, margin + 196,
  context:fetch("NamedColor"):count(), margin, margin + 222))
picture:write(table.concat(body, "\n"), "\n</svg>\n")
picture:close()

print("\nstore    " .. store_path)
print("picture  " .. picture_path)
print([[

Try next:
  open the picture in a browser
  sqlite3 ]] .. store_path .. [[ 'SELECT ZNAME, length(ZCOLOR) FROM ZNAMEDCOLOR LIMIT 5'
  change the rule or a derived attribute in ]] .. here .. [[/extension.lua and run this again]])
