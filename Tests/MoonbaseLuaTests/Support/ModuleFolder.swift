import MoonbaseLua
import MoonbasePlatform

/// A folder of modules for one test, deleted with the instance.
final class ModuleFolder {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("moonbase-modules-\(UUID().uuidString)")

  /// The folder in which modules are found. Files beside it belong to no module.
  var root: URL { folder.appendingPathComponent("root") }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Writes a file, whose path begins at the root.
  func write(_ text: String, _ path: String) throws {
    let file = root.appendingPathComponent(path).standardizedFileURL
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  /// Opens a state that finds these files as modules.
  func state(_ preset: LuaPreset, _ files: [String: String]) throws -> LuaState {
    for (path, text) in files { try write(text, path) }
    let state = try LuaState(preset: preset)
    state.modules.roots = [root]
    return state
  }
}
