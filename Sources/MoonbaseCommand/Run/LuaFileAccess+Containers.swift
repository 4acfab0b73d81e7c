import Moonbase
import MoonbaseLua
import MoonbasePlatform

extension LuaFileAccess {
  /// Lets a script open only what it may read and write anyway.
  func check(_ description: ContainerDescription) throws {
    for store in description.stores {
      if let path = store.path { try check(path, writing: !store.isReadOnly) }
    }
    if case .file(let url) = description.model { try check(url.relativePath, writing: false) }
    for source in description.extensions {
      if let path = source.path { try check(path, writing: false) }
    }
  }

  private func check(_ path: String, writing: Bool) throws {
    guard !allows(path, writing: writing) else { return }
    if let folder = missingFolder(of: path, writing: writing) {
      throw ScriptError(.cannotOpenFile, message: "\(path): there is no folder \(folder)")
    }
    let verb = writing ? "write" : "read"
    throw ScriptError(
      .invalidRequest, message: "the script may not \(verb) \(path): allow it with --allow \(verb)=\(path)")
  }
}
