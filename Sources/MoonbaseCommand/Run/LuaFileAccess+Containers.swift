import Moonbase
import MoonbaseLua
import MoonbasePlatform

extension LuaFileAccess {
  /// The description of stores that a script opens, with paths without links. Throws if the script may not access their
  /// files.
  ///
  /// - Parameter description: The description that the script gives.
  /// - Throws: `.cannotOpenFile` with the permission that is missing.
  func granted(_ description: ContainerDescription) throws -> ContainerDescription {
    var description = description
    for index in description.stores.indices {
      guard let path = description.stores[index].path else { continue }
      let place = try grantedPlace(path, writing: !description.stores[index].isReadOnly)
      if place != path { description.stores[index].url = URL(literalPath: place) }
    }
    if case .file(let url) = description.model {
      let place = try grantedPlace(url.relativePath, writing: false)
      if place != url.relativePath { description.model = .file(URL(literalPath: place)) }
    }
    description.extensions = try description.extensions.map { source in
      try source.path.map { .path(try grantedPlace($0, writing: false)) } ?? source
    }
    return description
  }

  /// The path without links if the script may access it.
  ///
  /// - Parameters:
  ///   - path: The path of a file.
  ///   - writing: Whether the file is opened for writing.
  private func grantedPlace(_ path: String, writing: Bool) throws -> String {
    if let place = place(path, writing: writing) { return place }
    if let folder = missingFolder(of: path, writing: writing) {
      throw ScriptError(.cannotOpenFile, message: "\(path): there is no folder \(folder)")
    }
    let verb = writing ? "write" : "read"
    throw ScriptError(
      .invalidRequest, message: "the script may not \(verb) \(path): allow it with --allow \(verb)=\(path)")
  }
}
