package import MoonbaseGraph
import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform

/// The script of a batch job: the objects to process, and the function for each chunk of them.
///
/// ```lua
/// return {
///   request = function(context) return context:fetch("Word"):where("count = 0") end,
///   start = function(context, job) end,
///   chunk = function(objects, context, job)
///     for _, word in ipairs(objects) do word.count = #word.text end
///   end,
///   finish = function(context, job) end,
/// }
/// ```
///
/// `request` may be the name of an entity instead.
///
/// A script object belongs to one thread with its domain. Workers of a parallel job load the file once each.
package final class BatchScript {
  /// The Lua state of the script.
  package let domain: ScriptDomain
  /// The entity, if `request` is a name.
  private let requestName: String?
  /// Returns the request, if `request` is a function.
  private let requestFunction: LuaFunction?
  /// Processes a chunk.
  private let chunkFunction: LuaFunction
  /// Called before the first chunk; nil if absent.
  private let startFunction: LuaFunction?
  /// Called after the last chunk; nil if absent.
  private let finishFunction: LuaFunction?

  /// The facts about the job passed to the script's functions.
  package struct Job {
    /// The name of the job.
    package var name: String
    /// The number of the chunk, from 1.
    package var chunk: Int
    /// The number of chunks.
    package var chunks: Int
    /// The number of the attempt, from 1.
    package var attempt: Int

    /// A job with these values.
    package init(name: String, chunk: Int = 0, chunks: Int, attempt: Int = 1) {
      (self.name, self.chunk, self.chunks, self.attempt) = (name, chunk, chunks, attempt)
    }
  }

  /// Runs the file. Throws `ScriptError` for a wrong result, and errors that the file raises. A job needs `request` and
  /// `chunk`; unknown keys are refused.
  package init(_ source: ScriptSource, in domain: ScriptDomain) throws {
    self.domain = domain
    let environment = try domain.state.environment([:])
    let results = try domain.state.load(source.text, name: source.name, in: environment).call([])
    let table = try ReturnedTable.table(in: results, of: "a batch job") { message in
      ScriptError(.malformedFile, message: message, at: source.location(of: []))
    }
    let reader = ScriptTableReader(table: table, source: source, path: [])
    try reader.check(["request", "start", "chunk", "finish"])
    let request = try table.get("request")
    (requestName, requestFunction) = (request.textValue, request.functionValue)
    guard requestName != nil || requestFunction != nil else {
      throw reader.error(
        "request",
        message: "the name of an entity is expected, or a function that returns a request, not \(request.typePhrase)")
    }
    guard let chunk = try reader.function("chunk") else {
      throw reader.error("chunk", message: "a function of the objects is expected, as in chunk = function(objects) end")
    }
    chunkFunction = chunk
    startFunction = try reader.function("start")
    finishFunction = try reader.function("finish")
  }

  /// The request for the job's objects. Throws `.invalidRequest` if the function returns no request, or a request with
  /// limit or offset.
  package func request(in context: ManagedObjectContext) throws -> FetchRequest {
    guard let requestFunction else { return FetchRequest(requestName ?? "") }
    let results = try requestFunction.call([.object(domain.types.context.handle(context))])
    guard case .object(let object)? = results.first, let box = object.object as? RequestBox else {
      throw requestFunction.mistake(
        "the function 'request' returns a request, as context:fetch(\"Person\"):where(\"age > 3\"), not "
          + (results.first?.typePhrase ?? "nothing"))
    }
    let request = try box.objectRequest("request")
    guard request.fetchLimit == 0, request.fetchOffset == 0 else {
      throw requestFunction.mistake("a job works on all objects of its request: leave limit and offset out")
    }
    return request
  }

  /// Calls the script's function before the first chunk.
  package func start(_ context: ManagedObjectContext, _ job: Job) throws { try call(startFunction, context, job) }

  /// Calls the script's function after the last chunk.
  package func finish(_ context: ManagedObjectContext, _ job: Job) throws { try call(finishFunction, context, job) }

  /// Calls a function with the context and the job.
  private func call(_ function: LuaFunction?, _ context: ManagedObjectContext, _ job: Job) throws {
    _ = try function?.call([.object(domain.types.context.handle(context)), .table(table(job))])
  }

  /// Processes a chunk of objects. A function that returns false, or nil and a reason, has failed. Throws
  /// `.invalidValue` with the reason in that case, and errors of the function.
  package func chunk(_ objects: [ManagedObject], _ context: ManagedObjectContext, _ job: Job) throws {
    let results = try chunkFunction.call([
      .table(domain.list(of: objects)), .object(domain.types.context.handle(context)), .table(table(job)),
    ])
    switch results.first {
    case .nil? where results.count > 1, .boolean(false)?:
      throw try ScriptError(.invalidValue, message: results.dropFirst().first?.reason ?? "the chunk was refused")
    default: break
    }
  }

  /// The job as a table: `{ name, chunk, chunks, attempt }`.
  private func table(_ job: Job) throws -> LuaTable {
    let table = try domain.state.table()
    try table.set("name", to: .text(job.name))
    try table.set("chunk", to: .integer(Int64(job.chunk)))
    try table.set("chunks", to: .integer(Int64(job.chunks)))
    try table.set("attempt", to: .integer(Int64(job.attempt)))
    return table
  }
}
