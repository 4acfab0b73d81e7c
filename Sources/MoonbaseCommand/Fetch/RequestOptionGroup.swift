import ArgumentParser
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The options that select objects of an entity.
///
/// The group is shared by all commands that select objects.
struct ConditionOptionGroup: ParsableArguments {
  @Option(
    name: .customLong("where"), parsing: .unconditional, help: "The predicate, in Core Data's format language.",
    completion: .properties)
  var predicate: String?

  @Option(
    name: .customLong("param"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What stands for the next %@ of the predicate: a text where the attribute beside it is one, else a number, true or false, a date or a URI.",
      valueName: "value"))
  var parameters: [String] = []

  @Option(
    help: ArgumentHelp(
      "A fetch request template of the model; --param NAME=VALUE gives its variables.", valueName: "name"),
    completion: .templates)
  var template: String?

  /// Refuses parameters without a predicate, and a predicate beside a template.
  func validate() throws {
    guard parameters.isEmpty || predicate != nil || template != nil else {
      throw ValidationError("--param is for the %@ of --where, or as NAME=VALUE for the variables of --template")
    }
    guard template == nil || predicate == nil else {
      throw ValidationError("--template has a predicate of its own: leave --where out")
    }
    for parameter in parameters where template != nil && !parameter.dropFirst().contains("=") {
      throw ValidationError("--param of a template is NAME=VALUE, not '\(parameter)'")
    }
  }

  /// Whether one of these options is given.
  var isGiven: Bool { predicate != nil || template != nil }

  /// A request for the objects of an entity.
  ///
  /// Throws for a predicate that cannot be parsed, and for an unknown template.
  func request(_ entity: String, in context: ManagedObjectContext) throws -> FetchRequest {
    if let template {
      return try TemplateRequest(template, of: entity, in: context).request(parameters)
    }
    var request = FetchRequest(entity)
    if let predicate {
      request.predicate = try ParameterTexts(parameters, entity: entity, in: context).predicate(predicate)
    }
    return request
  }
}

/// The options of commands that write objects. They select objects, their order, their number and their columns.
///
/// `fetch` and `export` share it.
struct RequestOptionGroup: ParsableArguments {
  @OptionGroup var condition: ConditionOptionGroup

  @Option(
    parsing: .unconditional, help: "Key paths to sort by, as in lastName,-age.", completion: .properties)
  var sort: String?

  @Option(help: "How many objects at most.")
  var limit: Int?

  @Option(help: "How many objects to pass over at the beginning.")
  var offset: Int?

  @Flag(help: "Only the first object.")
  var first = false

  @Option(
    parsing: .unconditional, help: "Key paths of the columns, as in _id,name,department.name.",
    completion: .properties)
  var columns: String?

  /// Checks the ranges of numbers.
  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number above 0, not \(limit)") }
    if let offset, offset < 0 { throw ValidationError("--offset takes a number from 0 on, not \(offset)") }
    if first, limit != nil { throw ValidationError("--first is one object: leave --limit out") }
  }

  /// Whether one of these options is given.
  var isGiven: Bool { condition.isGiven || sort != nil || limit != nil || columns != nil || offset != nil || first }

  /// A request for the objects of an entity.
  func request(_ entity: String, in context: ManagedObjectContext) throws -> FetchRequest {
    var request = try condition.request(entity, in: context)
    if let limit = first ? 1 : limit { request.fetchLimit = limit }
    if let offset { request.fetchOffset = offset }
    if let sort { request.sortDescriptors = FetchColumns.names(sort).map { SortDescriptor(text: $0) } }
    return request
  }

  /// The names of the columns, or nil if none are given.
  var columnNames: [String]? { columns.map(FetchColumns.names) }
}
