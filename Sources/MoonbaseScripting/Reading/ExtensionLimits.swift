/// The resources that the functions of one extension may use. They hold for each call of the host into one of its
/// hooks, rules, transformers, getters and methods, and its file when it is loaded.
///
/// A call that exceeds them fails its operation (the save, the fetch, the read), and ends no script. Calls into
/// functions of another extension are charged to that extension. The limits of the container, or of the script, hold
/// for all of them together.
///
/// ```swift
/// let limits = ExtensionLimits(instructions: 1_000_000, memory: 16 << 20, time: .milliseconds(500), onExceeding: .disable)
/// description.extensions = [.file(colorsURL, limits: limits)]
/// ```
public struct ExtensionLimits: Sendable, Hashable {
  /// The consequence for an extension that exceeded its limits.
  public enum Action: Sendable, Hashable {
    /// The program gets a report, and the extension goes on.
    case report
    /// The program gets a report, and each further call of the extension fails until the extension is enabled or loaded
    /// anew.
    case disable
  }

  /// The instructions of Lua, counted by the thousand, as in `LuaLimits`; nil for any number.
  public var instructions: Int64?
  /// The bytes of memory that a call adds to what was used before; nil for any number.
  public var memory: UInt64?
  /// The time, sampled: a call ends some hundredths late; nil for any time.
  public var time: Duration?
  /// The consequence for the extension.
  public var onExceeding: Action

  /// Limits by what is given.
  public init(
    instructions: Int64? = nil, memory: UInt64? = nil, time: Duration? = nil, onExceeding: Action = .report
  ) {
    (self.instructions, self.memory, self.time, self.onExceeding) = (instructions, memory, time, onExceeding)
  }
}

/// A call of an extension that exceeded the limits of the extension.
public struct ExtensionExcess: Sendable, Hashable, CustomStringConvertible {
  /// The name of the extension.
  public var name: String
  /// The function that was called, as `Person.validate.age`.
  public var function: String
  /// The limit, as `1000000 instructions`.
  public var limit: String
  /// The file and line where the call was, as `colors.lua:12`.
  public var place: String?
  /// Whether the extension is disabled now.
  public var isDisabled: Bool

  /// `extension colors exceeded its limit of 1000000 instructions in Person.validate.age`.
  public var description: String { "extension \(name) exceeded its limit of \(limit) in \(function)" }
}
