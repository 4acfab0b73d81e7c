import ArgumentParser
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// The options that say which objects of an entity a command is about.
struct ConditionOptionGroup: ParsableArguments {
  @Option(name: .customLong("where"), parsing: .unconditional, help: "The predicate, in Core Data's format language.")
  var predicate: String?

  @Option(
    name: .customLong("param"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What stands for the next %@ of the predicate: a text where the attribute beside it is one, else a number, true or false, a date or a URI.",
      valueName: "value"))
  var parameters: [String] = []

  func validate() throws {
    guard parameters.isEmpty || predicate != nil else { throw ValidationError("--param is for the %@ of --where") }
  }

  /// Whether they say anything.
  var isGiven: Bool { predicate != nil }

  /// A request for the objects of an entity.
  func request(_ entity: String, in context: ManagedObjectContext) throws -> FetchRequest {
    var request = FetchRequest(entity)
    if let predicate {
      request.predicate = try ParameterTexts(parameters, entity: entity, in: context).predicate(predicate)
    }
    return request
  }
}

/// The options of commands that write objects: which, in what order, how many, and what of them.
struct RequestOptionGroup: ParsableArguments {
  @OptionGroup var condition: ConditionOptionGroup

  @Option(parsing: .unconditional, help: "Key paths to sort by, as in lastName,-age.")
  var sort: String?

  @Option(help: "How many objects at most.")
  var limit: Int?

  @Option(parsing: .unconditional, help: "Key paths of the columns, as in _id,name,department.name.")
  var columns: String?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number above 0, not \(limit)") }
  }

  /// Whether they say anything.
  var isGiven: Bool { condition.isGiven || sort != nil || limit != nil || columns != nil }

  /// A request for the objects of an entity.
  func request(_ entity: String, in context: ManagedObjectContext) throws -> FetchRequest {
    var request = try condition.request(entity, in: context)
    request.fetchLimit = limit ?? 0
    request.sortDescriptors = sort.map(FetchColumns.names).map { $0.map { SortDescriptor(text: $0) } } ?? []
    return request
  }

  /// The columns by their names; nil where none are named.
  var columnNames: [String]? { columns.map(FetchColumns.names) }
}
