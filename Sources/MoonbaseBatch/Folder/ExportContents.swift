import MoonbaseModel
import MoonbasePlatform

/// The contents of `export.json`, which describes a folder with an export of a whole store.
///
/// `moonbase export --all` writes the description last, and `ExportedFolder` reads and checks it.
/// The file of an entity has a JSON object on each line; the model is a Lua file beside it.
package struct ExportContents: Codable {
  /// The rows of an entity.
  package struct Entity: Codable {
    /// The name of the file.
    package var file: String
    /// The number of rows.
    package var count: Int

    /// A file with this number of rows.
    package init(file: String, count: Int) { (self.file, self.count) = (file, count) }
  }

  /// The name of the description's file.
  package static let fileName = "export.json"
  /// The name of the model's file.
  package static let modelName = "model.lua"
  /// The identification of the format.
  package static let format = "moonbase-export"

  /// The identification of the format, `moonbase-export`.
  package var format = Self.format
  /// The version of the format.
  package var version = 1
  /// The UUID of the store.
  package var store: String
  /// The name of the model's file.
  package var model = Self.modelName
  /// The entities with rows, by name.
  package var entities: [String: Entity] = [:]

  /// A description without entities.
  package init(store: String) { self.store = store }

  /// The names of all files.
  var files: [String] { [model] + entities.sorted { $0.key < $1.key }.map(\.value.file) }

  /// Throws if a file is named twice or is outside of the folder, so that a foreign description cannot make other files
  /// of the machine be read.
  ///
  /// Throws `ImportError`. Only ordinary files directly in the folder are accepted, no links.
  func requireFiles(in folder: String) throws {
    var named: Set<String> = []
    for file in files {
      guard named.insert(file).inserted else { throw Self.foreignFile(file, folder, "for two things at once") }
      guard !file.isEmpty, !file.contains("/"), !file.contains("\0"), file != ".", file != ".." else {
        throw Self.foreignFile(file, folder, "the files of an export are in its folder, and have no '/' in their names")
      }
      var status = stat()
      guard lstat("\(folder)/\(file)", &status) == 0 else {
        throw Self.foreignFile(file, folder, "\(String(cString: strerror(errno))): the folder is not whole")
      }
      guard let kind = FileIdentity.kind(status.st_mode) else { continue }
      throw Self.foreignFile(
        file, folder, "it is a \(kind), and the files of an export are ordinary ones: copy what is meant")
    }
  }

  /// Throws if the folder has an unnamed file of rows, whose objects would be silently omitted.
  ///
  /// Throws `ImportError` that names the first such file.
  func requireNoOthers(in folder: String) throws {
    let known = Set(files)
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let others = found.filter { name in
      var status = stat()
      return name.hasSuffix(".ndjson") && !known.contains(name) && lstat("\(folder)/\(name)", &status) == 0
        && FileIdentity.kind(status.st_mode) == nil
    }
    guard let other = others.min() else { return }
    throw ImportError(
      message:
        "\(folder)/\(Self.fileName) does not name the file '\(TextLimits.beginning(of: other))', whose objects would be "
        + "left out: name it among the entities with the count of its lines, or take it out of the folder")
  }

  /// The error about a named file.
  private static func foreignFile(_ file: String, _ folder: String, _ reason: String) -> ImportError {
    ImportError(message: "\(folder)/\(fileName) names the file '\(TextLimits.beginning(of: file))': \(reason)")
  }
}
