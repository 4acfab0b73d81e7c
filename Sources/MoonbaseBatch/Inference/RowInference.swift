import MoonbaseModel
import MoonbasePlatform

/// Infers an entity from the rows of an input. Reads all of it and keeps little.
///
/// Each column has a `ColumnProfile`. The memory does not depend on the number of rows, apart from
/// the shared `DistinctBudget`.
package final class RowInference {
  /// A table of SQLite has at most 2000 columns, some of which the store needs.
  static let greatestColumns = 1900

  /// The input, which is read to its end.
  private let input: ImportInput
  /// The memory for duplicates, shared by the columns.
  private let budget = DistinctBudget()
  /// The profiles, in the order of the reader's names.
  private var profiles: [ColumnProfile] = []
  /// The number of readable rows.
  private(set) var rows = 0
  /// The number of unreadable records, which an import rejects.
  private(set) var wrongRows = 0

  /// Called periodically with the position in the input. Returning true ends the inference.
  package var progress: (_ offset: Int64, _ rows: Int) -> Bool = { _, _ in false }

  /// An inference for this input.
  package init(_ input: ImportInput) { self.input = input }

  /// The entity name for a file: `order_items.csv` gives `OrderItems`.
  package static func entityName(ofFile path: String) -> String {
    let name = ImportInput.unpacked(path.split(separator: "/").last.map(String.init) ?? path)
    return InferredNames.entity(name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name)
  }

  /// The model; nil if `progress` ended the inference. Throws for an input that is invalid as a whole.
  ///
  /// Throws `ImportError` for an input without objects, and for more than `greatestColumns`
  /// columns.
  package func model(entity name: String) throws -> InferredModel? {
    do {
      guard try read() else { return nil }
    } catch let error as InputError {
      throw ImportInput.error(error, input.path)
    }
    guard !profiles.isEmpty else { throw error("there is no object that a model could be guessed from") }
    return build(name)
  }

  /// The error with the name of the input.
  private func error(_ what: String) -> ImportError {
    ImportError(message: "\(input.path ?? "standard input"): \(what)")
  }

  /// Reads all rows. Unreadable records are counted and skipped.
  private func read() throws -> Bool {
    let reader = input.reader
    let textsAreTyped = input.format == .json || input.format == .ndjson
    while true {
      try HostWork.charge()
      do {
        guard try reader.next() else { break }
        rows += 1
      } catch InputError.malformed {
        wrongRows += 1
        continue
      }
      try addColumns()
      for index in profiles.indices { profiles[index].add(reader.field(index), textsAreTyped: textsAreTyped) }
      if rows & 1023 == 0, progress(reader.recordEnd, rows) { return false }
    }
    try addColumns()
    return true
  }

  /// Adds profiles for new columns.
  private func addColumns() throws {
    guard input.reader.names.count > profiles.count else { return }
    guard input.reader.names.count <= Self.greatestColumns else {
      throw error("it has \(input.reader.names.count) columns, and an entity for them at most \(Self.greatestColumns)")
    }
    while profiles.count < input.reader.names.count {
      profiles.append(ColumnProfile(input.reader.names[profiles.count], budget))
    }
  }

  /// Makes the model of the profiles: attributes, a key, and comments.
  private func build(_ name: String) -> InferredModel {
    var names = InferredNames()
    var entity = EntityDescription(name)
    var result = InferredModel()
    let path = ["entities", name]
    for (profile, name) in zip(profiles, names.properties(profiles.map(\.name))) {
      let guess = AttributeGuess(profile, named: name, rows: rows)
      entity.attributes.append(guess.attribute)
      result.comments[path + ["attributes", name]] = guess.reasons
    }
    let keys = KeyGuess(Array(zip(profiles, entity.attributes)), rows: rows)
    if let key = keys.key { entity.uniquenessConstraints = [[key]] }
    result.comments[path + [keys.key == nil ? "attributes" : "constraints"]] = keys.reasons
    result.model.entities = [entity]
    let wrong = wrongRows == 0 ? "" : ", and \(wrongRows) that cannot be read"
    result.head = [
      "Guessed by moonbase import --infer from \((input.path ?? "standard input").shownInComment): \(rows) row\(rows == 1 ? "" : "s")\(wrong).",
      "Each comment says why what follows it is so. Change what is not meant, and import with --model and this file into a new store.",
    ]
    return result
  }
}
