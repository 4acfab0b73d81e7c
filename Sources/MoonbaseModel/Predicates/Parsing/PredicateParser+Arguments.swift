/// Placeholders such as `%@`, `%K` and `%d`, each of which takes the next argument.
extension PredicateParser {
  /// Consumes a placeholder. `%K` gives a key path, every other placeholder a value.
  mutating func parseArgument() throws(ModelError) -> Node {
    let start = token
    if lexer.bytes[start.end - 1] == UInt8(ascii: "K") {
      let components = try keyArgument()
      try advance()
      let isSelf = components.count == 1 && components[0].uppercased() == "SELF"
      return try parsePostfix(isSelf ? .evaluatedObject : .keyPath(.evaluatedObject, components))
    }
    let value = try checked(try nextArgument(), for: start)
    if case .list = value { try charge(value) }
    try advance()
    return try parsePostfix(.value(value))
  }

  /// The key path of the placeholder `%K`. Does not consume the token.
  mutating func keyArgument() throws(ModelError) -> [String] {
    guard lexer.bytes[token.end - 1] == UInt8(ascii: "K") else {
      throw unexpected("expected a key; the placeholder of a key is %K")
    }
    guard case .string(let path) = try nextArgument() else {
      throw failure("%K takes a key path as text")
    }
    guard path.utf8.count <= TextLimits.greatestPath else {
      throw failure(
        "%K takes at most \(TextLimits.greatestPath) bytes, not \(path.utf8.count): \(TextLimits.beginning(of: path))")
    }
    if let mistake = TextLimits.mistake(ofName: path) { throw failure("%K has \(mistake)") }
    let components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard components.allSatisfy({ !$0.isEmpty }) else { throw failure("“\(path)” is no key path: a key is empty") }
    try checkPath(components.count)
    return components
  }

  /// The next argument. Throws if there are fewer arguments than placeholders.
  private mutating func nextArgument() throws(ModelError) -> Value {
    guard usedArguments < arguments.count else {
      let given = arguments.isEmpty ? "none was" : arguments.count == 1 ? "1 was" : "\(arguments.count) were"
      throw failure("there is no argument for \(text(of: token)): \(given) given")
    }
    usedArguments += 1
    return arguments[usedArguments - 1]
  }

  /// The argument in the placeholder's type.
  ///
  /// Throws if the argument does not fit, for example a text for `%d`.
  private func checked(_ value: Value, for placeholder: PredicateToken) throws(ModelError) -> Value {
    switch (lexer.bytes[placeholder.end - 1], value) {
    case (UInt8(ascii: "@"), _): return value
    case (let letter, .int), (let letter, .bool):
      let isReal = "fFeEgG".utf8.contains(letter)
      if isReal, case .int(let number) = value { return .double(Double(number)) }
      if !"sSc".utf8.contains(letter) { return value }
    case (let letter, .double) where "fFeEgG".utf8.contains(letter): return value
    case (let letter, .decimal) where "fFeEgG".utf8.contains(letter): return value
    case (let letter, .double(let number)) where "dDiuUxXo".utf8.contains(letter):
      if let exact = Int64(exactly: number) { return .int(exact) }
    case (let letter, .string) where "sSc".utf8.contains(letter): return value
    default: break
    }
    throw failure("\(text(of: placeholder)) does not take \(value.typePhrase); %@ takes any value")
  }
}
