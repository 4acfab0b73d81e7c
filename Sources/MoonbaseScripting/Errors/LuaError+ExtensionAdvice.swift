import MoonbaseLua
import MoonbasePlatform

/// The advice is appended to errors of extension files, for example to `attempt to index a nil value (global 'io')`.
extension LuaError {
  /// The advice for a name that scripts have and extensions lack in any preset; nil for other errors.
  package var adviceForExtension: String? {
    // Lua's own messages are short, so a prefix suffices.
    let message = String(decoding: message.utf8.prefix(1024), as: UTF8.self)
    guard let match = message.firstMatch(of: /a nil value \((?:field|global) '(\w+)'\)/) else { return nil }
    let name = String(match.1)
    if let name = Self.doorsOfFiles[name] {
      return
        "extensions have no \(name), whatever --sandbox says: they have no files, processes and stores of their own; "
        + "the script that saves may have them, and the program grants files by name (grants)"
    }
    return Self.doorsOfScripts[name]
  }

  /// Names that give access to files, processes or stores, with their full spelling. No preset offers them to
  /// extensions.
  private static let doorsOfFiles = [
    "io": "io", "remove": "os.remove", "rename": "os.rename", "tmpname": "os.tmpname", "getenv": "os.getenv",
    "exit": "os.exit", "execute": "os.execute", "open": "moonbase.open", "dofile": "dofile", "loadfile": "loadfile",
  ]

  /// Names of `moonbase` that only scripts have, with the whole advice.
  private static let doorsOfScripts = [
    "context":
      "extensions have no context while they are loaded: hooks, rules and getters get their object, and object:context() is its context",
    "background": "extensions have no moonbase.background: the script that uses them starts jobs",
    "parallel": "extensions have no moonbase.parallel: the script that uses them starts jobs",
    "reload": "extensions have no moonbase.reload while they are loaded: the script or the program reloads them",
  ]
}
