-- Draws what a run printed beside the file that changed meanwhile, as an SVG that repeats every ten seconds:
--
--   moonbase run draw.lua BEFORE.lua AFTER.lua TRANSCRIPT > reload.svg
--
-- A line of the transcript that begins with `$` is a command. The file changes after the second line. Without
-- animation the end is shown.
local function lines_of(path)
  local lines = {}
  for line in assert(io.open(path)):lines() do lines[#lines + 1] = line end
  return lines
end

local before, after, transcript = lines_of(arg[1]), lines_of(arg[2]), lines_of(arg[3])
local seconds, step, gap = 10, 1.5, 20

local function escaped(text) return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;")) end

--- Makes an element come at a moment, or go.
local function animation(moment, goes)
  return ('<animate attributeName="opacity" dur="%ds" repeatCount="indefinite" calcMode="discrete" values="%s" '
    .. 'keyTimes="0;%.3f"/>'):format(seconds, goes and "1;0" or "0;1", moment / seconds)
end

local function text(x, y, class, line, moving, opacity)
  print(('<text x="%d" y="%d" class="%s"%s xml:space="preserve">%s%s</text>')
    :format(x, y, class, opacity and ' opacity="' .. opacity .. '"' or "", escaped(line), moving or ""))
end

local rows = math.max(#after, #transcript)
local width, height = 900, 70 + gap * rows
print(([[
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>A rule in Lua is changed while a script runs, and the store behaves differently</title>
<style>
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #d7dce5 }
.head { fill: #8b95a7 } .command { fill: #8fd3a8 } .changed { fill: #f2c46d }
</style>
<rect width="%d" height="%d" rx="8" fill="#1b2130"/>
<path d="M390 0V%d" stroke="#333c50"/>]]):format(width, height, width, height, width, height, height))
text(20, 28, "head", "rules.lua, in an editor")
text(410, 28, "head", "a terminal")

local changes = 2 * step + 0.5
for index, line in ipairs(after) do
  local y = 40 + gap * index
  if line == before[index] then
    text(20, y, "code", line)
  else
    text(20, y, "code", before[index], animation(changes, true), 0)
    text(20, y, "changed", line, animation(changes))
  end
end
for index, line in ipairs(transcript) do
  local moment = index <= 2 and step * (index - 1) + 0.2 or changes + step * (index - 2)
  text(410, 40 + gap * index, line:find("^%$") and "command" or "output", line, animation(moment))
end
print("</svg>")
