import MoonbaseLua

extension RunOptions {
  /// The options that take a value.
  private static let valued = [
    "--store", "--model", "--extension", "--sandbox", "--allow", "--limit-instructions", "--limit-memory",
    "--limit-time",
  ]
  private static let flags = ["--read-only", "--no-files", "--quiet", "--help"]

  /// Reads what follows `moonbase run`. Options end at the script, whose arguments are its own.
  init(_ words: ArraySlice<String>) throws(UsageError) {
    var rest = words
    while let word = rest.first, word.hasPrefix("-"), word != "-" {
      rest.removeFirst()
      if word == "--" { break }
      try take(word, &rest)
    }
    if let script = rest.popFirst() {
      sources.append(script == "-" ? .standardInput : .file(script))
      arguments = Array(rest)
    }
    guard help || !sources.isEmpty else {
      throw UsageError("there is nothing to run: name a script, '-' for standard input, or -e CODE")
    }
  }

  private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    if word == "-e" {
      guard let code = rest.popFirst() else { throw UsageError("-e needs code to run") }
      return sources.append(.code(code))
    }
    if word == "-h" || Self.flags.contains(word) { return set(flag: word) }
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let option = parts[0]
    guard Self.valued.contains(option) else {
      throw .unknownOption(option, among: Self.valued + Self.flags + ["-e"])
    }
    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else { throw UsageError("\(option) needs a value") }
    try set(option, to: value)
  }

  private mutating func set(flag: String) {
    switch flag {
    case "--read-only": readOnly = true
    case "--no-files": noFiles = true
    case "--quiet": quiet = true
    default: help = true
    }
  }

  private mutating func set(_ option: String, to value: String) throws(UsageError) {
    switch option {
    case "--store":
      guard store == nil else {
        throw UsageError("--store is given twice: a script opens further stores with moonbase.open")
      }
      store = value
    case "--model": model = value
    case "--extension": extensions.append(value)
    case "--sandbox": sandbox = try Self.preset(value)
    case "--allow": grants.append(try Grant(value))
    case "--limit-instructions": instructionLimit = try Self.positive(option, value, Int64.init)
    case "--limit-memory": memoryLimit = try Self.positive(option, value, UInt64.init)
    default: timeLimit = try Self.positive(option, value, Double.init)
    }
  }

  private static func preset(_ value: String) throws(UsageError) -> LuaPreset {
    guard let preset = LuaPreset(rawValue: value) else {
      let names = LuaPreset.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--sandbox takes one of \(names), not '\(value)'")
    }
    return preset
  }

  private static func positive<Number: Comparable & ExpressibleByIntegerLiteral>(
    _ option: String, _ value: String, _ read: (String) -> Number?
  ) throws(UsageError) -> Number {
    guard let number = read(value), number > 0 else {
      throw UsageError("\(option) takes a number above 0, not '\(value)'")
    }
    return number
  }
}
