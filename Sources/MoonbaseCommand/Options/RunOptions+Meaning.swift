import Moonbase
import MoonbasePlatform

extension RunOptions {
  /// The container for `moonbase.context`, as the command line describes it.
  ///
  /// - Throws: The error for a file of the project that does not exist.
  var container: ContainerDescription {
    get throws { try settings.scripts.limiting(settings.stores.container, settings.stores) }
  }

  /// The folders of the scripts.
  ///
  /// A script from standard input has no folder.
  var scriptFolders: [String] {
    sources.compactMap { source in
      guard case .file(let path) = source else { return nil }
      return path.folderOfPath
    }
  }

  /// The folders in which `require` searches. These are the folders of the scripts, the current folder for code on the
  /// command line, which has no folder, and the folders that `--allow` lets scripts read.
  var moduleFolders: [String] {
    let own = sources.allSatisfy { if case .file = $0 { true } else { false } } ? [] : ["."]
    return scriptFolders + (settings.scripts.noFiles ? [] : own) + settings.scripts.readableFolders
  }
}
