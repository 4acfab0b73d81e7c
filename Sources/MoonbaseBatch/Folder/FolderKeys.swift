import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The objects in a folder, for detecting references to missing objects.
///
/// The keys are grouped by root entity, because entities of one hierarchy share their keys in a
/// store. The set is complete before the first row is imported.
struct FolderKeys {
  /// The keys of each root entity.
  private var sets: [EntityIndex: KeySet] = [:]

  /// A set without objects.
  init() {}

  /// Reads all lines. Throws if two lines have the same object, if lines are missing, and if the sides of a
  /// relationship contradict each other.
  ///
  /// Throws `ImportError` with the file and the line. Keys above `KeyReservation.greatestKey` are
  /// refused too.
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

  /// Whether the folder has an object with a key, below a root entity.
  func contains(_ key: Int64, of root: EntityIndex) -> Bool { sets[root]?.contains(key) == true }

  /// The greatest key of each root entity with rows.
  var greatest: [(root: EntityIndex, key: Int64)] {
    sets.sorted { $0.key < $1.key }.filter { $0.value.greatest > 0 }.map { ($0.key, $0.value.greatest) }
  }
}

/// A set of keys, most of which are small.
///
/// Small keys are bits in an array, which takes one bit for each key. Greater keys are in a hash
/// set.
private struct KeySet {
  /// The bits of the keys below 2^26.
  private var dense: [UInt64] = []
  /// The keys from 2^26 on.
  private var others: Set<Int64> = []
  /// The greatest key; 0 for an empty set.
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

  /// Whether the set has a key.
  func contains(_ key: Int64) -> Bool {
    guard key < 1 << 26 else { return others.contains(key) }
    let word = Int(key >> 6)
    return word < dense.count && dense[word] & 1 << UInt64(key & 63) != 0
  }
}
