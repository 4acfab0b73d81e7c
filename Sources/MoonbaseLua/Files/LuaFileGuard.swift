/// Says which files scripts must leave alone, whatever they are granted, because the program uses them in a way of its own: files of
/// databases, for example, whose locks go when anybody in the process closes a descriptor of them.
public protocol LuaFileGuard: Sendable {
  /// Whether a file, given by its path without links, must not be used so. It need not be there.
  func refuses(path: String, writing: Bool) -> Bool
  /// Whether the file behind a descriptor, which a script has had for longer, must be neither written nor closed.
  func refuses(descriptor: Int32) -> Bool
}
