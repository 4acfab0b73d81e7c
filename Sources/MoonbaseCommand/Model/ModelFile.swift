import Moonbase
import MoonbaseModel
import MoonbasePlatform

/// A model as the command line names it: a path of a model or a store, whose form is recognized by its contents.
enum ModelFile {
  static func read(_ path: String) throws -> ResolvedModel {
    try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path)).resolved()
  }
}
