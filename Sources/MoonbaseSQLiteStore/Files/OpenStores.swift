import MoonbaseGraph
import MoonbasePlatform

/// The files of the stores that this process has open. No further code of the process may open, move or remove them:
/// closing a descriptor drops SQLite's locks, and shrinking a log's index ends the process.
///
/// Asked by the files of scripts and by the functions that copy, move and remove stores. Entries are added when a store
/// is opened and removed in its `deinit`.
final class OpenStores: Sendable {
  /// The files of one store.
  private struct Place: Sendable {
    /// The store's file and its companion files.
    let files: [String]
    /// The folder of external values.
    let support: SupportFolder

    /// Whether a path is one of the store's files; for writing, also whether it affects the store's folders.
    func holds(_ path: String, identity: FileIdentity?, writing: Bool) -> Bool {
      if files.contains(path) || isFile(identity) { return true }
      guard writing else { return false }
      return files[0].hasPrefix(path + "/") || path == support.topPath || path.hasPrefix(support.topPath + "/")
    }

    /// Whether it is one of the files, under any name.
    func isFile(_ identity: FileIdentity?) -> Bool {
      identity != nil && files.contains { FileIdentity($0) == identity }
    }

    /// Whether it is another name of a file with a value.
    func isValue(_ identity: FileIdentity) -> Bool {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: support.path("."))) ?? []
      return names.contains { FileIdentity(support.path($0)) == identity }
    }
  }

  /// The open stores, by identity.
  private static let places = Lock<[ObjectIdentifier: Place]>([:])

  /// A namespace without instances.
  private init() {}

  /// Adds a store that was opened.
  static func add(_ store: ObjectIdentifier, file: StoreFile, support: SupportFolder) {
    let place = Place(files: ([""] + StoreFile.companions).map { file.truePath + $0 }, support: support)
    places.withLock { $0[store] = place }
  }

  /// Removes a store that was closed.
  static func remove(_ store: ObjectIdentifier) { places.withLock { $0[store] = nil } }

  /// The files of all open stores.
  private static var all: [Place] { places.withLock { Array($0.values) } }

  /// Whether a path belongs to an open store, so that other code must not use it. With `writing`, folders above the
  /// store are held too. Links and second names are recognised by identity.
  static func hold(path: String, writing: Bool) -> Bool {
    var status = stat()
    let identity = stat(path, &status) == 0 ? FileIdentity(status) : nil
    let places = all
    if places.contains(where: { $0.holds(path, identity: identity, writing: writing) }) { return true }
    guard writing, let identity, status.st_nlink > 1, FileIdentity.kind(status.st_mode) == nil else { return false }
    return places.contains { $0.isValue(identity) }
  }

  /// Whether a descriptor is of an open store's file. Used before a descriptor is closed.
  static func hold(descriptor: Int32) -> Bool {
    guard let identity = FileIdentity(descriptor: descriptor) else { return false }
    return all.contains { $0.isFile(identity) }
  }

  /// Whether a path refers to a companion file of an open store, rather than to the store.
  static func holdCompanion(_ path: String) -> Bool {
    let identity = FileIdentity(path)
    return all.contains { place in
      let others = place.files.dropFirst()
      return others.contains(path) || identity != nil && others.contains { FileIdentity($0) == identity }
    }
  }
}
