import MoonbaseModel
import MoonbasePlatform

/// A model as the command line names it: by a path, whose form is recognized by its contents.
enum ModelFile {
  static func read(_ path: String) throws -> ResolvedModel {
    try ManagedObjectModel.read(ModelSource(contentsOf: URL(fileURLWithPath: path))).resolved()
  }
}
