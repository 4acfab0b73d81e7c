import Moonbase
import MoonbaseLua
import MoonbasePlatform

extension RunOptions {
  /// What the command line names, for `moonbase.context`.
  var container: ContainerDescription { limiting(store.container) }

  /// The description with the limits of the run, and with what holds for all of its stores.
  func limiting(_ description: ContainerDescription) -> ContainerDescription {
    var description = store.applied(to: description)
    description.limits = limits
    return description
  }

  var limits: LuaLimits {
    var limits = sandbox == .trusted ? LuaLimits.none : LuaLimits()
    limits.instructions = instructionLimit
    limits.deadline = timeLimit
    limits.memory = memoryLimit
    if let sourceLimit { limits.sourceSize = sourceLimit }
    return limits
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
    return scriptFolders + (noFiles ? [] : own)
      + grants.compactMap { if case .read(let path) = $0 { path } else { nil } }
  }

  /// Reading below the scripts' and the current folder, writing below the current one, and what `--allow` adds.
  var access: LuaFileAccess {
    let current = FileManager.default.currentDirectoryPath
    var access =
      noFiles
      ? LuaFileAccess() : LuaFileAccess(readablePaths: scriptFolders + [current], writablePaths: [current])
    for grant in grants {
      switch grant {
      case .read(let path): access.readablePaths.append(path)
      case .write(let path): access.writablePaths.append(path)
      case .environment(let name): access.variables.insert(name)
      }
    }
    return access
  }
}
