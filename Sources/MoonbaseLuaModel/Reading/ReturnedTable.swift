package import MoonbaseLua

/// The kind of Lua file according to its returned table, for messages about files used in the wrong place.
///
/// Models and extensions are both files that return a table. The functions look at keys that only
/// one kind has.
package enum ReturnedTable {
  /// The keys of an entity's hooks in an extension.
  package static let hookNames = [
    "validate_for_insert", "validate_for_update", "validate_for_delete", "awake_from_insert", "awake_from_fetch",
    "awake_from_snapshot", "will_save", "did_save", "prepare_for_deletion", "will_turn_into_fault",
    "did_turn_into_fault",
  ]

  /// The table that a file returned. Throws the error made by `error` for another result.
  ///
  /// `file` is the kind of file in the message, such as `a model file`.
  package static func table<Failure: Error>(
    in results: [LuaValue], of file: String, error: (String) -> Failure
  ) throws(Failure) -> LuaTable {
    if let table = results.first?.tableValue { return table }
    let found = results.first?.typePhrase ?? "nothing; a script is run by moonbase run"
    throw error("\(file) returns a table; this one returns \(found)")
  }

  /// Whether the table looks like an extension.
  ///
  /// For example, a key `transformers`, or an entity with `validate`.
  package static func isExtension(_ table: LuaTable) throws -> Bool {
    try table.has(["requires", "classes", "transformers", "value_classes", "on_reload"])
      || anyEntity(of: table, has: ["normalize", "validate", "derived", "methods"] + hookNames)
  }

  /// Whether the table looks like a model.
  ///
  /// For example, a key `fetch_requests`, or an entity with `attributes`.
  package static func isModel(_ table: LuaTable) throws -> Bool {
    try table.has(["fetch_requests", "configurations"])
      || anyEntity(
        of: table, has: ["attributes", "relationships", "fetched_properties", "parent", "constraints", "indexes"])
  }

  /// Whether a table among the entities has a key of these.
  private static func anyEntity(of table: LuaTable, has keys: [String]) throws -> Bool {
    guard case .table(let entities) = try table.get("entities") else { return false }
    return try entities.pairs.contains { try $0.value.tableValue?.has(keys) == true }
  }
}

extension LuaTable {
  fileprivate func has(_ keys: [String]) throws -> Bool {
    try keys.contains { key in
      if case .nil = try get(key) { false } else { true }
    }
  }
}
