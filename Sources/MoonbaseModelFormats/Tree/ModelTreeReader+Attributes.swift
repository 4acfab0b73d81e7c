import MoonbaseModel
import MoonbasePlatform

extension ModelTreeReader {
  /// Reads `"string"`, or `{ "string", optional = false, ... }`.
  ///
  /// Throws `.invalidModel` with the line for an unknown type or key, and for a value that does not
  /// fit the type.
  func attribute(_ name: String, from tree: ModelTree, in context: ReadingContext) throws(ModelError)
    -> AttributeDescription
  {
    if tree.string != nil { return try attribute(name, from: .table([tree], line: tree.line), in: context) }
    var table = try TreeFields(tree, context: context)
    var attribute = AttributeDescription(name, type: try type(&table))
    attribute.location = context.location(tree.line)
    try table.read(into: &attribute)
    let userInfo = try table.userInfo()
    if let type = attribute.swiftTypeName, let other = userInfo["swift"], other != .string(type) {
      throw table.error("swift is \(type), and in user_info something else: name the type once")
    }
    attribute.userInfo.merge(userInfo) { type, _ in type }
    for (name, tree) in try table.named("elements") {
      attribute.elements.append(try self.attribute(name, from: tree, in: context.property("element", name: name)))
    }
    try readValidation(&table, into: &attribute)
    if let tree = table.read("default") {
      attribute.defaultValue = try value(tree, key: "default", of: attribute, in: context)
    }
    try table.finish(listCount: 1)
    return attribute
  }

  /// The type is the first element of the list part. Throws with a suggestion for an unknown name.
  private func type(_ table: inout TreeFields) throws(ModelError) -> AttributeType {
    let names = AttributeType.allCases.map(\.modelName)
    guard let first = table.list.first else {
      throw table.context.error("the type comes first, for example { \"string\", optional = false }", line: table.line)
    }
    let name = try table.string(first, what: "the type")
    guard let type = AttributeType(modelName: name) else {
      let advice = Self.otherNames[name.lowercased()].map { "; write \($0)" } ?? suggestion(for: name, among: names)
      throw table.context.error(
        "there is no type \(name)\(advice.isEmpty ? "; there are \(names.joined(separator: ", "))" : advice)",
        line: first.line ?? table.line)
    }
    return type
  }

  /// Names of types in other languages, for suggestions.
  private static let otherNames = [
    "bool": "boolean", "int": "integer64", "integer": "integer64", "int16": "integer16", "int32": "integer32",
    "int64": "integer64", "long": "integer64", "number": "double", "real": "double", "text": "string", "str": "string",
    "varchar": "string", "data": "binary", "blob": "binary", "bytes": "binary", "datetime": "date", "time": "date",
    "timestamp": "date", "url": "uri", "guid": "uuid", "numeric": "decimal", "money": "decimal",
    "table": "transformable",
  ]

  /// Reads the rules: `min`, `max`, lengths, `matches`, `one_of` and `rules`.
  private func readValidation(_ table: inout TreeFields, into attribute: inout AttributeDescription) throws(ModelError)
  {
    let context = table.context
    var validation = attribute.validation
    if let tree = table.read("min") { validation.minimum = try bound(tree, key: "min", of: attribute, in: context) }
    if let tree = table.read("max") { validation.maximum = try bound(tree, key: "max", of: attribute, in: context) }
    if attribute.type != .string,
      validation.minimumLength != nil || validation.maximumLength != nil || validation.regularExpression != nil
    {
      throw table.error("min_length, max_length and matches are for strings")
    }
    if let tree = table.read("one_of") {
      let list = try TreeFields(tree, context: context.part("one_of"))
      try list.finish(listCount: .max)
      var allowed: [Value] = []
      for element in list.list { allowed.append(try value(element, key: "one_of", of: attribute, in: context)) }
      guard !allowed.isEmpty else {
        throw context.error("one_of is empty, so that no value would be allowed: list the values", line: tree.line)
      }
      validation.allowedValues = allowed
    }
    if let tree = table.read("rules") { validation.predicates = try rules(tree, in: context.part("rules")) }
    attribute.validation = validation
  }

  /// Reads a bound. Throws for types that are neither numbers nor dates.
  private func bound(_ tree: ModelTree, key: String, of attribute: AttributeDescription, in context: ReadingContext)
    throws(ModelError) -> Value
  {
    if attribute.type == .string {
      throw context.error("a string has \(key)_length, not \(key)", line: tree.line)
    }
    guard attribute.type.isNumeric || attribute.type == .date else {
      throw context.error("\(key) is for numbers and dates", line: tree.line)
    }
    return try value(tree, key: key, of: attribute, in: context)
  }

  /// Reads `{ { "SELF.length > 3", "is too short" }, ... }`.
  ///
  /// The message is shown if a value violates the predicate.
  private func rules(_ tree: ModelTree, in context: ReadingContext) throws(ModelError) -> [ValidationPredicate] {
    let table = try TreeFields(tree, context: context)
    try table.finish(listCount: .max)
    var result: [ValidationPredicate] = []
    for element in table.list {
      let rule = try TreeFields(element, context: context)
      try rule.finish(listCount: 2)
      guard rule.list.count == 2 else {
        throw context.error("each rule is { \"predicate\", \"message\" }", line: element.line)
      }
      let text = try rule.string(rule.list[0], what: "the predicate of a rule")
      let message = try rule.string(rule.list[1], what: "the message of a rule")
      result.append(
        ValidationPredicate(try predicate(text, in: context, line: rule.list[0].line ?? element.line), message: message)
      )
    }
    return result
  }

  /// Reads a value in the attribute's type. A number for a date means seconds since 2001.
  private func value(_ tree: ModelTree, key: String, of attribute: AttributeDescription, in context: ReadingContext)
    throws(ModelError) -> Value
  {
    guard let value = tree.scalar else { throw context.error("\(key) is a value, not \(tree.kind)", line: tree.line) }
    if attribute.type == .binaryData, case .string(let text) = value { return .data(Data(text.utf8)) }
    if attribute.type == .uri, case .string(let text) = value, let uri = URL(string: text) { return .uri(uri) }
    if attribute.type == .date, case .int(let seconds) = value { return .date(at(Double(seconds))) }
    if attribute.type == .date, case .double(let seconds) = value { return .date(at(seconds)) }
    do { return try attribute.checked(value) } catch {
      throw context.error("\(key): \(error.message)", line: tree.line)
    }
  }

  /// The date of a number, which means seconds since 2001 as in a store.
  private func at(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
}
