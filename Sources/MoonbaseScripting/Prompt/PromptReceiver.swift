import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The value before a `.` or `:` in a prompt, as far as it is known without running code.
///
/// Made for one completion. The initializer reads the tokens backwards to the beginning of the expression, then follows
/// the accesses forwards: `context:fetch("Person"):first()` is a context, then a request for persons, then a person.
struct PromptReceiver {
  /// The kind of value of a part of the line. Entities are known where the value itself is not.
  private enum Kind {
    case value(LuaValue)
    case context
    case object(ResolvedEntity)
    case objects(ResolvedEntity)
    case members(ResolvedEntity)
    case request(ResolvedEntity)
    case text
    case host(LuaAnyHostType)
    case unknown
  }

  /// An access after a name: a field, a method with its first text argument, or an element. Accesses are read from the
  /// end of the line.
  private enum Step {
    case field(String)
    case method(String, argument: String?)
    case element
    case call
  }

  /// Its environment has the global variables.
  private let prompt: ScriptPrompt
  /// The kind after the last access.
  private var kind = Kind.unknown

  /// Parses backwards from the end of the tokens. `.unknown` for expressions that are not followed, such as calls of
  /// script functions.
  init(_ prompt: ScriptPrompt, _ tokens: some Collection<CodeToken>) {
    self.prompt = prompt
    var rest = Array(tokens)[...]
    var steps: [Step] = []
    while let step = Self.step(before: &rest) { steps.append(step) }
    if rest.last?.sign == nil, case .string? = rest.last?.token { kind = .text }
    if case .name(let name)? = rest.last?.token { kind = global(name) }
    for step in steps.reversed() { kind = apply(step) }
  }

  // MARK: Reading

  /// Removes the last access from the tokens; nil if only a name or a text is left.
  private static func step(before rest: inout ArraySlice<CodeToken>) -> Step? {
    if let sign = rest.last?.sign, sign == ")" || sign == "]" {
      let content = brackets(at: &rest)
      guard sign == ")" else { return .element }
      let argument: String? = if case .string(let text)? = content.first?.token { text } else { nil }
      return method(before: &rest, argument) ?? .call
    }
    // `context:fetch "Person"`.
    if case .string(let text)? = rest.last?.token {
      var others = rest.dropLast()
      guard let method = method(before: &others, text) else { return nil }
      rest = others
      return method
    }
    guard case .name(let name)? = rest.last?.token, rest.dropLast().last?.sign == ".",
      rest.dropLast(2).last?.sign != "."
    else { return nil }
    rest.removeLast(2)
    return .field(name)
  }

  /// Removes `:name` from the end of the tokens; nil if there is none.
  private static func method(before rest: inout ArraySlice<CodeToken>, _ argument: String?) -> Step? {
    guard case .name(let name)? = rest.last?.token, rest.dropLast().last?.sign == ":" else { return nil }
    rest.removeLast(2)
    return .method(name, argument: argument)
  }

  /// Removes a pair of brackets and returns the tokens within. The first token within comes first. Unclosed brackets
  /// consume all tokens.
  private static func brackets(at rest: inout ArraySlice<CodeToken>) -> ArraySlice<CodeToken> {
    let all = rest
    var depth = 0
    while let token = rest.popLast() {
      if let sign = token.sign, [")", "]", "}"].contains(sign) { depth += 1 }
      if let sign = token.sign, ["(", "[", "{"].contains(sign) { depth -= 1 }
      if depth == 0 { break }
    }
    return all[rest.endIndex...].dropFirst().dropLast()
  }

  // MARK: Following

  /// The kind of a global variable's value.
  private func global(_ name: String) -> Kind {
    let value = (try? prompt.environment.table.get(name)) ?? .nil
    return kind(of: value)
  }

  /// The kind of a value that exists.
  private func kind(of value: LuaValue) -> Kind {
    // Scripts see some tables through proxies, which have no fields of their own.
    if case .table(let table) = value { return .value(.table((try? table.behindProxy) ?? table)) }
    guard case .object(let object) = value else {
      if case .string = value { return .text }
      return .value(value)
    }
    switch object.object {
    case let object as ManagedObject: return .object(object.entity)
    case let box as RequestBox: return prompt.model?.entity(box.request.entityName).map(Kind.request) ?? .unknown
    case let box as ToManyBox:
      return destination(of: box.owner.entity.properties[box.slot]).map(Kind.members) ?? .unknown
    case is ContextBox: return .context
    default: return .host(object.type)
    }
  }

  /// The kind after an access.
  private func apply(_ step: Step) -> Kind {
    switch (kind, step) {
    case (.value(let value), .field(let name)): field(name, of: value)
    case (.value(.table(let table)), .element): element(of: table)
    case (.objects(let entity), .element), (.members(let entity), .element): .object(entity)
    case (.context, .field("parent")): .context
    case (.context, .method(let name, let argument)): result(ofContext: name, argument)
    case (.object(let entity), .field(let name)): property(name, of: entity)
    case (.object, .method("context", _)): .context
    case (.request(let entity), .method(let name, _)), (.members(let entity), .method(let name, _)):
      result(ofRequest: name, entity)
    default: .unknown
    }
  }

  /// A field of a table, read without metamethods.
  private func field(_ name: String, of value: LuaValue) -> Kind {
    guard case .table(let table) = value else { return .unknown }
    if let known = try? table.get(name), known.isPresent { return kind(of: known) }
    return .unknown
  }

  /// The first element of a list stands for all of them.
  private func element(of table: LuaTable) -> Kind { (try? table.get(1)).map(kind) ?? .unknown }

  /// The kind of an object's property, by the model.
  private func property(_ name: String, of entity: ResolvedEntity) -> Kind {
    guard let property = entity.property(name) else { return .unknown }
    switch property.kind {
    case .toOne: return destination(of: property).map(Kind.object) ?? .unknown
    case .toMany: return destination(of: property).map(Kind.members) ?? .unknown
    case .attribute(let attribute): return kind(of: attribute.type)
    }
  }

  /// The kind of an attribute's values.
  private func kind(of type: AttributeType) -> Kind {
    let types = prompt.domain.types
    return switch type {
    case .string: .text
    case .date: .host(types.date)
    case .decimal: .host(types.decimal)
    case .uuid: .host(types.uuid)
    case .uri: .host(types.uri)
    default: .unknown
    }
  }

  /// The destination entity of a relationship.
  private func destination(of property: ResolvedProperty) -> ResolvedEntity? {
    guard let relationship = property.relationship, let model = prompt.model else { return nil }
    return model.destination(of: relationship)
  }

  /// The kind of the result of a context's method.
  private func result(ofContext name: String, _ argument: String?) -> Kind {
    if name == "child" { return .context }
    guard let argument, let entity = prompt.model?.entity(argument) else { return .unknown }
    return switch name {
    case "fetch": .request(entity)
    case "insert", "find", "upsert": .object(entity)
    default: .unknown
    }
  }

  /// Methods of requests whose results have no members to complete.
  private static let ends: Set = ["each", "count", "ids", "dictionaries", "rows", "explain", "follow"]

  /// The kind of the result of a request's method: an object, a list, or a further request.
  private func result(ofRequest name: String, _ entity: ResolvedEntity) -> Kind {
    if name == "first" { return .object(entity) }
    if name == "all" { return .objects(entity) }
    return Self.ends.contains(name) ? .unknown : .request(entity)
  }

  // MARK: Answering

  /// The entity for key paths in a predicate; nil if unknown. Used for `where("`, `sort("` and their like.
  var entity: ResolvedEntity? {
    switch kind {
    case .object(let entity), .request(let entity), .members(let entity): entity
    default: nil
    }
  }

  /// The names after a `.` or a `:` that are valid identifiers. Methods end in `(`.
  func members(asMethods: Bool) -> [String] {
    allMembers(asMethods: asMethods).filter { ($0.hasSuffix("(") ? String($0.dropLast()) : $0).identifier != nil }
  }

  /// The names, also those that are no identifiers.
  private func allMembers(asMethods: Bool) -> [String] {
    let domain = prompt.domain
    switch kind {
    case .value(.table(let table)): return fields(of: table, asMethods: asMethods)
    case .context: return names(of: domain.types.context.plain, asMethods)
    case .request: return names(of: domain.types.request, asMethods)
    case .members: return names(of: domain.types.members, asMethods)
    case .host(let type): return names(of: type, asMethods)
    case .text: return asMethods ? library("string") : []
    case .object(let entity) where asMethods:
      let declared = domain.namesOfMethods
      return (domain.types.objectMethods.map(\.name) + declared).sorted().map { "\($0)(" }.filter { name in
        entity.property(String(name.dropLast())) == nil
      }
    case .object(let entity):
      return (entity.allProperties.map(\.name) + entity.fetchedProperties.keys).sorted()
    case .value, .objects, .unknown: return []
    }
  }

  /// The members of a host type, without describing it anew.
  private func names(of type: LuaAnyHostType, _ asMethods: Bool) -> [String] {
    let members = type.members(in: prompt.domain.state)
    return asMethods ? members.methods.map { "\($0)(" } : members.properties.sorted()
  }

  /// The functions of a standard library.
  private func library(_ name: String) -> [String] {
    guard case .value(.table(let table)) = global(name) else { return [] }
    return fields(of: table, asMethods: true)
  }

  /// Larger tables are not listed, because listing would delay the key.
  private static let greatestCount = 10_000

  /// The names of a table's fields; with `asMethods` only functions.
  private func fields(of table: LuaTable, asMethods: Bool) -> [String] {
    guard let size = try? table.size, size <= Self.greatestCount, let pairs = try? table.pairs else { return [] }
    let names = pairs.compactMap { pair -> String? in
      guard let name = pair.key.textValue?.identifier else { return nil }
      if case .function = pair.value { return "\(name)(" }
      return asMethods ? nil : name
    }
    let absent = !asMethods && table.isSame(as: prompt.domain.moonbase) ? ScriptDomain.namesMadeLater : []
    return (names + absent).sorted()
  }
}
