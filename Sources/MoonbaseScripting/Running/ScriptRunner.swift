import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Runs automation scripts in a domain and tells how the program should end.
public struct ScriptRunner {
  /// How a script ended.
  public struct Outcome: Sendable, Equatable {
    /// The exit status: 0 done, 1 the script or its data failed, 3 a limit was exceeded, 130 interrupted, or what the script
    /// gave to `os.exit`.
    public var status: Int32
    /// What to tell on standard error; nil if there is nothing to tell.
    public var message: String?
  }

  private let domain: ScriptDomain

  /// Makes a runner for a domain.
  public init(_ domain: ScriptDomain) { self.domain = domain }

  /// Runs sources one after the other in one environment, the last one with the arguments.
  ///
  /// `arg[0]` is the name of the last source. Unsaved changes and a failed save that nobody looked at are told.
  public func run(_ sources: [ScriptSource], arguments: [String] = []) -> Outcome {
    do {
      let environment = try environment(sources.last?.name ?? "moonbase", arguments)
      try domain.state.run {
        for source in sources {
          let chunk = try domain.state.load(LuaSource(source.text, name: source.name), in: environment)
          try chunk.call(arguments.map(LuaValue.text))
        }
      }
      return ending()
    } catch let error as LuaError {
      return outcome(of: error)
    } catch {
      return Outcome(status: 1, message: "\(error)")
    }
  }

  private func environment(_ name: String, _ arguments: [String]) throws -> LuaEnvironment {
    let table = try domain.state.table(elements: arguments.count)
    try table.set(0, .text(name))
    for (index, argument) in arguments.enumerated() { try table.set(index + 1, .text(argument)) }
    return try domain.state.environment(["arg": .table(table)])
  }

  /// The script came to its end: what it left behind decides.
  private func ending() -> Outcome {
    if let failure = domain.unseenFailure {
      return Outcome(status: 1, message: "a save failed and nothing was saved: \(failure.text)")
    }
    let changes = domain.contexts.reduce(0) {
      $0 + $1.insertedObjects.count + $1.updatedObjects.count + $1.deletedObjects.count
    }
    guard changes > 0 else { return Outcome(status: 0, message: nil) }
    let objects = changes == 1 ? "1 changed object was" : "\(changes) changed objects were"
    return Outcome(status: 0, message: "\(objects) not saved: call context:save() to keep changes")
  }

  private func outcome(of error: LuaError) -> Outcome {
    if let status = error.kind.exitStatus {
      let ending = ending()
      return Outcome(status: Int32(truncatingIfNeeded: status), message: ending.message)
    }
    if error.kind == .interrupted { return Outcome(status: 130, message: "interrupted") }
    return Outcome(status: error.kind.limit == nil ? 1 : 3, message: text(of: error))
  }

  private func text(of error: LuaError) -> String {
    var lines = [error.description]
    if let details = (error.underlying as? any CustomStringConvertible)?.description, !lines[0].contains(details) {
      lines.append(details)
    }
    if error.kind != .syntax, !error.traceback.isEmpty {
      lines.append("stack traceback:")
      lines += error.traceback.prefix(20).map { "  \($0)" }
    }
    return lines.joined(separator: "\n")
  }
}
