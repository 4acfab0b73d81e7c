import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Prints the objects of an entity that match a predicate. The store is only read.",
    discussion: """
      moonbase fetch Person --store people.sqlite --where 'age > %@' --param 30 --sort lastName,-age --columns name,team.name

      Without --columns there are the object's URI (_id), the stored attributes, and the URIs of to-one relationships. A \
      column may be a key path, as in department.name, people.@count or friends.name.
      """)

  @Argument(help: "The entity; objects of its subentities are among the results.")
  var entity: String

  @OptionGroup var stores: StoreOptionGroup
  @OptionGroup var output: ObjectOptionGroup

  @Option(name: .customLong("where"), parsing: .unconditional, help: "The predicate, in Core Data's format language.")
  var predicate: String?

  @Option(
    name: .customLong("param"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What stands for the next %@ of the predicate: a text where the attribute beside it is one, else a number, true or false, a date or a URI.",
      valueName: "value"))
  var parameters: [String] = []

  @Option(parsing: .unconditional, help: "Key paths to sort by, as in lastName,-age.")
  var sort: String?

  @Option(help: "How many objects at most.")
  var limit: Int?

  @Option(parsing: .unconditional, help: "Key paths of the columns, as in _id,name,department.name.")
  var columns: String?

  @Flag(help: "Print the number of matches only.")
  var count = false

  @Flag(help: "Print how the request would be answered.")
  var explain = false

  func validate() throws {
    guard parameters.isEmpty || predicate != nil else { throw ValidationError("--param is for the %@ of --where") }
    if let limit, limit < 1 { throw ValidationError("--limit takes a number above 0, not \(limit)") }
    if count, explain { throw ValidationError("--count and --explain are two questions: ask one") }
    if explain, output.rows.format != nil { throw ValidationError("--explain prints text: leave --format out") }
    if count, columns != nil { throw ValidationError("--count prints one number: leave --columns out") }
  }

  func run() throws {
    var settings = try stores.settings()
    settings.readOnly = true
    let container = try PersistentContainer(settings.container)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let request = try request(in: context)
    if explain { return Terminal.print(try context.explain(request)) }
    if count { return print(count: try context.count(request)) }
    try FetchOutput(request, columns: columns.map(FetchColumns.names), form: output.form, in: context).run()
  }

  private func request(in context: ManagedObjectContext) throws -> FetchRequest {
    var request = FetchRequest(entity)
    request.fetchLimit = limit ?? 0
    request.sortDescriptors = sort.map(FetchColumns.names).map { $0.map { SortDescriptor(text: $0) } } ?? []
    if let predicate {
      request.predicate = try ParameterTexts(parameters, entity: entity, in: context).predicate(predicate)
    }
    return request
  }

  private func print(count: Int) {
    guard output.rows.format != nil else { return Terminal.print("\(count)") }
    let writer = RowWriter(output.form, columns: ["count"])
    writer.write([.int(Int64(count))])
    writer.finish()
  }
}
