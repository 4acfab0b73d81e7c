import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase fetch`: prints objects of an entity as a table, JSON or csv.
///
/// The output may also be groups (`GroupOutput`), trees (`TreeOutput`), a number, or an
/// explanation.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Prints the objects of an entity that match a predicate. The store is only read.",
    discussion: """
      moonbase fetch Person --store people.sqlite --where 'age > %@' --param 30 --sort lastName,-age --columns name,team.name

      Without --columns there are the object's URI (_id), the stored attributes, and the URIs of to-one relationships. A \
      column may be a key path, as in department.name, people.@count or friends.name.
      """)

  @Argument(help: "The entity; objects of its subentities are among the results.", completion: .entities)
  var entity: String

  @Argument(help: "The store (default: that of the project); --store names it too.", completion: .file())
  var store: String?

  @OptionGroup var stores: StoreOptionGroup
  @OptionGroup var output: ObjectOptionGroup

  @OptionGroup var selection: RequestOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  @Flag(help: "Print the number of matches only.")
  var count = false

  @Flag(help: "Print how the request would be answered.")
  var explain = false

  @OptionGroup var groups: GroupOptionGroup

  @Option(
    help: ArgumentHelp(
      "Print each object with those that these relationships lead to, as in people,people.friends.", valueName: "paths"),
    completion: .properties)
  var tree: String?

  /// Checks combinations of options.
  func validate() throws {
    try EntityArgument.check(entity, store, command: "fetch")
    try checkColumns()
    if count, explain { throw ValidationError("--count and --explain are two questions: ask one") }
    if explain, output.rows.format != nil { throw ValidationError("--explain prints text: leave --format out") }
    try validateForm()
    if count, selection.columns != nil { throw ValidationError("--count prints one number: leave --columns out") }
  }

  /// Throws for columns that are separated by spaces: the second name would be taken as the store.
  private func checkColumns() throws {
    guard let columns = selection.columns, let store, access(store, F_OK) != 0,
      store.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "," })
    else { return }
    throw ValidationError(
      "there is no store \(store): if it is a column, separate columns by commas, as in --columns \(columns),\(store)")
  }

  /// Checks the options of trees and groups.
  private func validateForm() throws {
    if count || explain, tree != nil { throw ValidationError("--tree prints objects: leave --count and --explain out") }
    guard tree != nil else { return }
    if groups.isGiven {
      throw ValidationError("--tree prints objects, and --group-by makes groups of them: ask for one")
    }
    if output.rows.format != nil { throw ValidationError("--tree prints text: leave --format out") }
  }

  /// Runs the fetch within the limits of the command.
  func run() throws { try limits.run(fetch) }

  /// Opens the store read-only, and prints in the form that the options ask for.
  private func fetch(in domain: ScriptDomain?) throws {
    var settings = try stores.settings(store)
    settings.readOnly = true
    let container = try PersistentContainer(limits.settings().limiting(settings.container, settings))
    let context = try container.context(in: domain)
    let request = try selection.request(entity, in: context)
    if groups.isGiven {
      let output = try GroupOutput(request, groups, columns: selection.columns, form: output.form, in: context)
      return try explain ? Terminal.print(output.explanation()) : output.run(counting: count)
    }
    if let tree {
      return try TreeOutput(request, tree, columns: selection.columnNames, form: output.form, in: context).run()
    }
    if count { return try print(count: context.count(request)) }
    let output = try FetchOutput(request, columns: selection.columnNames, form: output.form, in: context)
    if explain { return try Terminal.print(output.explanation()) }
    try output.run()
  }

  /// Prints the number of matches in the output form.
  private func print(count: Int) throws {
    guard output.rows.format != nil else { return Terminal.print("\(count)") }
    let writer = RowPrinter(try output.form, columns: ["count"])
    try writer.write([.int(Int64(count))])
    try writer.finish()
  }
}
