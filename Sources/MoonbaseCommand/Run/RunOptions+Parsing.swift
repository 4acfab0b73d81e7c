extension RunOptions {
  /// The options that take a value.
  private static let valued = [
    "--store", "--model", "--extension", "--sandbox", "--allow", "--save-order", "--limit-instructions",
    "--limit-memory", "--limit-time",
  ]
  private static let flags = ["--read-only", "--no-files", "--strict", "--quiet", "--help"]

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
      scriptName = script
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
    case "--strict": strict = true
    case "--quiet": quiet = true
    default: help = true
    }
  }

  private mutating func set(_ option: String, to value: String) throws(UsageError) {
    switch option {
    case "--store": stores.append(Store(value))
    case "--model": model = value
    case "--extension": extensions.append(value)
    case "--sandbox": sandbox = try Self.choice(option, value, of: ["pure", "standard", "compat", "trusted"])
    case "--allow": grants.append(try Grant(value))
    case "--save-order": saveOrder = try Self.choice(option, value, of: ["guide", "framework"])
    case "--limit-instructions": instructionLimit = try Self.positive(option, value, Int64.init)
    case "--limit-memory": memoryLimit = try Self.positive(option, value, UInt64.init)
    default: timeLimit = try Self.positive(option, value, Double.init)
    }
  }

  private static func choice(_ option: String, _ value: String, of choices: [String]) throws(UsageError) -> String {
    guard choices.contains(value) else {
      throw UsageError("\(option) takes one of \(choices.joined(separator: ", ")), not '\(value)'")
    }
    return value
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

extension RunOptions.Store {
  /// `PATH`, or `CONFIGURATION=PATH` where what is before the sign could be a name.
  init(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    if parts.count == 2, parts[0].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
      self.init(configuration: parts[0], path: parts[1])
    } else {
      self.init(configuration: nil, path: text)
    }
  }
}
