import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The folder for the output files of a command.
enum OutputFolder {
  /// Creates a folder and its parent folders if they do not exist.
  static func make(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw GraphError(.cannotOpenFile, message: "\(path) cannot be made a folder: \(error.localizedDescription)")
    }
  }

  /// Whether something exists at a path, including a broken link.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}
