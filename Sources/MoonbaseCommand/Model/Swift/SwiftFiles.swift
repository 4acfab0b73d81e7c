import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// The folder of a model's classes.
struct SwiftFiles {
  let folder: String

  /// Writes files that are written anew, and of the others those that are not there. Nothing is written where a file
  /// stands in the way that nobody wrote with this command.
  func write(_ files: [SwiftModel.File]) throws {
    try OutputFolder.make(folder)
    let written = files.filter { $0.isWrittenAnew || !isThere($0) }
    for file in written where file.isWrittenAnew { try check(file) }
    for file in written {
      let destination = try OutputDestination(file: "\(folder)/\(file.name)", replacing: file.isWrittenAnew)
      try Data(file.text.utf8).withUnsafeBytes { try destination.write($0) }
      try destination.finish()
    }
  }

  private func isThere(_ file: SwiftModel.File) -> Bool { OutputFolder.isTaken("\(folder)/\(file.name)") }

  private func check(_ file: SwiftModel.File) throws {
    let path = "\(folder)/\(file.name)"
    guard isThere(file), FileManager.default.contents(atPath: path)?.starts(with: SwiftModel.mark.utf8) != true else {
      return
    }
    throw GraphError(
      .cannotOpenFile,
      message: "\(path) is there and was not written by this command: move it, or name another folder")
  }
}
