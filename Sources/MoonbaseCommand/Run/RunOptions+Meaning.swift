import MoonbaseLua
import MoonbasePlatform

extension RunOptions {
  var limits: LuaLimits {
    LuaLimits(instructions: instructionLimit, deadline: timeLimit, memory: memoryLimit)
  }

  /// The folders of the scripts; `require` looks there.
  var scriptFolders: [URL] {
    sources.compactMap { source in
      guard case .file(let path) = source else { return nil }
      return URL(fileURLWithPath: path).deletingLastPathComponent()
    }
  }

  /// Reading below the scripts' and the current folder, writing below the current one, and what `--allow` adds.
  var access: LuaFileAccess {
    let current = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    var access = noFiles ? LuaFileAccess() : LuaFileAccess(readable: scriptFolders + [current], writable: [current])
    for grant in grants {
      switch grant {
      case .read(let path): access.readable.append(URL(fileURLWithPath: path))
      case .write(let path): access.writable.append(URL(fileURLWithPath: path))
      case .environment(let name): access.variables.insert(name)
      }
    }
    return access
  }
}
