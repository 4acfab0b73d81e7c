/// The kinds of errors, for programs and error codes.
extension LuaError {
  /// The limits of a run.
  public enum Limit: String, Sendable, CaseIterable {
    /// `LuaLimits.instructions`.
    case instructions
    /// `LuaLimits.deadline`.
    case deadline
    /// `LuaLimits.memory` or `hardMemory`.
    case memory
    /// `LuaLimits.outputSize`.
    case output
    /// `LuaLimits.coroutines`.
    case coroutines
    /// `LuaLimits.sourceSize`.
    case source
    /// `LuaLimits.callDepth`, or calls that nest across states and fill the thread's stack.
    case callDepth
  }

  /// The kind of an error.
  ///
  /// ```swift
  /// if error.kind == .syntax { ... } else if let limit = error.kind.limit { print("past \(limit)") }
  /// ```
  public struct Kind: Sendable, Equatable {
    /// The private form, so that kinds can be added.
    private enum Case: Sendable, Equatable {
      case syntax, runtime, memory, handler, binary, encoding, closed, foreign, stack, host, conversion, module
      case interrupted
      case limit(Limit)
      case exit(Int)
    }

    private let value: Case

    /// Kinds are made by static members only.
    private init(_ value: Case) { self.value = value }

    /// The source is not Lua.
    public static let syntax = Kind(.syntax)
    /// A script raised an error.
    public static let runtime = Kind(.runtime)
    /// Memory ran out, and not because of a limit.
    public static let memory = Kind(.memory)
    /// A message handler failed while it handled an error.
    public static let handler = Kind(.handler)
    /// The source is bytecode.
    public static let binary = Kind(.binary)
    /// The source is not UTF-8 text.
    public static let encoding = Kind(.encoding)
    /// The state of a value is closed.
    public static let closed = Kind(.closed)
    /// A value belongs to another state, or a host type is not registered in this state.
    public static let foreign = Kind(.foreign)
    /// The stack of Lua or of C overflowed by nested calls.
    public static let stack = Kind(.stack)
    /// A Swift error passed through Lua; see `underlying`.
    public static let host = Kind(.host)
    /// A value cannot be converted, for example a function or a cycle.
    public static let conversion = Kind(.conversion)
    /// A module was not found, or its name is invalid.
    public static let module = Kind(.module)
    /// The run was interrupted from outside.
    public static let interrupted = Kind(.interrupted)

    /// A limit of the run was exceeded.
    public static func limit(_ limit: Limit) -> Kind { Kind(.limit(limit)) }

    /// The script called `os.exit` with this status.
    public static func exit(_ status: Int) -> Kind { Kind(.exit(status)) }

    /// The exceeded limit; nil for other kinds.
    public var limit: Limit? { if case .limit(let limit) = value { limit } else { nil } }

    /// The argument of `os.exit`; nil for other kinds.
    public var exitStatus: Int? { if case .exit(let status) = value { status } else { nil } }

    /// A stable name, such as "lua.limit.memory".
    public var code: String {
      switch value {
      case .limit(let limit): "lua.limit.\(limit.rawValue)"
      case .exit: "lua.exit"
      default: "lua.\(value)"
      }
    }
  }
}
