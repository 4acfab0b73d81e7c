import MoonbaseGraph
import MoonbaseLua

/// The options for the permissions and limits of scripts.
extension CommandOption {
  /// All options for scripts, in the order of the help.
  static let scripts = [
    strict, saveOrder, sandbox, allow, noFiles, limitInstructions, limitSource, limitMemory, limitTime,
  ]

  /// Whether values that a script changes in place are found before a save.
  static let strict = CommandOption(
    name: "--strict", argument: nil, help: "refuse a save where a value that was read has been changed in place"
  ) { _, settings in settings.scripts.strict = true }

  /// Whether rules run before or after the function `will_save` of an extension.
  static let saveOrder = CommandOption(
    name: "--save-order", argument: "ORDER", completion: .values(["guide", "framework"]),
    help: "guide (default): rules, then will_save; framework: will_save, then rules"
  ) { value, settings throws(UsageError) in
    switch value {
    case "guide": settings.scripts.saveOrder = .validateFirst
    case "framework": settings.scripts.saveOrder = .willSaveFirst
    default: throw UsageError("--save-order takes guide or framework, not '\(value)'")
    }
  }

  /// The preset of the sandbox.
  static let sandbox = CommandOption(
    name: "--sandbox", argument: "PRESET", completion: .values(LuaPreset.allCases.map(\.rawValue)),
    help: "pure, standard (default), compat or trusted"
  ) { value, settings throws(UsageError) in
    guard let preset = LuaPreset(rawValue: value) else {
      let names = LuaPreset.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--sandbox takes one of \(names), not '\(value)'")
    }
    (settings.scripts.sandbox, settings.scripts.isSandboxGiven) = (preset, true)
  }

  /// A permission in addition to the sandbox.
  static let allow = CommandOption(
    name: "--allow", argument: "GRANT", isRepeatable: true, help: "read=PATH, write=PATH or env=NAME; repeatable"
  ) { value, settings throws(UsageError) in settings.scripts.grants.append(try ScriptSettings.Grant(value)) }

  /// Whether scripts may use files.
  static let noFiles = CommandOption(name: "--no-files", argument: nil, help: "no files at all") {
    _, settings in settings.scripts.noFiles = true
  }

  /// The maximum number of Lua instructions.
  static let limitInstructions = CommandOption(
    name: "--limit-instructions", argument: "N", help: "end the script after so many Lua instructions"
  ) { value, settings throws(UsageError) in
    settings.scripts.instructionLimit = try positive("--limit-instructions", of: value) { Int64($0) ?? whole($0) }
  }

  /// The maximum size of a source file in bytes.
  static let limitSource = CommandOption(
    name: "--limit-source", argument: "BYTES", help: "take no larger source (default: 1 MiB; none in trusted)"
  ) { value, settings throws(UsageError) in
    settings.scripts.sourceLimit = try positive("--limit-source", of: value) {
      ByteCount(argument: $0).flatMap { Int(exactly: $0.bytes) }
    }
  }

  /// The maximum memory of a script in bytes.
  static let limitMemory = CommandOption(
    name: "--limit-memory", argument: "BYTES", help: "end the script when it holds more memory; 64M and 1G will do"
  ) { value, settings throws(UsageError) in
    settings.scripts.memoryLimit = try positive("--limit-memory", of: value) { ByteCount(argument: $0)?.bytes }
  }

  /// The maximum time of a script in seconds.
  static let limitTime = CommandOption(
    name: "--limit-time", argument: "SECONDS", help: "end the script when it takes longer"
  ) { value, settings throws(UsageError) in
    settings.scripts.timeLimit = try positive("--limit-time", of: value, Double.init)
  }

  /// Reads a number above 0.
  ///
  /// - Parameters:
  ///   - option: The name of the option, for errors.
  ///   - value: The text from the command line.
  ///   - read: Parses the text.
  /// - Throws: A `UsageError` if the text is no number, or if the number is not above 0.
  private static func positive<Number: Comparable & ExpressibleByIntegerLiteral>(
    _ option: String, of value: String, _ read: (String) -> Number?
  ) throws(UsageError) -> Number {
    guard let number = read(value) else { throw UsageError("\(option) takes a number, not '\(value)'") }
    guard number > 0 else { throw UsageError("\(option) takes a number above 0, not '\(value)'") }
    return number
  }

  /// A whole number, which may be written as `1e6`.
  private static func whole(_ text: String) -> Int64? { Double(text).flatMap(Int64.init(exactly:)) }
}
