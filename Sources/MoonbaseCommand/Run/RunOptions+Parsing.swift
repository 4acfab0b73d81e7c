import MoonbaseGraph
import MoonbaseLua
import MoonbasePlatform
import MoonbaseScripting

extension RunOptions {
  /// The options that take a value.
  private static let valued =
    StoreOption.all.filter { $0.argument != nil }.map(\.name) + [
      "--sandbox", "--allow", "--limit-instructions", "--limit-memory", "--limit-source", "--limit-time",
      "--save-order",
    ]
  /// Those of them that may be given more than once.
  private static let repeatable = StoreOption.all.filter(\.isRepeatable).map(\.name) + ["--allow"]
  private static let flags =
    StoreOption.all.filter { $0.argument == nil }.map(\.name) + ["--no-files", "--quiet", "--strict", "--help"]

  /// Reads what follows `moonbase run`. Options end at the script, whose arguments are its own.
  init(_ words: ArraySlice<String>) throws(UsageError) {
    var rest = words
    var given: Set<String> = []
    while let word = rest.first, word.hasPrefix("-"), word != "-" {
      rest.removeFirst()
      if word == "--" { break }
      try take(word, from: &rest, given: &given)
    }
    if let script = rest.popFirst() {
      sources.append(script == "-" ? .standardInput : .file(script))
      arguments = Array(rest)
    }
    guard help || !sources.isEmpty else {
      throw UsageError("there is nothing to run: name a script, '-' for standard input, or -e CODE")
    }
  }

  /// The first of the script's arguments that reads as an option of this command; none behind `--`. Help is the script's own.
  var misplacedOption: String? {
    let known = Self.valued + Self.flags.filter { $0 != "--help" }
    return arguments.prefix { $0 != "--" }
      .first { word in known.contains { word == $0 || word.hasPrefix("\($0)=") } }
  }

  private mutating func take(
    _ word: String, from rest: inout ArraySlice<String>, given: inout Set<String>
  ) throws(UsageError) {
    if word == "-e" {
      guard let code = rest.popFirst() else { throw UsageError("-e needs code to run") }
      return sources.append(.code(code))
    }
    if word == "-h" || Self.flags.contains(word) { return try set(flag: word) }
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let option = parts[0]
    guard Self.valued.contains(option) else {
      throw .unknownOption(option, among: Self.valued + Self.flags + ["-e"])
    }
    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else { throw UsageError("\(option) needs a value") }
    guard Self.repeatable.contains(option) || given.insert(option).inserted else {
      throw UsageError("\(option) is given twice, and one is used: leave the other out")
    }
    try set(option, to: value)
  }

  private mutating func set(flag: String) throws(UsageError) {
    if let option = StoreOption.all.first(where: { $0.name == flag }) { return try option.take("", &store) }
    switch flag {
    case "--no-files": noFiles = true
    case "--quiet": quiet = true
    case "--strict": strict = true
    default: help = true
    }
  }

  private mutating func set(_ option: String, to value: String) throws(UsageError) {
    if let known = StoreOption.all.first(where: { $0.name == option }) { return try known.take(value, &store) }
    switch option {
    case "--sandbox": sandbox = try Self.preset(value)
    case "--save-order": saveOrder = try Self.saveOrder(value)
    case "--allow": grants.append(try Grant(value))
    case "--limit-instructions": instructionLimit = try Self.positive(option, of: value) { Int64($0) ?? Self.whole($0) }
    case "--limit-memory": memoryLimit = try Self.positive(option, of: value) { ByteCount(argument: $0)?.bytes }
    case "--limit-source":
      sourceLimit = try Self.positive(option, of: value) { ByteCount(argument: $0).flatMap { Int(exactly: $0.bytes) } }
    default: timeLimit = try Self.positive(option, of: value, Double.init)
    }
  }

  private static func saveOrder(_ value: String) throws(UsageError) -> ManagedObjectContext.SaveOrder {
    switch value {
    case "guide": return .guide
    case "framework": return .framework
    default: throw UsageError("--save-order takes guide or framework, not '\(value)'")
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
    _ option: String, of value: String, _ read: (String) -> Number?
  ) throws(UsageError) -> Number {
    guard let number = read(value) else { throw UsageError("\(option) takes a number, not '\(value)'") }
    guard number > 0 else { throw UsageError("\(option) takes a number above 0, not '\(value)'") }
    return number
  }

  /// `1e6`.
  private static func whole(_ text: String) -> Int64? { Double(text).flatMap(Int64.init(exactly:)) }
}
