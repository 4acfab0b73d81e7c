import MoonbaseModel
import MoonbasePlatform

extension PersistentHistoryTransaction {
  /// What it counts where a history is cut to a number of bytes, the same in every store: 128 for itself, 64 for each of its changes, which is
  /// what their rows and these rows' indexes take in a file, and what is kept of deleted objects by its length.
  public var size: Int { (changes ?? []).reduce(Self.sizeOfItself) { $0 + $1.size } }

  package static let sizeOfItself = 128
}

extension PersistentHistoryChange {
  fileprivate var size: Int { tombstone.values.reduce(Self.sizeOfItself) { $0 + $1.storedSize } }

  package static let sizeOfItself = 64
}

extension Value {
  /// Its length in a column.
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
