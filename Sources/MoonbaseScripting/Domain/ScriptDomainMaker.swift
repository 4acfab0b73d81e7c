public import MoonbaseGraph
public import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// How states for scripts are made: each like the first, as many as there are threads.
///
/// ```swift
/// var maker = ScriptDomainMaker()
/// maker.limits.deadline = .seconds(60)
/// maker.moduleFolders = [scriptsURL.path]
/// let domain = try maker.make()
/// defer { domain.close() }
/// ```
public struct ScriptDomainMaker: Sendable {
  /// The part of Lua that scripts have.
  public var preset: LuaPreset
  /// The limits of each state.
  public var limits: LuaLimits
  /// The files that scripts may use; nil for none.
  public var files: LuaFileAccess?
  /// Keeps scripts from some of these files.
  public var makeFileGuard: (@Sendable () -> any LuaFileGuard)?
  /// The folders below which `require` finds modules.
  public var moduleFolders: [String] = []
  /// Makes what takes what scripts print; nil drops it.
  public var makeOutput: (@Sendable () -> LuaOutput)?
  /// Takes what scripts log; nil tells it on standard error.
  public var log: (@Sendable (ScriptLogEntry) -> Void)?
  /// Opens what scripts name; nil for scripts that open nothing.
  public var opener: ContainerOpener?
  /// Sets up every context.
  public var prepareContext: (@Sendable (ManagedObjectContext) -> Void)?
  /// Whether scripts may have modules run on other threads (`moonbase.background`, `moonbase.parallel`), in states
  /// that this makes. Those cannot do so again.
  public var allowsJobs = true

  /// Makes a maker of states without files, modules and stores.
  public init(preset: LuaPreset = .standard, limits: LuaLimits = LuaLimits()) {
    (self.preset, self.limits) = (preset, limits)
  }

  /// Makes a state. Throws `LuaError` of kind `memory` where its libraries need more than they may have.
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

  private var makerOfWorkers: ScriptDomainMaker {
    var maker = self
    maker.allowsJobs = false
    return maker
  }
}
