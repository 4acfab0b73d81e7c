-- Lint for every Lua file of the project: the modules, the type definitions, the examples and the tests' scripts.
std = "lua54"
max_line_length = 120
read_globals = { "moonbase" }
exclude_files = { ".build", "Benchmarks/.build" }

-- Type definitions declare what the host provides: their parameters are documentation, their globals the point.
files["lua/types"] = { ignore = { "111", "112", "113", "121", "122", "131", "142", "143", "212", "241", "311" } }
