import MoonbasePlatform

/// A store identifier interned in the process, so that object IDs need no reference. Zero means no store.
@usableFromInline
package struct StoreNumber: Hashable, Sendable {
  /// The number, from 1; 0 means no store.
  @usableFromInline package let rawValue: UInt32

  /// The numbers and identifiers of the process.
  private struct Table {
    /// The numbers by identifier.
    var numbers: [ExactText: UInt32] = [:]
    /// The identifiers by number.
    var identifiers: [String] = [""]
  }

  /// The table of the process. It never shrinks, because IDs refer to it.
  private static let table = Lock(Table())

  /// A store number with this raw value.
  @inlinable
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Interns an identifier (a store's UUID in upper case).
  package init(_ identifier: String) {
    rawValue = Self.table.withLock { table in
      if let known = table.numbers[ExactText(identifier)] { return known }
      let new = UInt32(table.identifiers.count)
      table.identifiers.append(identifier)
      table.numbers[ExactText(identifier)] = new
      return new
    }
  }

  /// The identifier.
  package var identifier: String {
    let number = Int(rawValue)
    return Self.table.withLock { $0.identifiers[number] }
  }

  /// The number of an identifier that is already interned; nil for others.
  package static func known(_ identifier: String) -> StoreNumber? {
    table.withLock { $0.numbers[ExactText(identifier)] }.map(StoreNumber.init(rawValue:))
  }
}
