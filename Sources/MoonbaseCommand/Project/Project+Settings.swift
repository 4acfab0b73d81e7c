import Moonbase
import MoonbasePlatform
import MoonbaseScripting

extension StoreSettings {
  /// Uses the store of `MOONBASE_STORE` if the command line names none.
  ///
  /// It has precedence over the store of a project.
  mutating func applyStoreOfEnvironment() throws(UsageError) {
    guard stores.isEmpty, let value = StoreOption.storeOfEnvironment else { return }
    try StoreOption.store.apply(value, &self)
  }

  /// Completes the settings from a project where options and environment leave them open.
  ///
  /// - Parameter project: The project, or nil if there is none.
  /// - Throws: A `UsageError` for a path outside of the project's folder.
  mutating func complete(with project: Project?) throws(UsageError) {
    guard let project else { return }
    if stores.isEmpty { stores = try project.namedStores().map(\.description) }
    if model == nil { applyConfigurations() }
    if model == nil, let path = project.model {
      model = try path.resolved()
      projectFiles.append(path)
    }
    guard extensions.isEmpty else { return }
    for entry in project.extensions {
      let path = try entry.path.resolved()
      extensions.append(path)
      projectFiles.append(entry.path)
      extensionGrants[path] = try entry.grants?.access()
      let name = URL(literalPath: path).deletingPathExtension().lastPathComponent
      if extensionLimits[name] == nil { projectLimits[path] = entry.limits }
    }
  }

  /// Gives each store that is named only by its file the configuration from the project.
  ///
  /// The path is compared with the stores of the project, also through links.
  private mutating func applyConfigurations() {
    for index in stores.indices where stores[index].configuration == nil {
      guard let path = stores[index].path else { continue }
      stores[index].configuration = NamedStore(path: path).inProject.configuration
    }
  }
}

extension CommandSettings {
  /// Uses the stores and the sandbox of a project if the command line has none.
  ///
  /// - Parameter project: The project, or nil if there is none.
  mutating func complete(with project: Project?) throws(UsageError) {
    try stores.complete(with: project)
    scripts.complete(with: project)
  }
}

extension ScriptSettings {
  /// Uses the sandbox of a project if the command line has none.
  ///
  /// - Parameter project: The project, or nil if there is none.
  mutating func complete(with project: Project?) {
    if !isSandboxGiven, let sandbox = project?.sandbox { self.sandbox = sandbox }
  }
}
