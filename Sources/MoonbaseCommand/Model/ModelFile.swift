import ArgumentParser
import Moonbase
import MoonbaseModel
import MoonbasePlatform

/// A model as the command line names it: a path of a model or a store, whose form is recognized by its contents.
enum ModelFile {
  static let forms = "a Lua model file, .xcdatamodel(d), .mom(d), or a store, whose own model is meant"
  static let help: ArgumentHelp = "The model: \(forms)."

  static func read(_ path: String) throws -> ResolvedModel {
    try ManagedObjectModel(contentsOf: URL(literalPath: path)).resolved()
  }
}
