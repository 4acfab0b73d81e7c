import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Reads a table that a script returned. Errors name the file, the line of the key and the path to the key.
///
/// A view of one table and its place in the file. A missing key gives nil; a value of the wrong type is a mistake and
/// also gives nil if mistakes are collected. Readers of nested tables share the collector.
struct ScriptTableReader {
  /// The table to read.
  let table: LuaTable
  /// The file, for places of mistakes.
  let source: ScriptSource
  /// The path of keys to this table, for example `entities`, `Person`, `derived`.
  let path: [String]
  /// Collects the mistakes, so that reading continues; without it the first mistake is thrown.
  var mistakes: ExtensionMistakes?

  /// Reports a mistake about a key. Nil concerns the table as a whole. Throws without a collector.
  func refuse(_ key: String?, _ message: String) throws {
    let error = error(key, message: message)
    guard let mistakes else { throw error }
    mistakes.add(error)
  }

  /// Whether a key has a value.
  func has(_ key: String) throws -> Bool { try table.get(key).isPresent }

  /// The `.invalidExtension` error of a mistake, as `entities.Person.validate: a table is expected, not 3`.
  func error(_ key: String?, message: String) -> ScriptError {
    let keys = path + (key.map { [$0] } ?? [])
    let place = keys.isEmpty ? "" : "\(keys.map(\.asName).joined(separator: ".")): "
    return ScriptError(
      .invalidExtension, message: place + message, at: source.location(of: keys),
      entity: ExtensionPlace(keys: keys).entity, property: ExtensionPlace(keys: keys).property)
  }

  /// A text. Names that are too long or have control characters are mistakes.
  func string(_ key: String) throws -> String? {
    let text = try value(key, expected: "a string") { $0.textValue }
    if let text { try check(name: text, of: key) }
    return text
  }

  /// A boolean.
  func boolean(_ key: String) throws -> Bool? {
    try value(key, expected: "true or false") { $0.booleanValue }
  }

  /// A function.
  func function(_ key: String) throws -> LuaFunction? {
    try value(key, expected: "a function") { $0.functionValue }
  }

  /// A reader of a nested table.
  func table(_ key: String) throws -> ScriptTableReader? {
    try value(key, expected: "a table") { $0.tableValue }.map {
      ScriptTableReader(table: $0, source: source, path: path + [key], mistakes: mistakes)
    }
  }

  /// A list of texts. A single text in place of a list is a mistake, whose message shows the list.
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

  /// Reports a text that cannot be a name.
  private func check(name: String, of key: String?) throws {
    if let mistake = TextLimits.mistake(ofName: name) { try refuse(key, "it has \(mistake)") }
  }

  /// The value of a key, read by `read`, which returns nil for a value of the wrong type.
  private func value<Result>(_ key: String, expected: String, _ read: (LuaValue) -> Result?) throws -> Result? {
    let value = try table.get(key)
    if case .nil = value { return nil }
    guard let result = read(value) else {
      try refuse(key, "\(expected) is expected, not \(value.typePhrase)")
      return nil
    }
    return result
  }

  /// The text keys in order. Reports other keys as mistakes. Sorted, because the order of Lua's tables changes between
  /// runs.
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

  /// All entries as functions. Entries of other types are mistakes and left out.
  func functions() throws -> [(key: String, function: LuaFunction)] {
    try keys().compactMap { key in try function(key).map { (key, $0) } }
  }

  /// All entries as tables. Entries of other types are mistakes and left out.
  func tables() throws -> [(key: String, table: ScriptTableReader)] {
    try keys().compactMap { key in try table(key).map { (key, $0) } }
  }
}
