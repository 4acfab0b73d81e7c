import Moonbase
import MoonbaseLua
import MoonbasePlatform

/// Opens for a script only what it may read and write anyway.
struct GrantedOpener: ContainerOpener {
  let opener: StoreOpener
  let access: LuaFileAccess
  let readOnly: Bool

  func open(_ request: ContainerRequest) throws -> OpenedContainer {
    for store in request.stores { try check(store.path, writing: !(readOnly || request.isReadOnly)) }
    if case .path(let path) = request.model { try check(path, writing: false) }
    for path in request.extensions { try check(path, writing: false) }
    return try opener.open(request)
  }

  private func check(_ path: String, writing: Bool) throws {
    guard !access.allows(path, writing: writing) else { return }
    guard path.utf8.count < PATH_MAX else {
      throw ScriptError(.cannotReadFile, "\(path) cannot be opened: \(String(cString: strerror(ENAMETOOLONG)))")
    }
    if let folder = access.missingFolder(of: path, writing: writing) {
      throw ScriptError(.cannotReadFile, "\(path): there is no folder \(folder)")
    }
    let verb = writing ? "write" : "read"
    throw ScriptError(
      .invalidRequest, "the script may not \(verb) \(path): allow it with --allow \(verb)=\(path)")
  }
}
