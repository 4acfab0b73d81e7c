import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Reads the parts of an extension's table. A part with a mistake is reported and skipped.
extension ExtensionDeclaration {
  /// The version of the script API.
  static let hostVersion = "1.0"

  /// The keys are read in a fixed order, so that mistakes come in a stable order. Unknown keys are mistakes with a
  /// suggestion.
  mutating func read(_ reader: ScriptTableReader) throws {
    try reader.check([
      "name", "version", "requires", "classes", "transformers", "value_classes", "entities", "messages",
      "on_reload",
    ])
    name = try reader.string("name")
    if let text = try reader.string("version") {
      version = SemanticVersion(text)
      if version == nil {
        try reader.refuse("version", "\"\(text)\" is no version: write \"1\", \"1.2\" or \"1.2.3\"")
      }
    }
    try readRequires(reader)
    for (name, entry) in try reader.table("classes")?.tables() ?? [] { classes.append((name, entry.table)) }
    for (name, entry) in try reader.table("transformers")?.tables() ?? [] {
      if let transformer = try Self.transformer(name, from: entry) {
        transformers.append(transformer)
      } else {
        unreadTransformers.append(name)
      }
    }
    for (entity, entry) in try reader.table("value_classes")?.tables() ?? [] {
      for key in try entry.keys() { valueClasses[entity, default: [:]][key] = try entry.string(key) }
    }
    for (name, entry) in try reader.table("entities")?.tables() ?? [] {
      entities.append(try Self.entity(name, from: entry))
    }
    for (language, entry) in try reader.table("messages")?.tables() ?? [] {
      messages[language.lowercased()] = try Self.messages(in: language, from: entry)
    }
    onReload = try reader.function("on_reload")
  }

  // MARK: Requirements

  /// Reads `requires = { moonbase = ">=1", extensions = { "colors" }, model = { Person = "6f1e2a04" } }`.
  private mutating func readRequires(_ reader: ScriptTableReader) throws {
    guard let requires = try reader.table("requires") else { return }
    try requires.check(["moonbase", "extensions", "model"])
    if let versions = try Self.range("moonbase", of: requires), let host = SemanticVersion(Self.hostVersion),
      !versions.contains(host)
    {
      try requires.refuse("moonbase", "version \(versions) is asked for, and this is version \(host)")
    }
    try readRequiredExtensions(requires)
    guard let hashes = try requires.table("model") else { return }
    for entity in try hashes.keys() {
      guard let hash = try hashes.string(entity)?.lowercased() else { continue }
      if hash.utf8.count < 8 || hash.utf8.count > 64 || hash.contains(where: { !$0.isHexDigit }) {
        try hashes.refuse(
          entity,
          "the hash of an entity's version is expected, or its first 8 digits or more, as moonbase model show prints it"
        )
      } else {
        requiredHashes.append((entity, hash))
      }
    }
  }

  /// Reads a list of names, a map from names to version ranges, or a mixture of both.
  private mutating func readRequiredExtensions(_ requires: ScriptTableReader) throws {
    if let text = try requires.table.get("extensions").textValue {
      return try requires.refuse("extensions", "a list of strings is expected, as in { \"\(text)\" }")
    }
    guard let list = try requires.table("extensions") else { return }
    for (key, value) in try list.table.pairs {
      if key.integerValue != nil {
        guard let name = value.textValue else {
          try requires.refuse("extensions", "a list of strings is expected")
          continue
        }
        requirements.append(Requirement(name: name))
      } else if let name = key.textValue, let versions = try Self.range(name, of: list) {
        requirements.append(Requirement(name: name, versions: versions))
      }
    }
  }

  /// A version range under a key; nil if the key is absent or, with a mistake, malformed.
  private static func range(_ key: String, of reader: ScriptTableReader) throws -> VersionRange? {
    guard let text = try reader.string(key) else { return nil }
    let range = VersionRange(text)
    if range == nil {
      try reader.refuse(key, "\"\(text)\" is no range of versions: write \"1\", \"1.2\" or \">=1.2 <2\"")
    }
    return range
  }

  // MARK: Messages

  /// The translations into a language. A placeholder in braces must also occur in the message itself.
  ///
  /// The keys are the messages themselves, for example `["must not be {value}"] = "darf nicht {value} sein"`.
  private static func messages(in language: String, from entry: ScriptTableReader) throws -> [String: String] {
    if language.wholeMatch(of: /[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*/) == nil {
      try entry.refuse(nil, "\"\(language.asName)\" is no language: write \"de\" or \"pt-BR\"")
    }
    var messages: [String: String] = [:]
    for (key, value) in try entry.table.pairs {
      guard let message = key.textValue, let translated = value.textValue else {
        try entry.refuse(key.textValue, "a translation is a string under the message that it stands for")
        continue
      }
      for match in translated.matches(of: /\{(\w+)\}/) where !message.contains(match.output.0) {
        let names = message.matches(of: /\{(\w+)\}/).map { String($0.output.1) }
        let hint = suggestion(for: String(match.output.1), among: names)
        try entry.refuse(message, "the translation names \(match.output.0), and the message does not\(hint)")
      }
      messages[message] = translated
    }
    return messages
  }

  /// The translations for a language such as `de-AT`, completed by those for the language without its region. Later
  /// entries win: `de` first, then `de-at` or `de_at`. Without a language the host's language is used.
  func translations(to language: String?) -> [String: String] {
    guard !messages.isEmpty, let language = (language ?? HostLanguage.preferred)?.lowercased() else { return [:] }
    let parts = language.split { $0 == "-" || $0 == "_" }
    return (1...max(1, parts.count)).reduce(into: [:]) { result, count in
      for separator in ["-", "_"] {
        result.merge(messages[parts.prefix(count).joined(separator: separator)] ?? [:]) { $1 }
      }
    }
  }

  // MARK: Transformers

  /// A transformer; nil if its function `transform` is missing or malformed, which is then reported.
  private static func transformer(_ name: String, from entry: ScriptTableReader) throws -> Transformer? {
    try entry.check(["class", "transform", "reverse", "examples"])
    if try !entry.has("transform") {
      try entry.refuse(nil, "a transformer needs a function transform(value) that returns bytes")
    }
    let transform = try entry.function("transform")
    let className = try entry.string("class")
    let reverse = try entry.function("reverse")
    let examples = try examples(of: entry)
    return transform.map {
      Transformer(name: name, className: className, transform: $0, reverse: reverse, examples: examples)
    }
  }

  /// The examples `{ { value, bytes }, ... }`, which are checked when the extension is loaded.
  private static func examples(of entry: ScriptTableReader) throws -> [Example] {
    guard let list = try entry.table("examples") else { return [] }
    let elements = try list.table.elements
    if try elements.count != list.table.size {
      try entry.refuse("examples", "a list of examples is expected, each of the form { value, bytes }")
    }
    return try elements.enumerated().compactMap { index, element in
      guard let pair = try element.tableValue?.elements, pair.count == 2 else {
        try list.refuse("\(index + 1)", "an example has the form { value, bytes }, and neither is nil")
        return nil
      }
      return Example(value: pair[0], stored: pair[1])
    }
  }

  // MARK: Entities

  /// Reads an entity's table: rules, hooks, methods and derived attributes.
  private static func entity(_ name: String, from entry: ScriptTableReader) throws -> Entity {
    try entry.check(Set(["normalize", "validate", "derived", "methods"] + ReturnedTable.hookNames))
    var result = Entity(name: name)
    result.normalize = try entry.table("normalize")?.functions() ?? []
    result.validate = try entry.table("validate")?.functions() ?? []
    result.methods = try entry.table("methods")?.functions() ?? []
    for hook in ReturnedTable.hookNames { result.hooks[hook] = try entry.function(hook) }
    for (name, entry) in try entry.table("derived")?.tables() ?? [] {
      result.derived.append(try derived(name, from: entry))
    }
    return result
  }

  /// Reads a derived attribute: `{ type = "string", inputs = { "a", "b" }, get = function(a, b) ... end }`.
  private static func derived(_ name: String, from entry: ScriptTableReader) throws -> Derived {
    try entry.check([
      "type", "inputs", "object", "pure", "strict", "stored", "get", "set", "shadow", "transformer", "read", "write",
    ])
    var result = Derived(name: name)
    if let text = try entry.string("type") {
      result.type = AttributeType(modelName: text)
      if result.type == nil {
        let names = AttributeType.allCases.map(\.modelName)
        let hint = suggestion(for: text, among: names)
        let list = hint.isEmpty ? ", there are \(names.listed(atMost: 20))" : hint
        try entry.refuse("type", "\(text) is no attribute type\(list)")
      }
    }
    result.inputs = try entry.strings("inputs")
    result.passesObject = try entry.boolean("object") ?? false
    result.isPure = try entry.boolean("pure") ?? false
    result.isStrict = try entry.boolean("strict") ?? false
    result.isStored = try entry.boolean("stored") ?? false
    result.get = try entry.function("get")
    result.set = try entry.function("set")
    result.shadow = try entry.string("shadow")
    result.transformer = try entry.string("transformer")
    result.readsEarly = try choice("read", of: ["on_demand", "pre_calculated"], in: entry) == "pre_calculated"
    result.writesLate = try choice("write", of: ["immediate", "delayed"], in: entry) == "delayed"
    try check(result, in: entry)
    return result
  }

  /// A text that has to be one of two choices; nil if it is absent or wrong.
  private static func choice(_ key: String, of choices: [String], in entry: ScriptTableReader) throws -> String? {
    guard let text = try entry.string(key), !choices.contains(text) else { return try entry.table.get(key).textValue }
    let hint = suggestion(for: text, among: choices)
    try entry.refuse(key, "\"\(text)\" is neither \"\(choices[0])\" nor \"\(choices[1])\"\(hint)")
    return nil
  }

  /// Checks the combination of keys. A key of the wrong form, already reported, causes no second mistake. For example,
  /// `pure` needs `inputs` and `type`, and `shadow` excludes `get` and `set`.
  private static func check(_ derived: Derived, in entry: ScriptTableReader) throws {
    let has = { (key: String) in try entry.has(key) }
    if try has("shadow") {
      if try !has("transformer") { try entry.refuse(nil, "a shadow needs a transformer") }
      if try has("get") || has("set") {
        try entry.refuse(nil, "give either shadow and transformer or functions get and set, not both")
      }
    } else if try !has("get") {
      try entry.refuse(nil, "a derived attribute needs a function get, or shadow and transformer")
    } else if try has("transformer") {
      try entry.refuse(
        "transformer", "a transformer goes with a shadow: name the transformer of a stored attribute in the model")
    }
    if derived.isPure, try !has("inputs") { try entry.refuse("pure", "a pure attribute must list its inputs") }
    if derived.passesObject, try !has("get") || derived.isPure {
      let reason = derived.isPure ? "a pure attribute is computed from its inputs alone" : "it goes with a function get"
      try entry.refuse("object", "object = true gives get the object behind the inputs, and \(reason)")
    }
    if derived.isPure, try !has("type") { try entry.refuse("pure", "a pure attribute needs a type") }
    if derived.isStrict, try !has("inputs") {
      try entry.refuse("strict", "strict says that no input may be nil: list the inputs")
    }
    if derived.writesLate, try !has("shadow"), try !has("set") {
      try entry.refuse("write", "a delayed write needs a function set, which writes the value at the save")
    }
  }
}
