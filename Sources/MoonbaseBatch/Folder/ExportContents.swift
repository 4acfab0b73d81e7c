import MoonbaseModel
import MoonbasePlatform

/// What `export.json` says of a folder that holds all of a store.
package struct ExportContents: Codable {
  package struct Entity: Codable {
    package var file: String
    package var count: Int

    package init(file: String, count: Int) { (self.file, self.count) = (file, count) }
  }

  package static let fileName = "export.json"
  package static let modelName = "model.lua"
  package static let format = "moonbase-export"

  package var format = Self.format
  package var version = 1
  /// The UUID of the store.
  package var store: String
  package var model = Self.modelName
  /// By name, those that have rows.
  package var entities: [String: Entity] = [:]

  package init(store: String) { self.store = store }

  /// The files that it names.
  var files: [String] { [model] + entities.sorted { $0.key < $1.key }.map(\.value.file) }

  /// Throws where it names a file twice, or one that is not in its folder: whoever wrote it does not say what else of this machine is read.
  func requireFiles(in folder: String) throws {
    var named: Set<String> = []
    for file in files {
      guard named.insert(file).inserted else { throw Self.stranger(file, folder, "for two things at once") }
      guard !file.isEmpty, !file.contains("/"), !file.contains("\0"), file != ".", file != ".." else {
        throw Self.stranger(file, folder, "the files of an export are in its folder, and have no '/' in their names")
      }
      var status = stat()
      guard lstat("\(folder)/\(file)", &status) == 0 else {
        throw Self.stranger(file, folder, "\(String(cString: strerror(errno))): the folder is not whole")
      }
      guard let kind = FileIdentity.kind(status.st_mode) else { continue }
      throw Self.stranger(
        file, folder, "it is a \(kind), and the files of an export are ordinary ones: copy what is meant")
    }
  }

  /// Throws where a file of rows is not named: its objects would be left out in silence.
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

  private static func stranger(_ file: String, _ folder: String, _ reason: String) -> ImportError {
    ImportError(message: "\(folder)/\(fileName) names the file '\(TextLimits.beginning(of: file))': \(reason)")
  }
}
