import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The options of commands that check extensions against a model and read no objects.
///
/// Without options, the model and the extensions of the project are used.
struct TargetOptionGroup: ParsableArguments {
  @Option(
    name: StoreOption.model.parserName,
    help: ArgumentHelp("The model (default: that of the store, or of the project).", valueName: "PATH"),
    completion: .file())
  var model: String?

  @Option(
    name: StoreOption.store.parserName,
    help: ArgumentHelp("A store, for the model that it keeps; its objects are not looked at.", valueName: "PATH"),
    completion: .file())
  var store: [String] = []

  @OptionGroup var project: ProjectOptionGroup

  /// Refuses several stores, because a model comes from one.
  func validate() throws {
    if store.count > 1 { throw ValidationError(StoreArgument.several(store)) }
  }

  /// The model and the extensions that the options name, or the project.
  ///
  /// `extensions` are the paths on the command line; without any, those of the project.
  func settings(extensions: [String]) throws(UsageError) -> StoreSettings {
    var settings = StoreSettings(model: model, extensions: extensions)
    for value in store { try StoreOption.store.apply(value, &settings) }
    let project = try Project.current()
    if model == nil, !store.isEmpty {
      // Use the model of the named store, and not the model of the project.
      var others = StoreSettings(extensions: extensions)
      try others.complete(with: project)
      (settings.extensions, settings.extensionGrants) = (others.extensions, others.extensionGrants)
      settings.projectLimits = others.projectLimits
      settings.projectFiles = others.projectFiles.filter { $0.key == "extensions" }
    } else {
      try settings.complete(with: project)
    }
    guard settings.model != nil || !settings.stores.isEmpty else {
      throw UsageError(
        "there is no model: name one with --model PATH or --store PATH, or in a project file, \(Project.fileName)")
    }
    return settings
  }
}
