package import MoonbaseGraph
import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform

/// A script of a batch job: which objects it works on, and what is done with each chunk of them.
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
/// `request` may be the name of an entity.
package final class BatchScript {
  /// The Lua state that it runs in.
  package let domain: ScriptDomain
  private let requestName: String?
  private let requestFunction: LuaFunction?
  private let chunkFunction: LuaFunction
  private let startFunction: LuaFunction?
  private let finishFunction: LuaFunction?

  /// What a function is told of the job.
  package struct Job {
    package var name: String
    package var chunk: Int
    package var chunks: Int
    package var attempt: Int

    package init(name: String, chunk: Int = 0, chunks: Int, attempt: Int = 1) {
      (self.name, self.chunk, self.chunks, self.attempt) = (name, chunk, chunks, attempt)
    }
  }

  /// Runs the file. Throws `ScriptError` for what it should not return, and what it raises.
  package init(_ source: ScriptSource, in domain: ScriptDomain) throws {
    self.domain = domain
    let environment = try domain.state.environment([:])
    let results = try domain.state.load(source.text, name: source.name, in: environment).call([])
    let table = try ReturnedTable.table(in: results, of: "a batch job") { message in
      ScriptError(.malformedFile, message: message, at: source.location(of: []))
    }
    let reader = TableReader(table: table, source: source, path: [])
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

  /// The objects that the job works on.
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

  /// Before the first chunk.
  package func start(_ context: ManagedObjectContext, _ job: Job) throws { try call(startFunction, context, job) }

  /// After the last one.
  package func finish(_ context: ManagedObjectContext, _ job: Job) throws { try call(finishFunction, context, job) }

  private func call(_ function: LuaFunction?, _ context: ManagedObjectContext, _ job: Job) throws {
    _ = try function?.call([.object(domain.types.context.handle(context)), .table(table(job))])
  }

  /// Works on objects. A function that returns nil and a reason, or false, has failed.
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

  private func table(_ job: Job) throws -> LuaTable {
    let table = try domain.state.table()
    try table.set("name", to: .text(job.name))
    try table.set("chunk", to: .integer(Int64(job.chunk)))
    try table.set("chunks", to: .integer(Int64(job.chunks)))
    try table.set("attempt", to: .integer(Int64(job.attempt)))
    return table
  }
}
