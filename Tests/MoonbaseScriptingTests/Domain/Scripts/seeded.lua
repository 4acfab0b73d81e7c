-- Common functions of random scripts: random numbers that a seed repeats on every machine, and choices made with them.
local seeded = {}
local state = 1

-- Sets the seed.
function seeded.begin(seed) state = seed end

-- A random number from 1 to `bound`.
function seeded.random(bound)
  state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return (state >> 33) % bound + 1
end

-- A random element of a list.
function seeded.any(list) return list[seeded.random(#list)] end

return seeded
