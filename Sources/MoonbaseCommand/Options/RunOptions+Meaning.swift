import Moonbase
import MoonbasePlatform

extension RunOptions {
  /// The container of `moonbase.context`, as the command line names it.
  var container: ContainerDescription {
    get throws { try settings.scripts.limiting(settings.stores.container, settings.stores) }
  }

  /// The folders of the scripts.
  var scriptFolders: [String] {
    sources.compactMap { source in
      guard case .file(let path) = source else { return nil }
      return path.folderOfPath
    }
  }

  /// Where `require` looks: beside the scripts, in the current folder where a piece of Lua has none of its own, and in what
  /// `--allow` lets them read.
  var moduleFolders: [String] {
    let own = sources.allSatisfy { if case .file = $0 { true } else { false } } ? [] : ["."]
    return scriptFolders + (settings.scripts.noFiles ? [] : own) + settings.scripts.readableFolders
  }
}
