---@meta
-- Batch jobs: files for `moonbase batch run`.

---The job, as passed to its functions.
---@class moonbase.Job
---@field name string
---@field chunk integer the chunk's number, from 1; 0 in `start` and `finish`
---@field chunks integer the number of chunks
---@field attempt integer 1, or more if the chunk failed before

---Processes a chunk's objects; returns nothing, or nil and the reason of a failure.
---@alias moonbase.ChunkFunction fun(objects: moonbase.Object[], context: moonbase.Context, job: moonbase.Job): ...

---@class moonbase.BatchJob
---@field request string|fun(context: moonbase.Context): moonbase.Request an entity, or a request for the objects
---@field start? fun(context: moonbase.Context, job: moonbase.Job) before the first chunk
---@field chunk moonbase.ChunkFunction
---@field finish? fun(context: moonbase.Context, job: moonbase.Job) after the last chunk
