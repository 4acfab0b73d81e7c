import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The limits of an extension, and whether it is disabled. Shared by all Lua states that run its generation.
///
/// Each extension with limits has a standing, made with the generation. A disabled extension stays disabled until a
/// reload makes a new standing or `enable()` is called; its functions throw `.extensionDisabled` meanwhile.
final class ExtensionStanding: Sendable {
  /// The name of the file in messages.
  let source: String
  /// The most instructions, time and memory of a call.
  let limits: ExtensionLimits
  /// The host's handler, called on the thread of the call.
  private let report: (@Sendable (ExtensionExcess) -> Void)?
  /// The declared name, and the excess that disabled the extension.
  private let contents: Lock<(name: String, excess: ExtensionExcess?)>

  /// Throws `.invalidRequest` for a limit of zero or less, which the Lua state would take for no limit.
  init(_ source: ScriptSource, limits: ExtensionLimits, report: (@Sendable (ExtensionExcess) -> Void)?) throws {
    try limits.requirePositive(of: source.stem)
    (self.source, self.limits, self.report) = (source.name, limits, report)
    contents = Lock((source.stem, nil))
  }

  /// The name of the extension. Before the file has run, or if it declares no name, the name of the file.
  var name: String {
    get { contents.withLock { $0.name } }
    set { contents.withLock { $0.name = newValue } }
  }

  /// The limits in the form that a Lua state enforces.
  var allowance: LuaAllowance {
    LuaAllowance(instructions: limits.instructions, seconds: limits.time?.seconds, memory: limits.memory)
  }

  /// The reason why the extension is disabled; nil if it is enabled.
  var reason: String? {
    contents.withLock { $0.excess }.map { "\($0)\($0.place.map { " at \($0)" } ?? "")" }
  }

  /// Enables the extension again. The next excess disables it again.
  func enable() { contents.withLock { $0.excess = nil } }

  /// Throws if the extension is disabled. `function` appears in the message with its entity and property.
  func requireEnabled(for function: String) throws {
    guard let reason else { return }
    throw ExtensionFunctionName(function).error(
      .extensionDisabled,
      message: "extension \(name) is disabled because \(reason): mend it and reload, or enable it again", at: nil)
  }

  /// Reports a call that exceeded the limits to the program, and returns the error of the call. Disables the extension
  /// if its limits say so.
  func error(of exceeded: LuaAllowanceExceeded, in function: String) -> ScriptError {
    let location =
      exceeded.frame.map { SourceLocation(file: $0.source, line: $0.line) } ?? SourceLocation(file: source)
    let excess = ExtensionExcess(
      name: name, function: function, limit: limit(exceeded.limit), place: "\(location)",
      isDisabled: limits.onExceeding == .disable)
    if excess.isDisabled { contents.withLock { $0.excess = excess } }
    report?(excess)
    let end = excess.isDisabled ? ", and is disabled now" : ""
    return ExtensionFunctionName(function).error(.extensionLimit, message: "\(excess)\(end)", at: location)
  }

  /// The exceeded limit in words, as `100000 instructions`.
  private func limit(_ limit: LuaError.Limit) -> String {
    switch limit {
    case .instructions: "\(limits.instructions ?? 0) instructions"
    case .deadline: "\(limits.time?.seconds ?? 0) seconds"
    default: "\(limits.memory ?? 0) bytes of memory"
    }
  }
}

extension ExtensionLimits {
  fileprivate func requirePositive(of name: String) throws {
    let wrong: String? =
      if let instructions, instructions <= 0 {
        "instructions: \(instructions)"
      } else if let time, time <= .zero {
        "time: \(time)"
      } else if memory == 0 {
        "memory: 0"
      } else {
        nil
      }
    guard let wrong else { return }
    throw ScriptError(
      .invalidRequest,
      message: "a limit of extension \(name) is no positive number (\(wrong)): leave the limit out for no limit")
  }
}

/// The name of an extension's function, as `Person.validate.age`, with its entity and property.
struct ExtensionFunctionName {
  /// The whole name.
  private let name: String

  init(_ name: String) { self.name = name }

  /// The error about the function, with the entity and property that its name contains.
  func error(_ code: ErrorCode, message: String, at location: SourceLocation?) -> ScriptError {
    let parts = name.split(separator: ".", maxSplits: 2).map(String.init)
    guard parts.count > 1, !["transformers", "classes"].contains(parts[0]) else {
      return ScriptError(code, message: message, at: location)
    }
    return ScriptError(code, message: message, at: location, entity: parts[0], property: Self.property(parts))
  }

  /// The property for rules, normalizers and derived attributes; nil for hooks and methods.
  private static func property(_ parts: [String]) -> String? {
    guard parts.count == 3 else { return nil }
    switch parts[1] {
    case "normalize", "validate": return parts[2]
    case "derived": return parts[2].split(separator: ".").first.map(String.init)
    default: return nil
    }
  }
}

/// The standings of a generation's extensions that have limits.
///
/// An immutable value that contexts share with their generation; the standings within are shared objects.
struct ExtensionStandings: Sendable {
  /// By the names of the files.
  private let bySource: [String: ExtensionStanding]
  /// Restricts the granted files that extensions may open.
  let fileGuard: (any LuaFileGuard)?

  /// For extensions without limits.
  static let none = ExtensionStandings(bySource: [:], fileGuard: nil)

  private init(bySource: [String: ExtensionStanding], fileGuard: (any LuaFileGuard)?) {
    (self.bySource, self.fileGuard) = (bySource, fileGuard)
  }

  init(of sources: [ScriptSource], policy: ExtensionPolicy) throws {
    fileGuard = policy.fileGuard
    bySource = try sources.reduce(into: [:]) { all, source in
      guard let limits = source.extensionLimits ?? policy.limits[source.stem] ?? policy.limits[source.name] else {
        return
      }
      all[source.name] = try ExtensionStanding(source, limits: limits, report: policy.report)
    }
  }

  /// Whether no extension has limits.
  var isEmpty: Bool { bySource.isEmpty }

  /// The standing of a file; nil without limits.
  subscript(_ source: ScriptSource) -> ExtensionStanding? { bySource[source.name] }

  /// The standing of the extension with this name.
  func named(_ name: String) -> ExtensionStanding? { bySource.values.first { $0.name == name } }

  /// Applies the names that extensions declare, under which a policy may also limit them.
  ///
  /// Throws `.invalidRequest` for limits under an unknown name, because a misspelt name would leave the extension
  /// without limits. Called after the files have run, since only then their declared names are known.
  func naming(_ declarations: [ExtensionDeclaration], policy: ExtensionPolicy) throws -> ExtensionStandings {
    try Self.check(policy, declarations)
    var bySource = bySource
    for declaration in declarations {
      guard let name = declaration.name else { continue }
      if let known = bySource[declaration.source.name] {
        known.name = name
      } else if let limits = policy.limits[name] {
        let standing = try ExtensionStanding(declaration.source, limits: limits, report: policy.report)
        standing.name = name
        bySource[declaration.source.name] = standing
      }
    }
    return ExtensionStandings(bySource: bySource, fileGuard: fileGuard)
  }
}

extension ExtensionStandings {
  /// Throws `.invalidRequest` for limits under a name that no extension has.
  private static func check(_ policy: ExtensionPolicy, _ declarations: [ExtensionDeclaration]) throws {
    let names = declarations.map { [$0.name, $0.source.stem, $0.source.name].compactMap(\.self) }
    let known = Set(names.joined())
    guard let unknown = policy.limits.keys.sorted().first(where: { !known.contains($0) }) else { return }
    let all = names.isEmpty ? "none is loaded" : "there are \(names.map { $0[0] }.sorted().joined(separator: ", "))"
    throw ScriptError(
      .invalidRequest,
      message:
        "no extension is called \(unknown.asName), for which limits are given\(suggestion(for: unknown, among: known.sorted())): \(all)"
    )
  }
}

/// The host's policy for the limits of extensions.
struct ExtensionPolicy: Sendable {
  /// The limits by the name of the extension or of its file.
  var limits: [String: ExtensionLimits] = [:]
  /// Receives each excess.
  var report: (@Sendable (ExtensionExcess) -> Void)?
  /// Restricts the files that extensions may open.
  var fileGuard: (any LuaFileGuard)?
}

extension ScriptSource {
  /// The name of the file, without folder and `.lua`.
  var stem: String { name.stemOfPath }
}

extension String {
  /// The name of the file, without folder and `.lua`.
  var stemOfPath: String {
    let file = lastPartOfPath
    return file.hasSuffix(".lua") ? String(file.dropLast(4)) : file
  }
}
