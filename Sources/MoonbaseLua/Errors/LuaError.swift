public import MoonbasePlatform

/// What went wrong in Lua, or on the way to it.
///
/// The message never depends on script code that could misbehave: a hostile `__tostring` costs the text, nothing else.
public struct LuaError: LocalizedError {
  /// A line of a traceback, innermost first.
  public struct Frame: Sendable, Equatable, CustomStringConvertible {
    /// The script, as named when loaded.
    public let source: String
    /// The current line; nil in host functions.
    public let line: Int?
    /// The function's name, if Lua knows one.
    public let name: String?
    /// "main", "function" or "host".
    public let kind: String
    /// The line at which a Lua function begins.
    public let definition: Int?

    /// `colors.lua:12: in function 'blend'`.
    public var description: String {
      "\(line.map { "\(source):\($0)" } ?? "[host]"): in \(what)"
    }

    private var what: String {
      if kind == "main" { return "main chunk" }
      if let name { return "function '\(name)'" }
      return definition.map { "function <\(source):\($0)>" } ?? "?"
    }
  }

  private final class Storage: @unchecked Sendable {  // written once, before it is thrown
    var kind: Kind
    var message: String
    var script: String?
    var line: Int?
    var traceback: [Frame] = []
    var underlying: (any Error)?
    var value: LuaValue?
    var raised: String?

    init(_ kind: Kind, _ message: String) {
      self.kind = kind
      self.message = message
    }
  }

  private let storage: Storage

  /// An error of a kind.
  public init(_ kind: Kind = .runtime, _ message: String) { storage = Storage(kind, message) }

  init(
    _ kind: Kind, _ message: String, script: String?, line: Int?, traceback: [Frame], underlying: (any Error)?,
    value: LuaValue?, raised: String? = nil
  ) {
    storage = Storage(kind, message)
    storage.script = script
    storage.line = line
    storage.traceback = traceback
    storage.underlying = underlying
    storage.value = value
    storage.raised = raised
  }

  /// The error itself if it is one of Lua's, else one that carries it.
  public init(wrapping error: any Error) {
    if let error = error as? LuaError {
      self = error
    } else {
      self.init(
        .host, String(describing: error), script: nil, line: nil, traceback: [], underlying: error, value: nil)
    }
  }

  /// What went wrong.
  public var kind: Kind { storage.kind }
  /// A stable name of the kind, such as "lua.syntax".
  public var code: String { storage.kind.code }
  /// A sentence without the place.
  public var message: String { storage.message }
  /// The script, as named when loaded.
  public var script: String? { storage.script }
  /// The line in the script.
  public var line: Int? { storage.line }
  /// Where Lua was, innermost first.
  public var traceback: [Frame] { storage.traceback }
  /// The Swift error that crossed Lua.
  public var underlying: (any Error)? { storage.underlying }

  /// The error value as the script raised it; nil in any state but its own.
  public func value(in state: LuaState) -> LuaValue? {
    guard let value = storage.value, state.owns(value) else { return nil }
    return value
  }
}

extension LuaError: CustomStringConvertible {
  /// `colors.lua:12: message`.
  public var description: String {
    guard let script else { return message }
    guard let line else { return "\(script): \(message)" }
    return "\(script):\(line): \(message)"
  }

  /// The same, for Foundation: what `localizedDescription` gives.
  public var errorDescription: String? { description }

  /// The message as `lua5.4` prints it: the text that was raised, with a place only where the script gave it one.
  public var plainDescription: String { storage.raised ?? description }

  /// What `lua5.4` prints of it: the message, and the traceback where it gives one.
  public var plainReport: String {
    var hasOwnText = false
    switch storage.value {
    case .table?, .object?, .userdata?: hasOwnText = !plainDescription.hasPrefix("(error object is a ")
    default: break
    }
    guard !traceback.isEmpty, !hasOwnText else { return plainDescription }
    let frames = traceback.map { "\t\($0)".replacing("[host]", with: "[C]") } + ["\t[C]: in ?"]
    return ([plainDescription, "stack traceback:"] + frames).joined(separator: "\n")
  }

  /// The description with the traceback below it.
  public var report: String {
    guard !traceback.isEmpty else { return description }
    return ([description, "stack traceback:"] + traceback.map { "\t\($0)" }).joined(separator: "\n")
  }
}
