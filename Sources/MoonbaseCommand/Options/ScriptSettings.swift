import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseSQLiteStore

/// The permissions and limits for the scripts of a command.
struct ScriptSettings: Equatable {
  var strict = false
  var saveOrder = ManagedObjectContext.SaveOrder.validateFirst
  var sandbox = LuaPreset.standard
  /// Whether an option selects the sandbox.
  var isSandboxGiven = false
  var grants: [Grant] = []
  var noFiles = false
  var instructionLimit: Int64?
  var memoryLimit: UInt64?
  var sourceLimit: Int?
  var timeLimit: Double?

  /// A permission that `--allow` adds to the sandbox.
  enum Grant: Equatable {
    case read(String)
    case write(String)
    case environment(String)

    init(_ text: String) throws(UsageError) {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts.first, parts.last) {
      case ("read", let path?) where parts.count == 2: self = .read(path)
      case ("write", let path?) where parts.count == 2: self = .write(path)
      case ("env", let name?) where parts.count == 2: self = .environment(name)
      default: throw UsageError("--allow takes read=PATH, write=PATH or env=NAME, not '\(text)'")
      }
    }
  }
}

extension ScriptSettings {
  var limits: LuaLimits {
    var limits = sandbox == .trusted ? LuaLimits.none : LuaLimits()
    limits.instructions = instructionLimit
    limits.deadline = timeLimit.map { Duration(seconds: $0) }
    limits.memory = memoryLimit
    if let sourceLimit { limits.sourceSize = sourceLimit }
    return limits
  }

  /// Whether limits may interrupt a script.
  var isLimited: Bool { instructionLimit != nil || memoryLimit != nil || timeLimit != nil }

  /// The folders that `--allow` lets scripts read.
  var readableFolders: [String] { grants.compactMap { if case .read(let path) = $0 { path } else { nil } } }

  /// Scripts may read files in their own and in the current folder, write files in the current folder, and use the
  /// files that `--allow` adds.
  func access(ofScriptsIn folders: [String]) -> LuaFileAccess {
    let current = FileManager.default.currentDirectoryPath
    var access =
      noFiles ? LuaFileAccess() : LuaFileAccess(readablePaths: folders + [current], writablePaths: [current])
    for grant in grants {
      switch grant {
      case .read(let path): access.readablePaths.append(path)
      case .write(let path): access.writablePaths.append(path)
      case .environment(let name): access.variables.insert(name)
      }
    }
    return access
  }

  /// Throws if the sandbox does not allow writing, for a command that writes the changes of its scripts.
  func requireWriting(_ command: String) throws(UsageError) {
    guard sandbox == .pure else { return }
    throw UsageError(
      "--sandbox pure writes nothing, and \(command) does: leave it out, or give --dry-run where there is one")
  }

  /// Makes states for scripts in some folders, with all permissions of these scripts.
  func maker(scriptFolders: [String], moduleFolders: [String], _ stores: StoreSettings) -> ScriptDomainMaker {
    let access = access(ofScriptsIn: scriptFolders)
    var maker = plainMaker
    maker.allowsJobs = true
    if sandbox != .pure { maker.files = access }
    maker.makeFileGuard = { OpenStoreGuard() }
    maker.moduleFolders = moduleFolders
    maker.opener = { [self] description in
      let description = limiting(description, stores)
      guard sandbox != .trusted else { return try PersistentContainer(description).opened }
      // The paths on the command line come from the user. Paths that a script names need a permission.
      let granted = try access.granted(description)
      return try UnlinkedPath.$isRequired.withValue(true) { try PersistentContainer(granted).opened }
    }
    return maker
  }

  /// Makes states for scripts in one folder. These scripts cannot start jobs.
  func maker(forScriptsIn folder: String, _ stores: StoreSettings) -> ScriptDomainMaker {
    var maker = maker(
      scriptFolders: [folder], moduleFolders: (noFiles ? [] : [folder]) + readableFolders, stores)
    maker.allowsJobs = false
    return maker
  }

  /// Makes states without files and stores.
  private var plainMaker: ScriptDomainMaker {
    var maker = ScriptDomainMaker(preset: sandbox, limits: limits)
    maker.makeOutput = { .standard }
    maker.prepareContext = { [saveOrder, strict] context in
      context.saveOrder = saveOrder
      context.detectsInPlaceMutation = strict
    }
    maker.allowsJobs = false
    return maker
  }

  /// Creates a state with a maker. Throws `.limitExceeded` if the memory limit is too small for the libraries of Lua.
  func domain(of maker: ScriptDomainMaker) throws -> ScriptDomain {
    do {
      return try maker.make()
    } catch let error as LuaError where memoryLimit != nil && error.kind == .memory {
      throw GraphError(.limitExceeded, message: "Lua itself needs more memory than --limit-memory allows")
    }
  }

  /// A state without files and stores, for commands that do not need them.
  func requiredDomain() throws -> ScriptDomain { try domain(of: plainMaker) }

  /// A state for scripts in a folder, with all permissions of these scripts.
  func openDomain(forScriptsIn folder: String, _ stores: StoreSettings) throws -> ScriptDomain {
    try domain(of: maker(forScriptsIn: folder, stores))
  }

  /// Limits the memory of SQLite, in addition to the limits for Lua and for values of the host. The limit includes 16
  /// MB for the memory that SQLite uses before a script runs.
  func boundSQLite() {
    if let limit = memoryLimit { SQLiteStore.limitMemory(to: Int(clamping: limit) / 2 + 16 << 20) }
  }

  /// The description with these limits and with the settings for all stores.
  func limiting(_ description: ContainerDescription, _ stores: StoreSettings) -> ContainerDescription {
    var description = stores.applied(to: description)
    if sandbox == .pure { description.setFilesReadOnly() }
    description.limits = limits
    return description
  }
}
