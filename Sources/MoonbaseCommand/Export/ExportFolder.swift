import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The folder for the export of a store. It appears under its name when it is complete.
///
/// The files are written to a folder beside it, which then takes the name. An export that fails
/// leaves nothing.
struct ExportFolder {
  /// The path as given, for messages.
  private let name: String
  /// The folder that is being written.
  private let successor: StagedOutput

  /// Creates a new folder, or uses an empty one. With `replacing`, a folder that contains an export and nothing else is
  /// replaced.
  init(_ name: String, replacing: Bool) throws {
    self.name = name
    let isReplaced = try Self.holdsExport(name, mayBeReplaced: replacing)
    successor = try StagedOutput(of: name, .folder, replacing: isReplaced)
  }

  /// Starts a file in the folder.
  ///
  /// The file must be finished before `finish`.
  func file(_ fileName: String) throws -> OutputDestination {
    try OutputDestination(newFile: "\(successor.path)/\(fileName)", named: "\(name)/\(fileName)")
  }

  /// Writes a whole file.
  func write(_ bytes: [UInt8], to fileName: String) throws {
    let file = try file(fileName)
    try bytes.withUnsafeBytes { try file.write($0) }
    try file.finish()
  }

  /// Removes the files that were written so far.
  func empty() throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: successor.path) {
      unlink("\(successor.path)/\(file)")
    }
  }

  /// Gives the folder its name.
  func finish() throws { try successor.moveIntoPlace() }

  /// Throws `.interrupted` after SIGINT.
  func checkInterruption() throws {
    guard Interruption.hasCome else { return }
    throw GraphError(.interrupted, message: "interrupted: \(name) was not written")
  }

  /// Whether the folder exists and contains an export. Throws if the folder must not be replaced.
  ///
  /// Throws `UsageError` for a folder with other files, and for an export that must not be
  /// replaced.
  private static func holdsExport(_ name: String, mayBeReplaced: Bool) throws -> Bool {
    guard access(name, F_OK) == 0 else { return false }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: name) else {
      throw GraphError(.cannotOpenFile, message: "\(name) is no folder that can be read: name a new one")
    }
    if names.isEmpty { return false }
    guard mayBeReplaced else {
      throw GraphError(
        .cannotOpenFile,
        message: "\(name) is not empty: name another folder, or replace an export with --force")
    }
    let known = [StoreExport.Contents.fileName, StoreExport.Contents.modelName]
    let stranger = names.sorted().first { !known.contains($0) && !$0.hasSuffix(".ndjson") }
    guard names.contains(StoreExport.Contents.fileName), stranger == nil else {
      let what = stranger.map { "holds \($0)" } ?? "has no \(StoreExport.Contents.fileName)"
      throw GraphError(
        .cannotOpenFile,
        message: "\(name) \(what), so it is no export, and --force replaces nothing else: name another folder")
    }
    return true
  }
}
