extension SQLiteStore {
  /// Whether a path without links leads to a file of a store that this process has open, or to something that moves one with it.
  ///
  /// Such a file may be read through the store only; to open and close it elsewhere in the process drops SQLite's locks on it.
  /// Values in the store's support folder may be read.
  public static func isFileOfOpenStore(atPath path: String, writing: Bool) -> Bool {
    OpenStores.hold(path: path, writing: writing)
  }

  /// Whether a descriptor is one of a file of a store that this process has open.
  public static func isFileOfOpenStore(descriptor: Int32) -> Bool { OpenStores.hold(descriptor: descriptor) }
}
