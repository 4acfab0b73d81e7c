public import MoonbasePlatform

/// An error of Lua or of a call into Lua: kind, message, place, traceback, and the raised value or Swift error.
///
/// ```swift
/// do {
///   try state.load("local p\nprint(p.x)", name: "colors.lua")()
/// } catch {
///   error.code          // "lua.runtime"
///   error.description   // "colors.lua:2: attempt to index a nil value (local 'p')"
///   print(error.report, state.codeFrame(of: error) ?? "")
/// }
/// ```
///
/// The message never depends on script code that could misbehave: a hostile `__tostring` only loses its text.
public struct LuaError: LocalizedError {
  /// A line of a traceback, such as `colors.lua:12: in function 'blend'`.
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

  /// Shared by copies, so that an error is a single pointer.
  private final class Storage: @unchecked Sendable {  // immutable after initialization
    var kind: Kind
    var message: String
    var script: String?
    var line: Int?
    var traceback: [Frame] = []
    var underlying: (any Error)?
    var value: LuaValue?
    var raised: String?
    var raisedCode: Int?

    /// Further properties are set by the initializer of `LuaError`.
    init(_ kind: Kind, message: String) {
      self.kind = kind
      self.message = message
    }
  }

  private let storage: Storage

  /// Creates an error to throw from a host function.
  ///
  /// ```swift
  /// throw LuaError(.runtime, message: "Person has no '\(key)'")
  /// ```
  public init(_ kind: Kind = .runtime, message: String) { storage = Storage(kind, message: message) }

  /// For errors from Lua.
  init(
    _ kind: Kind, message: String, script: String?, line: Int? = nil, traceback: [Frame] = [],
    underlying: (any Error)? = nil, value: LuaValue? = nil, raised: String? = nil, raisedCode: Int? = nil
  ) {
    storage = Storage(kind, message: message)
    storage.script = script
    storage.line = line
    storage.traceback = traceback
    storage.underlying = underlying
    storage.value = value
    storage.raised = raised
    storage.raisedCode = raisedCode
  }

  /// Wraps an error. A `LuaError` is returned unchanged. Any other error gets kind `.host` and becomes `underlying`.
  public init(wrapping error: any Error) {
    if let error = error as? LuaError {
      self = error
    } else {
      self.init(
        .host, message: String(describing: error), script: nil, underlying: error)
    }
  }

  /// The kind of error.
  public var kind: Kind { storage.kind }
  /// A stable name of the kind, such as "lua.syntax".
  public var code: String { storage.kind.code }
  /// A sentence without the place.
  public var message: String { storage.message }
  /// The script, as named when loaded.
  public var script: String? { storage.script }
  /// The line in the script.
  public var line: Int? { storage.line }
  /// The stack of calls, innermost first.
  public var traceback: [Frame] { storage.traceback }
  /// The Swift error that passed through Lua.
  public var underlying: (any Error)? { storage.underlying }

  /// The identity of the error, which copies share.
  package var identity: ObjectIdentifier { ObjectIdentifier(storage) }

  /// The error value that the script raised, whose state may be closed.
  var raisedValue: LuaValue? { storage.value }
  /// The number in field `code` of a table that the script raised.
  package var raisedCode: Int? { storage.raisedCode }
  /// The text that the script raised, with a place only if the script gave one.
  var raisedText: String? { storage.raised }
}
