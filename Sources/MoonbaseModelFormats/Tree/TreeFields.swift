import MoonbaseModel
import MoonbasePlatform

/// A table that is read key by key. Unread keys are errors, with suggestions from the requested keys.
typealias TreeFields = FieldReader<ModelTree>

extension ModelTree: FieldContent {
  /// The spellings of booleans.
  static var flagWords: String { "true or false" }

  /// The key of an aspect.
  static func names<Owner>(of aspect: Aspect<Owner>) -> [String] { aspect.lua }

  /// Unread keys are errors.
  static var isStrict: Bool { true }

  /// The string; nil for other nodes.
  var text: String? { string }

  /// The boolean; nil for other nodes.
  var flag: Bool? {
    if case .value(.bool(let bool)) = content { bool } else { nil }
  }

  /// The integer, or a double without a fraction; nil for other nodes.
  var integer: Int? {
    switch content {
    case .value(.int(let integer)): Int(integer)
    case .value(.double(let double)): Int(exactly: double)
    default: nil
    }
  }

  /// The kind of node.
  var shown: String { kind }
}

extension FieldReader<ModelTree> {
  /// A reader of a table. Throws `.invalidModel` for other nodes and for a key that is given twice.
  /// Each table is charged as work of the host.
  init(_ tree: ModelTree, context: ReadingContext) throws(ModelError) {
    try ModelError.chargeProperty()
    guard case .table(let list, let entries) = tree.content else {
      throw context.error("expected a table, not \(tree.kind)", line: tree.line)
    }
    var names: Set<String> = []
    for entry in entries where !names.insert(entry.key).inserted {
      throw context.error("\(entry.key) is given twice", line: entry.tree.line ?? tree.line)
    }
    self.init(context, line: tree.line, list: list, fields: entries.map { ($0.key, $0.tree) })
  }

  /// Reports unread keys, and a list part longer than `count`. `advice` explains where some keys belong.
  ///
  /// All unread keys are reported together, in the order of their lines. Throws `.invalidModel`.
  func finish(
    listCount count: Int = 0, advice: (String, ModelTree) -> String? = { _, _ in nil }
  ) throws(ModelError) {
    if list.count > count {
      let extra = list[count]
      let place = count == 0 ? "entries need names here" : "only \(count) unnamed values belong here"
      throw context.error("\(place), not \(extra.kind) more", line: extra.line ?? line)
    }
    let mistakes = Mistakes()
    for (key, tree) in left.sorted(by: { ($0.content.line ?? 0, $0.name) < ($1.content.line ?? 0, $1.name) }) {
      mistakes.add(
        context.error(
          "there is no key \(key)\(advice(key, tree) ?? suggestion(for: key, among: asked))", line: tree.line ?? line))
    }
    try mistakes.finish()
  }

  /// A list of strings, or a single string.
  ///
  /// Returns nil if the key is missing.
  mutating func strings(_ key: String) throws(ModelError) -> [String]? {
    guard let tree = read(key) else { return nil }
    return try strings(tree, what: key)
  }

  /// The values of `user_info`; empty if the key is missing. Throws for keys that differ only in
  /// their Unicode form.
  mutating func userInfo() throws(ModelError) -> [String: Value] {
    guard let tree = read("user_info") else { return [:] }
    if let key = tree.keyInTwoForms {
      throw context.part("user_info").error(
        "the key \(key) is there in two forms of Unicode, of which a map can keep one: rename one",
        line: tree.line ?? line)
    }
    var result: [String: Value] = [:]
    for (key, value) in try named(tree, in: context.part("user_info")) { result[key] = value.asValue }
    return result
  }

  /// The named entries of a key's table, in source order.
  ///
  /// The result is empty if the key is missing.
  mutating func named(_ key: String) throws(ModelError) -> [(String, ModelTree)] {
    guard let tree = read(key) else { return [] }
    return try named(tree, in: context.part(key))
  }

  // MARK: Nodes

  /// The string of a node. `what` names the node in errors.
  func string(_ tree: ModelTree, what: String) throws(ModelError) -> String {
    guard let string = tree.string else {
      throw context.error("\(what) is a string, not \(tree.kind)", line: tree.line ?? line)
    }
    return string
  }

  /// The strings of a node: a list, or a single string.
  func strings(_ tree: ModelTree, what: String) throws(ModelError) -> [String] {
    if let string = tree.string { return [string] }
    guard case .table(let list, let entries) = tree.content, entries.isEmpty else {
      throw context.error("\(what) is a list of strings, not \(tree.kind)", line: tree.line ?? line)
    }
    var result: [String] = []
    for element in list { result.append(try string(element, what: "each element of \(what)")) }
    return result
  }

  /// The named entries in source order if lines are known, because a Lua table is unordered; else as given.
  private func named(_ tree: ModelTree, in context: ReadingContext) throws(ModelError) -> [(String, ModelTree)] {
    guard case .table(let list, let entries) = tree.content else {
      throw context.error("expected a table, not \(tree.kind)", line: tree.line ?? line)
    }
    if let first = list.first { throw context.error("entries need names here", line: first.line ?? tree.line ?? line) }
    return entries.inLineOrder.map { ($0.key, $0.tree) }
  }
}

extension [ModelTree.Entry] {
  /// Sorted by line if lines are known, else as given.
  var inLineOrder: Self {
    guard contains(where: { $0.tree.line != nil }) else { return self }
    return enumerated().sorted { ($0.element.tree.line ?? 0, $0.offset) < ($1.element.tree.line ?? 0, $1.offset) }
      .map(\.element)
  }
}
