---@meta
-- Batch jobs: files for `moonbase batch run`.

---The job that a function works for.
---@class moonbase.JobRun
---@field name string
---@field chunk integer the chunk's number, from 1; 0 in `start` and `finish`
---@field chunks integer the number of chunks
---@field attempt integer 1, or more if the chunk failed before

---Works on objects; returns nothing, or nil and why it failed.
---@alias moonbase.ChunkFunction fun(objects: moonbase.Object[], context: moonbase.Context, job: moonbase.JobRun): ...

---@class moonbase.BatchJob
---@field request string|fun(context: moonbase.Context): moonbase.Request an entity, or the request of the objects
---@field start? fun(context: moonbase.Context, job: moonbase.JobRun) before the first chunk
---@field chunk moonbase.ChunkFunction is called for each part of the objects
---@field finish? fun(context: moonbase.Context, job: moonbase.JobRun) after the last one
