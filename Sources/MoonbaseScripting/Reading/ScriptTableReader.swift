import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Reads a table that a script returned. Errors name the file, the line of the key and the path to the key.
struct ScriptTableReader {
  let table: LuaTable
  let source: ScriptSource
  /// The path of keys to this table, for example `entities`, `Person`, `derived`.
  let path: [String]
  /// Collects the mistakes, so that reading continues; without it the first mistake is thrown.
  var mistakes: ExtensionMistakes?

  /// Reports a mistake about a key.
  func refuse(_ key: String?, _ message: String) throws {
    let error = error(key, message: message)
    guard let mistakes else { throw error }
    mistakes.add(error)
  }

  /// Whether a key has a value.
  func has(_ key: String) throws -> Bool { try table.get(key).isPresent }

  func error(_ key: String?, message: String) -> ScriptError {
    let keys = path + (key.map { [$0] } ?? [])
    let place = keys.isEmpty ? "" : "\(keys.map(\.asName).joined(separator: ".")): "
    return ScriptError(
      .invalidExtension, message: place + message, at: source.location(of: keys),
      entity: ExtensionPlace(keys: keys).entity, property: ExtensionPlace(keys: keys).property)
  }

  func string(_ key: String) throws -> String? {
    let text = try value(key, expected: "a string") { $0.textValue }
    if let text { try check(name: text, of: key) }
    return text
  }

  func boolean(_ key: String) throws -> Bool? {
    try value(key, expected: "true or false") { $0.booleanValue }
  }

  func function(_ key: String) throws -> LuaFunction? {
    try value(key, expected: "a function") { $0.functionValue }
  }

  func table(_ key: String) throws -> ScriptTableReader? {
    try value(key, expected: "a table") { $0.tableValue }.map {
      ScriptTableReader(table: $0, source: source, path: path + [key], mistakes: mistakes)
    }
  }

  func strings(_ key: String) throws -> [String]? {
    if let text = try table.get(key).textValue {
      try refuse(key, "a list of strings is expected, as in { \"\(text)\" }")
      return nil
    }
    guard let list = try table(key) else { return nil }
    return try list.table.elements.compactMap { element in
      guard let text = element.textValue else {
        try refuse(key, "a list of strings is expected")
        return nil
      }
      try check(name: text, of: key)
      return text
    }
  }

  private func check(name: String, of key: String?) throws {
    if let mistake = TextLimits.mistake(ofName: name) { try refuse(key, "it has \(mistake)") }
  }

  private func value<Result>(_ key: String, expected: String, _ read: (LuaValue) -> Result?) throws -> Result? {
    let value = try table.get(key)
    if case .nil = value { return nil }
    guard let result = read(value) else {
      try refuse(key, "\(expected) is expected, not \(value.typePhrase)")
      return nil
    }
    return result
  }

  /// The text keys in order. Reports other keys as mistakes.
  func keys() throws -> [String] {
    try table.pairs.compactMap { pair in
      guard let key = pair.key.textValue else {
        try refuse(nil, "its keys must be names, not \(pair.key.typePhrase)")
        return nil
      }
      try check(name: key, of: nil)
      return key
    }.sorted()
  }

  /// Reports keys that are not in `known`.
  func check(_ known: Set<String>) throws {
    for key in try keys() where !known.contains(key) {
      let hint = suggestion(for: key, among: known.sorted())
      let all = hint.isEmpty ? ": the keys are \(known.sorted().joined(separator: ", "))" : hint
      try refuse(key, "this key is unknown\(all)")
    }
  }

  /// All entries as functions.
  func functions() throws -> [(key: String, function: LuaFunction)] {
    try keys().compactMap { key in try function(key).map { (key, $0) } }
  }

  /// All entries as tables.
  func tables() throws -> [(key: String, table: ScriptTableReader)] {
    try keys().compactMap { key in try table(key).map { (key, $0) } }
  }
}
