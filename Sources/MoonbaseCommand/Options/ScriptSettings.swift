import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseSQLiteStore

/// The permissions and limits for the scripts of a command.
///
/// The options of the command line and the sandbox of a project fill it. Its functions create the
/// Lua states for scripts, so that every command has the same rules about files, memory and time.
/// docs/sandbox.md describes the presets.
struct ScriptSettings: Equatable {
  /// Whether a save is refused after a value was changed in place.
  var strict = false
  /// The order of rules and of the function `will_save` in a save.
  var saveOrder = ManagedObjectContext.SaveOrder.validateFirst
  /// The preset of the sandbox.
  var sandbox = LuaPreset.standard
  /// Whether an option selects the sandbox.
  var isSandboxGiven = false
  /// The additional permissions in the order of the command line.
  var grants: [Grant] = []
  /// Whether scripts may use no files.
  var noFiles = false
  /// The maximum number of Lua instructions, or nil.
  var instructionLimit: Int64?
  /// The maximum memory in bytes, or nil.
  var memoryLimit: UInt64?
  /// The maximum size of a source in bytes, or nil for the default.
  var sourceLimit: Int?
  /// The maximum time in seconds, or nil.
  var timeLimit: Double?

  /// A permission that `--allow` adds to the sandbox.
  enum Grant: Equatable {
    /// A file or folder that scripts may read.
    case read(String)
    /// A file or folder that scripts may read and write.
    case write(String)
    /// An environment variable that scripts may read.
    case environment(String)

    /// Parses `read=PATH`, `write=PATH` or `env=NAME`.
    ///
    /// - Throws: A `UsageError` with these forms.
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
  /// The limits in the form that Lua states use. The preset `trusted` has no limits except for
  /// those that are given.
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
  ///
  /// - Parameter folders: The folders of the scripts.
  /// - Returns: The permissions for files and environment variables.
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
  ///
  /// - Parameter command: The name of the command, for the message.
  func requireWriting(_ command: String) throws(UsageError) {
    guard sandbox == .pure else { return }
    throw UsageError(
      "--sandbox pure writes nothing, and \(command) does: leave it out, or give --dry-run where there is one")
  }

  /// Makes states for scripts in some folders, with all permissions of these scripts.
  ///
  /// - Parameters:
  ///   - scriptFolders: The folders whose files scripts may read.
  ///   - moduleFolders: The folders in which `require` searches.
  ///   - stores: The settings for stores that scripts open.
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
  ///
  /// - Parameters:
  ///   - folder: The folder of the scripts.
  ///   - stores: The settings for stores that scripts open.
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
  ///
  /// - Parameter maker: The permissions and limits of the state.
  func domain(of maker: ScriptDomainMaker) throws -> ScriptDomain {
    do {
      return try maker.make()
    } catch let error as LuaError where memoryLimit != nil && error.kind == .memory {
      throw GraphError(.limitExceeded, message: "Lua itself needs more memory than --limit-memory allows")
    }
  }

  /// A state without files and stores, for commands that do not need them.
  ///
  /// The caller must close it.
  func requiredDomain() throws -> ScriptDomain { try domain(of: plainMaker) }

  /// A state for scripts in a folder, with all permissions of these scripts.
  ///
  /// The caller must close it.
  ///
  /// - Parameters:
  ///   - folder: The folder of the scripts.
  ///   - stores: The settings for stores that scripts open.
  func openDomain(forScriptsIn folder: String, _ stores: StoreSettings) throws -> ScriptDomain {
    try domain(of: maker(forScriptsIn: folder, stores))
  }

  /// Limits the memory of SQLite, in addition to the limits for Lua and for values of the host. The limit includes 16
  /// MB for the memory that SQLite uses before a script runs.
  func boundSQLite() {
    if let limit = memoryLimit { SQLiteStore.limitMemory(to: Int(clamping: limit) / 2 + 16 << 20) }
  }

  /// The description with these limits and with the settings for all stores.
  ///
  /// With the preset `pure`, stores in files are opened read-only.
  ///
  /// - Parameters:
  ///   - description: The container.
  ///   - stores: The settings for all stores.
  func limiting(_ description: ContainerDescription, _ stores: StoreSettings) -> ContainerDescription {
    var description = stores.applied(to: description)
    if sandbox == .pure { description.setFilesReadOnly() }
    description.limits = limits
    return description
  }
}
