import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The files that tell an editor and a linter about Moonbase. They contain definitions of the API and of a model, and
/// settings that refer to the definitions.
enum EditorFiles {
  /// The folder of definitions within the folder of the project.
  static let folder = ".moonbase/types"

  /// The settings of the Lua language server.
  static let languageServer = """
    {
      "$schema": "https://raw.githubusercontent.com/LuaLS/vscode-lua/master/setting/schema.json",
      "runtime.version": "Lua 5.4",
      "workspace.library": ["\(folder)"],
      "workspace.checkThirdParty": false,
      "diagnostics.globals": ["moonbase"]
    }

    """

  /// The settings of luacheck.
  static let linter = """
    std = "lua54"
    globals = { "moonbase" }
    exclude_files = { ".moonbase" }

    """

  /// Writes all files into a folder. Definitions are replaced, and settings are only written if they do not exist.
  /// Returns messages about the required changes to existing settings.
  ///
  /// - Parameters:
  ///   - model: The definitions of the model.
  ///   - folder: The folder of the project.
  /// - Returns: The messages, each of which names a file and the missing setting.
  /// - Throws: `.cannotOpenFile` if a file cannot be written.
  static func write(model: String, into folder: String) throws -> [String] {
    let types = "\(folder)/\(Self.folder)"
    do {
      try FileManager.default.createDirectory(atPath: types, withIntermediateDirectories: true)
    } catch {
      throw GraphError(
        .cannotOpenFile,
        message: "\(types) cannot be made a folder: a file or a link is in its way, or it may not be written")
    }
    for name in LuaFiles.names where name.hasPrefix("types/") {
      try write(LuaFiles.bytes(name) ?? [], to: "\(types)/\(name.dropFirst("types/".count))")
    }
    try write(Array(model.utf8), to: "\(types)/of_model.lua")
    return try [
      (".luarc.json", languageServer, [("\"\(Self.folder)\"", "its workspace.library needs \"\(Self.folder)\"")]),
      (
        ".luacheckrc", linter,
        [
          ("\"moonbase\"", "its globals need \"moonbase\""),
          (".moonbase", "its exclude_files need \".moonbase\", where the definitions are"),
        ]
      ),
    ].compactMap { name, text, needs in
      let path = "\(folder)/\(name)"
      guard let known = FileManager.default.contents(atPath: path) else {
        try write(Array(text.utf8), to: path)
        return nil
      }
      let settings = String(decoding: known, as: UTF8.self).replacingOccurrences(of: "'", with: "\"")
      let lacks = needs.filter { !settings.contains($0.0) }.map(\.1)
      return lacks.isEmpty ? nil : "\(path) stays as it is: \(lacks.joined(separator: "; "))"
    }
  }

  /// Replaces a file in one step.
  private static func write(_ bytes: [UInt8], to path: String) throws {
    do {
      try Data(bytes).write(to: URL(literalPath: path), options: .atomic)
    } catch {
      throw GraphError(.cannotOpenFile, message: "\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
