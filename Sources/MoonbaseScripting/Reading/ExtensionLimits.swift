/// The resources that the functions of an extension may use. They apply to each call by the host of a hook, rule,
/// transformer, getter or method, and to running the file when it is loaded.
///
/// A call that exceeds the limits fails its operation (the save, the fetch, the read) without ending a script. Calls
/// into functions of another extension are charged to that extension. The limits of the container or of the script
/// apply to all extensions together.
///
/// ```swift
/// let limits = ExtensionLimits(
///   instructions: 1_000_000, memory: 16 << 20, time: .milliseconds(500), onExceeding: .disable)
/// description.extensions = [.file(colorsURL, limits: limits)]
/// ```
public struct ExtensionLimits: Sendable, Hashable {
  /// The consequence for an extension that exceeded its limits.
  public enum Action: Sendable, Hashable {
    /// The program receives a report, and the extension stays enabled.
    case report
    /// The program receives a report, and all further calls of the extension fail until it is enabled or reloaded.
    case disable
  }

  /// The Lua instructions, counted in thousands, as in `LuaLimits`; nil for no limit.
  public var instructions: Int64?
  /// The bytes of memory that a call may add; nil for no limit.
  public var memory: UInt64?
  /// The time, sampled, so that a call may end some hundredths of a second late; nil for no limit.
  public var time: Duration?
  /// The consequence for the extension.
  public var onExceeding: Action

  /// Limits on the given resources.
  public init(
    instructions: Int64? = nil, memory: UInt64? = nil, time: Duration? = nil, onExceeding: Action = .report
  ) {
    (self.instructions, self.memory, self.time, self.onExceeding) = (instructions, memory, time, onExceeding)
  }
}

/// A report about a call that exceeded its extension's limits.
public struct ExtensionExcess: Sendable, Hashable, CustomStringConvertible {
  /// The name of the extension.
  public var name: String
  /// The called function, as `Person.validate.age`.
  public var function: String
  /// The limit, as `1000000 instructions`.
  public var limit: String
  /// The place of the call, as `colors.lua:12`.
  public var place: String?
  /// Whether the extension is disabled now.
  public var isDisabled: Bool

  /// `extension colors exceeded its limit of 1000000 instructions in Person.validate.age`.
  public var description: String { "extension \(name) exceeded its limit of \(limit) in \(function)" }
}
