import ArgumentParser
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The options for a fetch of groups.
///
/// `FetchCommand` and `GroupOutput` use it.
struct GroupOptionGroup: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Print a row for each group of equal values; --columns may have @count, @sum.age, total=@avg.age.",
      valueName: "paths"), completion: .properties)
  var groupBy: String?

  @Option(parsing: .unconditional, help: "A predicate over the columns of a group, as in '@count > 2'.")
  var having: String?

  /// Refuses a condition without groups.
  func validate() throws {
    guard having == nil || groupBy != nil else { throw ValidationError("--having is for the groups of --group-by") }
    if groupBy?.isEmpty == true { throw ValidationError("--group-by takes key paths, as in kind,department.name") }
  }

  /// Whether groups are asked for.
  var isGiven: Bool { groupBy != nil }
}

/// Writes groups of objects, with a row for each group.
///
/// The request fetches dictionaries. Without columns, the grouping keys and the count are written.
struct GroupOutput {
  /// The request with groups and columns.
  private let request: FetchRequest
  /// The form of the output.
  private let form: OutputForm
  /// The context to read from.
  private let context: ManagedObjectContext

  /// Throws for keys and columns that cannot be parsed or checked.
  init(
    _ request: FetchRequest, _ groups: GroupOptionGroup, columns: String?, form: OutputForm,
    in context: ManagedObjectContext
  ) throws {
    var request = request
    let keys = FetchColumns.names(groups.groupBy ?? "")
    request.resultType = .dictionaries
    request.propertiesToGroupBy = keys
    // Without columns, a row contains the keys and the number of objects in the group.
    request.propertiesToFetch =
      try columns.map(FetchColumns.names).map { try $0.map(Self.column) }
      ?? keys.map { FetchColumn($0) } + [FetchColumn("count", expression: try Expression(format: "@count"))]
    request.havingPredicate = try groups.having.map { try Predicate(format: $0, arguments: []) }
    (self.request, self.form, self.context) = (request, form, context)
  }

  /// Reads a column such as `total=@sum.age`, or a path, which is its own name.
  private static func column(_ text: String) throws -> FetchColumn {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return FetchColumn(text, expression: try Expression(format: text)) }
    return FetchColumn(parts[0], expression: try Expression(format: parts[1]))
  }

  /// A description of how the store answers the request.
  func explanation() throws -> String { try context.explain(request) }

  /// Writes the groups, or only their number.
  func run(counting: Bool) throws {
    let rows = try DictionaryRows(request, in: context)
    guard !counting else {
      var count = 0
      try rows.forEach { _ in count += 1 }
      return Terminal.print("\(count)")
    }
    let writer = RowPrinter(form, columns: rows.names)
    try rows.forEach { try writer.write($0) }
    try writer.finish()
    for message in writer.losses.messages { Terminal.complain("moonbase: \(message)") }
  }
}
