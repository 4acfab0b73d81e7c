import MoonbaseLuaShim
import MoonbasePlatform

/// A Lua state, which runs scripts and holds their values, modules and host types.
///
/// ```swift
/// let state = try LuaState(preset: .standard, limits: .untrusted)
/// try state.setGlobal("twice", to: state.function { call in call.return(try call.integer(0) &* 2) })
/// let chunk = try state.load("return twice(21)", name: "example.lua")
/// let results = try chunk()   // [.integer(42)]
/// ```
///
/// A state belongs to a single isolation domain and runs on a single thread at a time. Handles to its values (tables,
/// functions) do not retain it; after its end they throw `LuaError.Kind.closed`. The state retains the closures passed
/// to it, so a closure must not capture the state strongly, but use `LuaCall.state`.
public final class LuaState {
  /// The part of Lua that the state provides.
  public let preset: LuaPreset

  /// The limits of a run. Changes of `instructions` or `callDepth` apply from the next run, other changes immediately.
  public var limits: LuaLimits { didSet { applyLimits() } }

  /// Receives the text that scripts write with `print` and `io`.
  public var output: LuaOutput = .standard { didSet { mbl_set_plain_output(raw, output.isStandard) } }

  /// Converts a Swift error to the Lua value to raise. Without a mapper, or if it returns nil, scripts receive userdata
  /// with a field `message` and a text.
  ///
  /// ```swift
  /// state.errorMapper = { error, state in
  ///   (error as? Refusal).flatMap { refusal in try? .table(state.table(["code": .integer(refusal.code)])) }
  /// }
  /// ```
  public var errorMapper: ((any Error, LuaState) -> LuaValue?)?

  /// The modules available to `require`, in addition to the shipped modules such as `moonbase.json`.
  public var modules = LuaModules()

  /// Flushes the files of scripts; nil if scripts have no `io`.
  var flushesOpenFiles: (() throws -> Void)?
  /// Consumes a line read ahead from standard input; nil if scripts have no files.
  var takesLineAhead: (() -> [UInt8])?

  /// The file libraries of environments with their own grants.
  var grantedFiles: [LuaFileLibrary] = []

  /// The host values for shipped modules: `date`, a table of functions that create dates.
  public var moduleHost: [String: LuaValue] = [:]

  /// An object retained with the state, for example for closures of host types.
  package var companion: AnyObject?

  /// The state in C, valid until `deinit`.
  let raw: OpaquePointer
  /// The link that handles share; it outlives the state.
  let link: LuaLink
  /// The sources last loaded, by their names in messages.
  var sources: [String: LuaSource] = [:]
  /// The last loaded parts of longer sources.
  var partialSources: [LuaSource] = []
  /// The modules that were required so far.
  var loaded = LuaLoadedModules()
  /// The last error that a host function raised as text, with the traceback that the text lacks.
  var rethrown: (text: String, traceback: [LuaError.Frame])?
  /// The frames of a run that must end, kept until its outermost call has ended.
  var endedFrames: [LuaError.Frame] = []
  /// The state for which this state last worked, with the memory counted there.
  var payer: Payer?
  /// Records executed lines; nil if they are not recorded.
  let coverage = LuaCoverage.current
  /// Buffers that are not in use, at most eight.
  private var buffers: [LuaArgumentBuffer] = []

  /// Set while this state's memory counts in another one.
  struct Payer {
    /// The other state, which may be closed.
    let link: LuaLink
    /// The counted bytes.
    var bytes = 0
  }

  /// Opens a state with the libraries of a preset.
  ///
  /// Throws `.memory` if memory is exhausted. The libraries of the preset are loaded; shipped modules load at their
  /// first `require`.
  public init(preset: LuaPreset = .standard, limits: LuaLimits = LuaLimits()) throws(LuaError) {
    Self.answersForHostWork
    Self.answersForHostMemory
    let owner = LuaOwner()
    guard
      let raw = mbl_open(Self.host, Unmanaged.passUnretained(owner).toOpaque(), preset.plain)
    else { throw LuaError(.memory, message: "not enough memory for a Lua state") }
    self.preset = preset
    self.limits = limits
    self.raw = raw
    self.owner = owner
    link = LuaLink(queue: mbl_queue(raw))
    link.state = self
    owner.state = self
    mbl_set_plain_output(raw, true)
    if coverage != nil { mbl_coverage_begin(raw) }
    applyLimits()
    try installRequire()
  }

  /// Known to C during the life of the state.
  private let owner: LuaOwner

  deinit {
    noteCoverage()
    link.state = nil
    owner.state = nil
    mbl_close(raw)
    leavePayer()
  }

  /// Lua's release, such as "Lua 5.4.4".
  public static var version: String { String(cString: mbl_version()) }

  /// The state of the innermost run on this thread.
  public static var current: LuaState? {
    mbl_running().flatMap { Unmanaged<LuaOwner>.fromOpaque(mbl_owner($0)).takeUnretainedValue().state }
  }

  /// Traps for a closed state, which cannot call.
  static func owner(of raw: OpaquePointer) -> LuaState {
    let owner = Unmanaged<LuaOwner>.fromOpaque(mbl_owner(raw)).takeUnretainedValue()
    guard let state = owner.state else { preconditionFailure("a closed state called the host") }
    return state
  }

  // MARK: Argument buffers

  /// Buffers are reused, because a nested call needs another one.
  func acquireBuffer(_ count: Int) -> LuaArgumentBuffer {
    let buffer = buffers.popLast() ?? LuaArgumentBuffer(capacity: 8)
    buffer.reserve(count)
    return buffer
  }

  /// Keeps at most eight buffers.
  func giveBack(_ buffer: LuaArgumentBuffer) {
    buffer.clear()
    if buffers.count < 8 { buffers.append(buffer) }
  }
}

/// The owner known to C. Refers to the state without retaining it; nil after the state is released. Set by the state.
final class LuaOwner {
  unowned(unsafe) var state: LuaState?
}
