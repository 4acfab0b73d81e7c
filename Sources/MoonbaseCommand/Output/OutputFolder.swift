import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The folder that a command writes files into.
enum OutputFolder {
  /// Makes a folder and those above it, as far as they are not there.
  static func make(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw GraphError(.cannotOpenFile, message: "\(path) cannot be made a folder: \(error.localizedDescription)")
    }
  }

  /// Whether a name is taken, if only by a link that leads nowhere.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}
