import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The objects in a folder, for detecting references to missing objects.
struct FolderKeys {
  private var sets: [EntityIndex: KeySet] = [:]

  init() {}

  /// Reads all lines. Throws if two lines have the same object, if lines are missing, and if the sides of a
  /// relationship contradict each other.
  init(_ folder: ExportedFolder, _ entities: [ResolvedEntity], of model: ResolvedModel) throws {
    var pairs = FolderPairs(folder, entities, of: model)
    for entity in entities {
      let reader = try folder.reader(of: entity)
      let path = folder.path(of: entity)
      var count = 0
      var known = sets.removeValue(forKey: entity.root) ?? KeySet()
      while try folder.next(reader, of: entity) {
        guard let id = reader.id, let key = ExportedFolder.key(id) else {
          throw ImportError(
            message: "\(path), line \(reader.line): it has no _id, as x-coredata://STORE/\(entity.name)/p1")
        }
        guard key <= KeyReservation.greatestKey else {
          throw ImportError(
            message:
              "\(path), line \(reader.line): the key of \(id) leaves none for the objects that come after it: give the object a smaller one, here and in all lines that lead to it"
          )
        }
        guard known.insert(key) else {
          throw ImportError(message: "\(path), line \(reader.line): there are two objects of the _id \(id)")
        }
        pairs.count(reader, of: entity, key)
        count += 1
      }
      sets[entity.root] = known
      let wanted = folder.contents.entities[entity.name]?.count ?? 0
      guard count == wanted else {
        throw ImportError(
          message: "\(path) has \(count) objects, and \(ExportContents.fileName) says \(wanted): the file is not whole")
      }
    }
    try pairs.check(against: self)
  }

  func contains(_ key: Int64, of root: EntityIndex) -> Bool { sets[root]?.contains(key) == true }

  /// The greatest key of each root entity with rows.
  var greatest: [(root: EntityIndex, key: Int64)] {
    sets.sorted { $0.key < $1.key }.filter { $0.value.greatest > 0 }.map { ($0.key, $0.value.greatest) }
  }
}

/// A set of keys, most of which are small.
private struct KeySet {
  private var dense: [UInt64] = []
  private var others: Set<Int64> = []
  private(set) var greatest: Int64 = 0

  /// Returns false if the key was present.
  mutating func insert(_ key: Int64) -> Bool {
    greatest = max(greatest, key)
    // Sixty-four million keys fit in eight megabytes.
    guard key < 1 << 26 else { return others.insert(key).inserted }
    let (word, bit) = (Int(key >> 6), UInt64(1) << UInt64(key & 63))
    while dense.count <= word { dense.append(contentsOf: repeatElement(0, count: max(1024, dense.count))) }
    guard dense[word] & bit == 0 else { return false }
    dense[word] |= bit
    return true
  }

  func contains(_ key: Int64) -> Bool {
    guard key < 1 << 26 else { return others.contains(key) }
    let word = Int(key >> 6)
    return word < dense.count && dense[word] & 1 << UInt64(key & 63) != 0
  }
}
