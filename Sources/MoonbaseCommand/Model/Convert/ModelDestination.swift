import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// The file or folder for a model. It appears under its name when it is complete.
///
/// A form such as `.xcdatamodeld` is a folder with several files. The folder is first written
/// beside the destination by a `StagedOutput`.
struct ModelDestination {
  /// The path as given.
  private let name: String
  /// The form, which says what a replaced folder may contain.
  private let form: ModelForm
  /// Whether an existing model is replaced.
  private let replacing: Bool

  /// Creates the destination. Nothing is checked or written yet.
  ///
  /// - Parameters:
  ///   - name: The path as given.
  ///   - form: The form of the model.
  ///   - replacing: Whether `--force` is given.
  init(_ name: String, form: ModelForm, replacing: Bool) {
    (self.name, self.form, self.replacing) = (name, form, replacing)
  }

  /// Writes a file or a folder with all its contents.
  ///
  /// - Throws: `.cannotOpenFile` if something exists that must not be replaced.
  func write(_ piece: WrittenModel.Piece) throws {
    switch piece {
    case .file(let bytes):
      let file = try OutputDestination(file: name, replacing: replacing)
      try bytes.withUnsafeBytes { try file.write($0) }
      try file.finish()
    case .folder(let parts):
      let folder = try StagedOutput(of: name, .folder, replacing: try isReplaced())
      for (name, part) in parts { try Self.write(part, to: name, in: folder.path, named: self.name) }
      try folder.moveIntoPlace()
    }
  }

  /// Writes a part of a folder. Folders are written recursively.
  ///
  /// - Parameters:
  ///   - piece: The file or folder.
  ///   - name: Its name.
  ///   - folder: The path of the folder that is being written.
  ///   - parent: The final path of the folder, for messages.
  private static func write(
    _ piece: WrittenModel.Piece, to name: String, in folder: String, named parent: String
  ) throws {
    switch piece {
    case .file(let bytes):
      let file = try OutputDestination(newFile: "\(folder)/\(name)", named: "\(parent)/\(name)")
      try bytes.withUnsafeBytes { try file.write($0) }
      try file.finish()
    case .folder(let parts):
      guard mkdir("\(folder)/\(name)", 0o777) == 0 else {
        throw GraphError(
          .cannotOpenFile, message: "\(parent)/\(name) cannot be made: \(String(cString: strerror(errno)))")
      }
      for (part, piece) in parts { try write(piece, to: part, in: "\(folder)/\(name)", named: "\(parent)/\(name)") }
    }
  }

  /// Whether the destination is a folder with a model that may be replaced. Throws if it contains something that must
  /// not be replaced.
  ///
  /// An empty folder may always be filled.
  private func isReplaced() throws -> Bool {
    guard access(name, F_OK) == 0 else { return false }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: name) else {
      throw GraphError(.cannotOpenFile, message: "\(name) is no folder that can be read: name a new one")
    }
    if names.isEmpty { return false }
    guard replacing else {
      throw GraphError(
        .cannotOpenFile, message: "\(name) is there already: name another folder, or replace it with --force")
    }
    if let stranger = names.sorted().first(where: { !form.hasPart($0) }) {
      throw GraphError(
        .cannotOpenFile,
        message: "\(name) holds \(stranger), which is no part of an .\(form.rawValue), and --force replaces nothing "
          + "else: name another folder")
    }
    return true
  }
}
