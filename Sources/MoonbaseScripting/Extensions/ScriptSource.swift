import MoonbaseModel
public import MoonbasePlatform

/// The text of a script with its name.
public struct ScriptSource: Sendable, Hashable {
  /// The name in messages: the path as it was given.
  public let name: String
  /// The text.
  public let text: String
  /// The folder that `require` looks in first.
  public let folder: URL?

  /// Takes a text.
  public init(name: String, text: String, folder: URL? = nil) {
    self.name = name
    self.text = text
    self.folder = folder
  }

  /// Reads a file. Throws `ScriptError` with `.cannotReadFile` where it is not there, a folder, or no UTF-8 text.
  public init(contentsOf url: URL) throws(ScriptError) {
    name = url.relativePath
    folder = url.deletingLastPathComponent()
    let url = URL(fileURLWithPath: url.pathAsGiven)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw ScriptError(.cannotReadFile, "\(name): there is no such file")
    }
    if isFolder.boolValue { throw ScriptError(.cannotReadFile, "\(name) is a folder; a script file is expected") }
    let data: Data
    do {
      // Not by the size that the file system tells: a pipe has none.
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      data = try handle.readToEnd() ?? Data()
    } catch {
      throw ScriptError(.cannotReadFile, "\(name) cannot be read: \(error.localizedDescription)")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ScriptError(.cannotReadFile, "\(name) is no UTF-8 text: a Lua source file is expected")
    }
    self.text = text
  }
}
