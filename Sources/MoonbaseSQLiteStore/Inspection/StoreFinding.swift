package import MoonbaseModel

/// Something that is wrong with a store.
package struct StoreFinding: Sendable, Hashable {
  /// What kind of thing is wrong.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// What SQLite says of its own structures.
    case integrity
    /// What was saved in the write-ahead log, and SQLite does not read any more.
    case log
    /// What the model asks for and the file lacks, so that the store is only read.
    case missing
    /// A row of no entity that its table has.
    case row
    /// A column that holds what its attribute cannot be, or names a file that is not there.
    case value
    /// A value that breaks a rule of the model.
    case rule
    /// A relationship that leads to a row that is not there, or that two rows tell otherwise.
    case reference
    /// A number that new rows or history would be given twice.
    case counter
    /// Objects of an ordered relationship that have no place of their own in it.
    case order
    /// A derived attribute that is not what it is derived from.
    case derived
    /// An R-tree in which rows have other places than their values say.
    case index
    /// A row of the history that tells of no change.
    case history
    /// A file of a value that no row names.
    case orphan
  }

  /// What can be done about it without a decision.
  package enum Repair: Sendable, Hashable {
    /// Nothing: a person has to decide.
    case none
    /// The store's own statements do it.
    case file
    /// The relationship of an object is to lose its destination, by a save with all its bookkeeping.
    case nullify(ManagedObjectID, property: String)
  }

  package let kind: Kind
  /// Where it is: an object and its table, a table and a row, a file.
  package let place: String
  /// The object that it is about; nil for anything else.
  package var object: ManagedObjectID?
  package let message: String
  package var repair = Repair.none

  package init(kind: Kind, place: String, message: String, repair: Repair = .none) {
    (self.kind, self.place, self.message, self.repair) = (kind, place, message, repair)
  }

  /// A finding about an object.
  package init(
    kind: Kind, of object: ManagedObjectID, in table: String? = nil, message: String, repair: Repair = .none
  ) {
    let short = "\(object.entityName)/\(object.key)"
    self.init(kind: kind, place: table.map { "\(short) (\($0))" } ?? short, message: message, repair: repair)
    self.object = object
  }

  /// The place with the URI of the object.
  package var placeByURI: String {
    guard let object else { return place }
    return object.uriRepresentation + place.dropFirst("\(object.entityName)/\(object.key)".count)
  }
}
