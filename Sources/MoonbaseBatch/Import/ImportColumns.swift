import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The meaning of a column.
///
/// `ImportColumns` decides it once for each column, from the column's name, the options and the
/// model.
enum ColumnTarget {
  /// Ignored: the object's URI, columns added by a reject file, and columns derived by the store or an extension.
  case ignored
  /// Unknown. A row with a value in the column is rejected with this reason.
  case unknown(String)
  /// An attribute, with its description at hand because each row uses it.
  indirect case attribute(ResolvedProperty, AttributeDescription)  // a description is large
  /// The URI of an object, or a list of URIs.
  case relationship(ResolvedProperty)
  /// A destination found by its attributes.
  case key(ResolvedProperty, lookup: Int)
}

extension ColumnTarget {
  /// The property that is set; nil if there is none.
  fileprivate var slot: Slot? {
    switch self {
    case .ignored, .unknown: nil
    case .attribute(let property, _), .relationship(let property), .key(let property, _): property.slot
    }
  }
}

/// The columns of an input, with their meaning for an entity.
///
/// A column is named after a property (`name`), after a key path to a destination's attributes
/// (`department.code`), or by `--map` and the user info of an attribute. JSON may add columns at
/// any record.
struct ImportColumns {
  /// The entity of the imported objects.
  let entity: ResolvedEntity
  /// The model of the context.
  let model: ResolvedModel
  /// The key in an attribute's user info for the name of its column, if that differs from the property.
  static let columnKey = "column"

  /// Property names by column name (from `--map` and from user info).
  let map: [String: String]
  /// The columns whose meaning comes from a map and not from the model.
  private let mapped: Set<String>
  /// The columns that a map ignores.
  private let ignored: Set<String>
  /// The names of the known columns.
  private(set) var names: [String] = []
  /// The meaning of each column, in the order of `names`.
  private(set) var targets: [ColumnTarget] = []
  /// The lookups of destinations, to which `ColumnTarget.key` refers by index.
  private(set) var lookups: [KeyLookup] = []
  /// The columns of derived attributes, which are ignored.
  private(set) var derived: [String] = []
  /// The slots of attributes computed by extensions.
  private let computed: Set<Slot>
  /// The column of each property.
  private var places: [Slot: Int] = [:]
  /// The number of unknown columns reported. Suggestions are searched for the first ones only.
  private var unknownCount = 0
  /// The most columns for which similar names are searched.
  private static let greatestSuggestions = 20
  /// The most faults of columns in an error.
  private static let greatestFaults = 5

  /// `computed` are the slots of attributes that extensions derive. `map` has properties by column, and `ignored` the
  /// columns without a property.
  init(
    _ entity: ResolvedEntity, in model: ResolvedModel, map: [String: String] = [:], ignored: Set<String> = [],
    computed: Set<Slot> = []
  ) {
    (self.entity, self.model, self.ignored, self.computed) = (entity, model, ignored, computed)
    var named: [String: String] = [:]
    for property in entity.properties {
      guard case .string(let column)? = property.attribute?.userInfo[Self.columnKey], entity.property(column) == nil
      else { continue }
      named[column] = property.name
    }
    self.map = named.merging(map) { $1 }
    mapped = ignored.union(map.keys)
  }

  /// Adds new columns. Throws for an unknown column, unless only the rows with it are to be rejected.
  ///
  /// With `refusing` false, an unknown column becomes `ColumnTarget.unknown`. Throws an `ImportError` with the faults
  /// of all columns. Two columns of the same property are a fault.
  mutating func add(_ all: [String], refusing: Bool = true) throws {
    guard all.count > names.count else { return }
    let former = self
    var faults: [String] = []
    for name in all.dropFirst(names.count) {
      let target: ColumnTarget
      do {
        let isIgnored = ignored.contains(name) || isBookkeeping(name, among: all)
        let found = isIgnored ? .ignored : try self.target(of: map[name] ?? name, column: name)
        try refuseTwice(found, column: name)
        target = found
      } catch let error as ImportError {
        if refusing { faults.append(error.message) }
        target = .unknown(error.message)
      }
      if let slot = target.slot { places[slot] = names.count }
      names.append(name)
      targets.append(target)
    }
    guard !faults.isEmpty else { return }
    let count = unknownCount
    self = former
    unknownCount = count
    let left = faults.count - Self.greatestFaults
    throw ImportError(
      message: faults.prefix(Self.greatestFaults).joined(separator: "\n")
        + (left > 0 ? "\nand \(left) more columns" : ""))
  }

  /// Throws if a map names a column that does not exist.
  ///
  /// Throws `ImportError` with a suggestion.
  func requireMapped(among names: [String]) throws {
    guard let missing = mapped.subtracting(names).min() else { return }
    throw ImportError(
      message: "--map: columns names '\(TextLimits.beginning(of: missing))', and the file has no such column"
        + suggestion(for: missing, among: names))
  }

  /// Whether all columns are attributes.
  var areAttributes: Bool {
    targets.allSatisfy {
      switch $0 {
      case .ignored, .unknown, .attribute: true
      case .relationship, .key: false
      }
    }
  }

  /// The column of an attribute; nil if there is none.
  func column(of property: ResolvedProperty) -> Int? {
    guard let column = places[property.slot], case .attribute = targets[column] else { return nil }
    return column
  }

  /// A fault of a property under the column's name in the file.
  ///
  /// The fault is unchanged if no column has the property.
  func named(_ fault: RowFault) -> RowFault {
    guard let name = fault.column, !names.contains(name),
      let column = entity.property(name).flatMap({ places[$0.slot] })
    else { return fault }
    var named = fault
    named.column = names[column]
    return named
  }

  /// The indexes of columns by name. Adds new columns. Throws an `ImportError` with the faults of all names.
  mutating func places(of wanted: [String]) throws -> [Int] {
    try add(names + wanted.filter { !names.contains($0) })
    return wanted.compactMap { names.firstIndex(of: $0) }
  }

  /// Refuses two columns for the same property, because it is unclear which value applies.
  ///
  /// Throws `ImportError` that names both columns.
  private func refuseTwice(_ target: ColumnTarget, column: String) throws {
    guard let slot = target.slot, let place = places[slot] else { return }
    throw wrong(column, "column '\(names[place])' is \(entity.name).\(entity.properties[slot].name) already")
  }

  /// Whether an export added the column: its name begins with `_`, and the property with the remaining name has its own
  /// column.
  private func isBookkeeping(_ column: String, among all: [String]) -> Bool {
    guard column.hasPrefix("_"), !mapped.contains(column), let name = map[column] else { return false }
    return all.contains(name)
  }

  /// The meaning of a path. A lookup of a destination is added to `lookups`.
  private mutating func target(of path: String, column: String) throws -> ColumnTarget {
    if column.hasPrefix("_"), map[column] == nil, entity.property(path) == nil { return .ignored }
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let property = entity.property(keys[0]) else { throw unknown(keys[0], column) }
    if let attribute = property.attribute {
      guard keys.count == 1 || attribute.type != .composite else {
        throw wrong(
          column,
          "\(entity.name).\(keys[0]) is a composite, which is read whole: an object of JSON in a column \(keys[0])")
      }
      guard keys.count == 1 else {
        throw wrong(
          column,
          "\(entity.name).\(keys[0]) is an attribute, behind which no '.\(TextLimits.beginning(of: keys[1]))' can stand"
        )
      }
      if attribute.derivationExpression != nil || computed.contains(property.slot) {
        derived.append(column)
        return .ignored
      }
      return .attribute(property, attribute)
    }
    guard let relationship = property.relationship, keys.count > 1 else { return .relationship(property) }
    let destination = model.entities[relationship.destination]
    let names = keys.dropFirst().joined(separator: ".")
    let properties = names.split(separator: ",").compactMap { destination.property(String($0)) }
    guard !properties.isEmpty, properties.count == names.split(separator: ",").count,
      properties.allSatisfy({ $0.attribute != nil })
    else {
      throw wrong(
        column, "\(destination.name) has no attribute \(TextLimits.beginning(of: names)) to find its objects by")
    }
    lookups.append(KeyLookup(destination, properties))
    return .key(property, lookup: lookups.count - 1)
  }

  /// The error about an unknown property, with similar names while there are few such errors.
  private mutating func unknown(_ name: String, _ column: String) -> ImportError {
    unknownCount += 1
    let near =
      unknownCount > Self.greatestSuggestions ? "" : suggestion(for: name, among: entity.allProperties.map(\.name))
    return wrong(
      column,
      "\(entity.name) has no property \(TextLimits.beginning(of: name))\(near.isEmpty ? ": rename the column, or say in --map which it is" : near)"
        + (Double(column) != nil ? " (--no-header says that the first line has no names)" : "")
    )
  }

  /// The error about a column.
  private func wrong(_ column: String, _ reason: String) -> ImportError {
    ImportError(message: "column '\(TextLimits.beginning(of: column))': \(reason)")
  }
}

/// The reason why an import cannot start or continue.
///
/// The message names the file and what to do. An error that concerns only a row is a `RowFault`
/// instead.
package struct ImportError: Error, CustomStringConvertible {
  /// The message.
  package let message: String
  /// An error with a message.
  package init(message: String) { self.message = message }
  package var description: String { message }
}
