import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseSQLiteStore

/// What the scripts of a command may do, and how much of it.
struct ScriptSettings: Equatable {
  var strict = false
  var saveOrder = ManagedObjectContext.SaveOrder.validateFirst
  var sandbox = LuaPreset.standard
  /// Whether an option says which.
  var isSandboxGiven = false
  var grants: [Grant] = []
  var noFiles = false
  var instructionLimit: Int64?
  var memoryLimit: UInt64?
  var sourceLimit: Int?
  var timeLimit: Double?

  /// What `--allow` gives beyond the sandbox.
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

  /// Whether a script may be ended before its end.
  var isLimited: Bool { instructionLimit != nil || memoryLimit != nil || timeLimit != nil }

  /// The folders that `--allow` lets scripts read.
  var readableFolders: [String] { grants.compactMap { if case .read(let path) = $0 { path } else { nil } } }

  /// Reading below the scripts' and the current folder, writing below the current one, and what `--allow` adds.
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

  /// Throws in the preset that writes nothing, for a command that writes what its scripts do.
  func requireWriting(_ command: String) throws(UsageError) {
    guard sandbox == .pure else { return }
    throw UsageError(
      "--sandbox pure writes nothing, and \(command) does: leave it out, or give --dry-run where there is one")
  }

  /// Makes states that scripts in some folders run in, with all that they may have.
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
      // A person named the paths on the command line. Paths that a script names have to be granted.
      let granted = try access.granted(description)
      return try UnlinkedPath.$isRequired.withValue(true) { try PersistentContainer(granted).opened }
    }
    return maker
  }

  /// Makes states for scripts in one folder. These scripts start no jobs.
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

  /// A state of a maker. Throws `.limitExceeded` where not even Lua's libraries fit in the memory that it may take.
  func domain(of maker: ScriptDomainMaker) throws -> ScriptDomain {
    do {
      return try maker.make()
    } catch let error as LuaError where memoryLimit != nil && error.kind == .memory {
      throw GraphError(.limitExceeded, message: "Lua itself needs more memory than --limit-memory allows")
    }
  }

  /// A state without files and stores, for commands that need no more.
  func requiredDomain() throws -> ScriptDomain { try domain(of: plainMaker) }

  /// A state for scripts in a folder, with all that they may have.
  func openDomain(forScriptsIn folder: String, _ stores: StoreSettings) throws -> ScriptDomain {
    try domain(of: maker(forScriptsIn: folder, stores))
  }

  /// Bounds SQLite's share of the memory, beside the shares of Lua and of values that the host keeps. 16 MB are added
  /// for the memory that SQLite takes before a script runs.
  func boundSQLite() {
    if let limit = memoryLimit { SQLiteStore.limitMemory(to: Int(clamping: limit) / 2 + 16 << 20) }
  }

  /// The description with these limits, and with what holds for all stores.
  func limiting(_ description: ContainerDescription, _ stores: StoreSettings) -> ContainerDescription {
    var description = stores.applied(to: description)
    if sandbox == .pure { description.setFilesReadOnly() }
    description.limits = limits
    return description
  }
}
