import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Loads extension files against a model, and collects the errors of all of them.
///
/// The extensions are loaded as a container loads them, into a store in memory. Loading stops at
/// the first file that does not run, so the check loads repeatedly.
struct ExtensionFilesCheck {
  /// The model to check against.
  private let model: ManagedObjectModel
  /// The container's description, without model and stores.
  private let description: ContainerDescription
  /// The paths of the files.
  private let paths: [String]
  /// Extensions that the project names.
  private let named: [ProjectPath]

  /// A check of these files.
  init(_ model: ManagedObjectModel, _ description: ContainerDescription, _ paths: [String], named: [ProjectPath]) {
    (self.model, self.description, self.paths, self.named) = (model, description, paths, named)
  }

  /// The findings. A file that does not run hides all other findings, so the other files are loaded once more without
  /// it. A dependency that is missing in this second load is no finding.
  func run() throws -> [ScriptError] {
    var findings = absences()
    var rest = paths.filter { path in !findings.contains { $0.location?.file == path } }
    findings = findings.map(withPlaceInProject)
    while !rest.isEmpty, let found = try load(rest) {
      let isFirst = rest.count == paths.count
      findings += found.filter { isFirst || $0.code != .extensionConflict }
      guard found.count == 1, let file = found[0].location?.file, rest.count > 1, rest.contains(file) else { break }
      rest.removeAll { $0 == file }
    }
    return findings
  }

  /// An error for each file that does not exist.
  private func absences() -> [ScriptError] {
    paths.filter { access($0, F_OK) != 0 && errno == ENOENT }.map {
      ScriptError(.cannotOpenFile, message: "there is no such file", at: SourceLocation(file: $0))
    }
  }

  /// The error with the line of the project file that names the extension file, if there is such a line.
  private func withPlaceInProject(_ error: ScriptError) -> ScriptError {
    guard let path = named.first(where: { (try? $0.resolved()) == error.location?.file }) else { return error }
    do {
      try path.require()
      return error
    } catch {
      return ScriptError(.cannotOpenFile, message: "\((error as? GraphError)?.message ?? "\(error)")")
    }
  }

  /// The findings of files that are loaded together, or nil if there are none.
  private func load(_ paths: [String]) throws -> [ScriptError]? {
    var description = description
    (description.model, description.stores) = (.value(model), [.inMemory])
    description.extensions = paths.map { path in
      let known = description.extensions.first { $0.path == path }
      return known ?? .path(path)
    }
    do {
      let container = try PersistentContainer(description)
      // Creating a context also creates the Lua states of the extensions.
      _ = try container.context(in: nil)
      return nil
    } catch let error as ScriptError where !error.code.endsRun {
      return error.all
    } catch let error as ModelError {
      return error.all.map {
        ScriptError($0.code, message: $0.message, at: $0.location, entity: $0.entity, property: $0.property)
      }
    }
  }
}
