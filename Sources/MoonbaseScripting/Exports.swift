// The values of scripts and the reader of Lua models have a target below the graph, for programs that only read models.
@_exported public import MoonbaseLuaModel
