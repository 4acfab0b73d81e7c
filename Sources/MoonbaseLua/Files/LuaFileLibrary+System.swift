import MoonbasePlatform

/// The functions outside of `io` that need grants.
extension LuaFileLibrary {
  /// Creates `os`: the state's functions, and functions for granted files and variables. Removing and renaming need a
  /// grant for writing.
  func os(like standard: LuaValue) throws(LuaError) -> LuaTable {
    let table = try state.table()
    if case .table(let known) = standard {
      for name in ["clock", "date", "difftime", "time", "exit"] {
        try table.set(name, to: try known.index(.text(name)))
      }
    }
    try table.set(
      "getenv",
      to: state.function { [self] call in
        let name = try call.name(0)
        guard access.variables.contains(name), let value = getenv(name) else { return call.returnNil() }
        call.return(String(cString: value))
      })
    try table.set(
      "remove",
      to: state.function { [self] call in
        let path = try call.name(0)
        guard let resolved = access.entry(path) else {
          return call.refuse(path, writing: true, access: access)
        }
        if isGuarded(resolved, writing: true) { return call.refuseGuarded(path) }
        guard UnlinkedPath.remove(resolved) == 0 else { return call.fail(path, number: errno) }
        call.return(true)
      })
    try table.set(
      "rename",
      to: state.function { [self] call in
        let (old, new) = (try call.name(0), try call.name(1))
        guard let from = access.entry(old) else { return call.refuse(old, writing: true, access: access) }
        guard let to = access.entry(new) else { return call.refuse(new, writing: true, access: access) }
        if isGuarded(from, writing: true) { return call.refuseGuarded(old) }
        if isGuarded(to, writing: true) { return call.refuseGuarded(new) }
        guard UnlinkedPath.rename(from, to: to) == 0 else { return call.fail(old, number: errno) }
        call.return(true)
      })
    return table
  }
}
