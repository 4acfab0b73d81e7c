import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting

/// Loads extension files against a model, and gathers what is wrong with all of them.
struct ExtensionFilesCheck {
  private let model: ManagedObjectModel
  private let description: ContainerDescription
  private let paths: [String]

  init(_ model: ManagedObjectModel, _ description: ContainerDescription, _ paths: [String]) {
    (self.model, self.description, self.paths) = (model, description, paths)
  }

  /// The findings. A file that does not run hides all other findings, so the other files are loaded once more without
  /// it. A dependency that is missing in this second load is no finding.
  func run() throws -> [ScriptError] {
    var rest = paths
    var findings: [ScriptError] = []
    while let found = try load(rest) {
      let isFirst = rest.count == paths.count
      findings += found.filter { isFirst || $0.code != .extensionConflict }
      guard found.count == 1, let file = found[0].location?.file, rest.count > 1, rest.contains(file) else { break }
      rest.removeAll { $0 == file }
    }
    return findings
  }

  /// The findings of files that are loaded together; nil where there are none.
  private func load(_ paths: [String]) throws -> [ScriptError]? {
    var description = description
    (description.model, description.stores) = (.value(model), [.inMemory])
    description.extensions = paths.map { path in
      let known = description.extensions.first { $0.path == path }
      return known ?? .path(path)
    }
    do {
      let container = try PersistentContainer(description)
      // Domains are made as contexts are.
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
