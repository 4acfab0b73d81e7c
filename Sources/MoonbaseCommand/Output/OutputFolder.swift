import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The folder for the output files of a command.
///
/// `moonbase init`, `moonbase model swift` and others use it.
enum OutputFolder {
  /// Creates a folder and its parent folders if they do not exist.
  ///
  /// - Parameter path: The path of the folder.
  /// - Throws: `.cannotOpenFile` with the reason.
  static func make(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw GraphError(.cannotOpenFile, message: "\(path) cannot be made a folder: \(error.localizedDescription)")
    }
  }

  /// Whether something exists at a path, including a broken link.
  ///
  /// Broken links count, because writing to them would create a file elsewhere.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}
