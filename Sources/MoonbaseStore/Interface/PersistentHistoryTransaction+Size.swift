import MoonbaseModel
import MoonbasePlatform

extension PersistentHistoryTransaction {
  /// The size for limits on the bytes of a history, equal in every store: 128 for the transaction and 64 for each
  /// change, as their rows and index entries take in a file, plus the length of the preserved values of deleted
  /// objects.
  public var size: Int { (changes ?? []).reduce(Self.sizeOfItself) { $0 + $1.size } }

  /// The size of a transaction without its changes.
  package static let sizeOfItself = 128
}

extension PersistentHistoryChange {
  fileprivate var size: Int { tombstone.values.reduce(Self.sizeOfItself) { $0 + $1.storedSize } }

  /// The size of a change without preserved values.
  package static let sizeOfItself = 64
}

extension Value {
  /// The length of the value in a column.
  fileprivate var storedSize: Int {
    switch self {
    case .null: 0
    case .string(let text): text.utf8.count
    case .data(let data): data.count
    case .uuid: 16
    case .uri(let uri): uri.absoluteString.utf8.count
    case .bool, .int, .double, .decimal, .date, .objectID, .list, .map, .object: 8
    }
  }
}
