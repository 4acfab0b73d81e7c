package import MoonbaseModel

/// A defect of a store.
///
/// A value that is shown as a line, or as JSON by `moonbase doctor --json`. Two findings of different runs are equal if
/// they describe the same defect.
package struct StoreFinding: Sendable, Hashable {
  /// The kind of defect. The raw value is the name in JSON.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Damage of SQLite's own structures, as SQLite reports it.
    case integrity
    /// Saved frames of the write-ahead log that SQLite does not read.
    case log
    /// A feature that the model requires and the file lacks, which makes the store read-only.
    case missing
    /// A row with an entity that does not belong to the table.
    case row
    /// A column with a value that does not fit the attribute, or with the name of a missing file.
    case value
    /// A value that breaks a rule of the model.
    case rule
    /// A relationship with a missing destination, or about which two rows disagree.
    case reference
    /// A counter that would assign a number again to new rows or history.
    case counter
    /// Destinations of an ordered relationship without a position of their own.
    case order
    /// A derived attribute whose value differs from its derivation.
    case derived
    /// An R-tree whose entries differ from the rows.
    case index
    /// A row of the history that describes no valid change.
    case history
    /// A value file that no row names, or the schema of an unfinished store.
    case orphan
  }

  /// The automatic repair of a defect.
  package enum Repair: Sendable, Hashable {
    /// None: a person has to decide.
    case none
    /// The repair by the store's own statements (`StoreRepair`).
    case file
    /// Clearing the relationship of an object, by an ordinary save.
    case nullify(ManagedObjectID, property: String)
  }

  /// The kind of defect.
  package let kind: Kind
  /// The location: an object and its table, a table and a row, or a file.
  package let place: String
  /// The object concerned; nil for other defects.
  package var object: ManagedObjectID?
  /// The description of the defect.
  package let message: String
  /// The automatic repair, if there is one.
  package var repair = Repair.none

  /// Makes a finding. A finding about a table, a row or a file.
  package init(kind: Kind, place: String, message: String, repair: Repair = .none) {
    (self.kind, self.place, self.message, self.repair) = (kind, place, message, repair)
  }

  /// A finding about an object. The place is `Person/12 (ZPERSON)`.
  package init(
    kind: Kind, of object: ManagedObjectID, in table: String? = nil, message: String, repair: Repair = .none
  ) {
    let short = "\(object.entityName)/\(object.key)"
    self.init(kind: kind, place: table.map { "\(short) (\($0))" } ?? short, message: message, repair: repair)
    self.object = object
  }

  /// The location with the URI of the object. For programs that need the whole ID.
  package var placeByURI: String {
    guard let object else { return place }
    return object.uriRepresentation + place.dropFirst("\(object.entityName)/\(object.key)".count)
  }
}
