public import MoonbaseGraph
public import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Makes Lua states for scripts, each configured alike, as many as there are threads.
///
/// ```swift
/// var maker = ScriptDomainMaker()
/// maker.limits.deadline = .seconds(60)
/// maker.moduleFolders = [scriptsURL.path]
/// let domain = try maker.make()
/// defer { domain.close() }
/// ```
///
/// The maker is a value: each copy may be changed before the next `make()`. The command fills one from its options and
/// passes it to the threads of a batch.
public struct ScriptDomainMaker: Sendable {
  /// The part of Lua available to scripts.
  public var preset: LuaPreset
  /// The limits of each state.
  public var limits: LuaLimits
  /// The files available to scripts; nil for none.
  public var files: LuaFileAccess?
  /// Makes the guard that restricts these files.
  public var makeFileGuard: (@Sendable () -> any LuaFileGuard)?
  /// The folders in which `require` finds modules.
  public var moduleFolders: [String] = []
  /// Makes the receiver of printed text; nil discards it.
  public var makeOutput: (@Sendable () -> LuaOutput)?
  /// Receives the log messages of scripts; nil writes them to standard error.
  public var log: (@Sendable (ScriptLogEntry) -> Void)?
  /// Opens containers for `moonbase.open`; nil if scripts may not open any.
  public var opener: ContainerOpener?
  /// Configures every context.
  public var prepareContext: (@Sendable (ManagedObjectContext) -> Void)?
  /// Whether scripts may run modules on other threads (`moonbase.background`, `moonbase.parallel`), in states made by
  /// this maker. The made states cannot start further jobs.
  public var allowsJobs = true

  /// A maker of states without files, modules and stores.
  public init(preset: LuaPreset = .standard, limits: LuaLimits = LuaLimits()) {
    (self.preset, self.limits) = (preset, limits)
  }

  /// Makes a state. Throws `LuaError` of kind `memory` if its libraries exceed the memory limit. Call this on the
  /// thread that will use the state.
  public func make() throws -> ScriptDomain {
    let domain = try ScriptDomain(preset: preset, limits: limits)
    domain.prepareContext = prepareContext
    if let makeOutput { domain.state.output = makeOutput() }
    if let log { domain.log = log }
    if let files { try domain.state.openFiles(files, guardian: makeFileGuard?()) }
    domain.state.modules.rootPaths = moduleFolders
    if let opener { try domain.installOpen(opener) }
    if allowsJobs { try domain.installJobs(maker: makerOfWorkers) }
    return domain
  }

  /// A copy without jobs, for the states of jobs.
  private var makerOfWorkers: ScriptDomainMaker {
    var maker = self
    maker.allowsJobs = false
    return maker
  }
}
