import MoonbaseLuaShim
import MoonbasePlatform

/// Runs Lua scripts: holds their values, their modules and the host types that they know.
///
/// ```swift
/// let state = try LuaState(preset: .standard, limits: .untrusted)
/// try state.setGlobal("twice", to: state.function { call in call.return(try call.integer(0) &* 2) })
/// let chunk = try state.load("return twice(21)", name: "example.lua")
/// let results = try chunk()   // [.integer(42)]
/// ```
///
/// A state belongs to one isolation domain and runs on one thread at a time. Handles to its values (tables, functions) do
/// not keep it alive; once it is gone they throw `LuaError.Kind.closed`. The state owns the closures that it is given, so a
/// closure must not capture the state strongly: it takes it from `LuaCall.state`.
public final class LuaState {
  /// How much of Lua the state offers.
  public let preset: LuaPreset

  /// What a run may use. A change of `instructions` or `callDepth` holds from the next run on, all else at once.
  public var limits: LuaLimits { didSet { applyLimits() } }

  /// Receives what scripts write with `print` and `io`.
  public var output: LuaOutput = .standard { didSet { mbl_set_plain_output(raw, output.isStandard) } }

  /// Gives the Lua value as which a Swift error is raised. Where it gives nil, or there is no mapper, scripts see userdata with a
  /// field `message` and a text.
  ///
  /// ```swift
  /// state.errorMapper = { error, state in
  ///   (error as? Refusal).flatMap { refusal in try? .table(state.table(["code": .integer(refusal.code)])) }
  /// }
  /// ```
  public var errorMapper: ((any Error, LuaState) -> LuaValue?)?

  /// The modules that `require` finds, beside those on board (`moonbase.json` and its kin).
  public var modules = LuaModules()

  /// Hands on what scripts' files hold, where scripts have `io`.
  var flushesOpenFiles: (() throws -> Void)?
  /// Takes a line of what was read ahead of standard input; nil where scripts have no files.
  var takesLineAhead: (() -> [UInt8])?

  /// The files of environments that have some of their own, by what is granted.
  var grantedFiles: [LuaFileLibrary] = []

  /// What the modules on board are given of the program: `date`, a table of the functions that create dates.
  public var moduleHost: [String: LuaValue] = [:]

  /// Kept as long as the state lives, such as what closures of host types need.
  package var companion: AnyObject?

  let raw: OpaquePointer
  let link: LuaLink
  /// The sources loaded last, by their names in messages.
  var sources: [String: LuaSource] = [:]
  /// The parts of longer sources that were loaded last.
  var partialSources: [LuaSource] = []
  var loaded = LuaLoadedModules()
  /// The last error that a host function raised as text, with its traceback, which the text does not carry.
  var rethrown: (text: String, traceback: [LuaError.Frame])?
  /// Where a run was that must end, as long as calls around it end with it.
  var endedFrames: [LuaError.Frame] = []
  /// For whom this state worked last, and what of its memory counts there.
  var payer: Payer?
  /// Counts the lines that run in the state; nil where none are counted.
  let coverage = LuaCoverage.current
  private var buffers: [LuaArgumentBuffer] = []

  struct Payer {
    let link: LuaLink
    var bytes = 0
  }

  /// Opens a state with the libraries of a preset.
  ///
  /// Throws `.memory` when there is no memory for it.
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

  /// The state whose run is innermost on this thread.
  public static var current: LuaState? {
    mbl_running().flatMap { Unmanaged<LuaOwner>.fromOpaque(mbl_owner($0)).takeUnretainedValue().state }
  }

  static func owner(of raw: OpaquePointer) -> LuaState {
    let owner = Unmanaged<LuaOwner>.fromOpaque(mbl_owner(raw)).takeUnretainedValue()
    guard let state = owner.state else { preconditionFailure("a closed state called the host") }
    return state
  }

  // MARK: Argument buffers

  func takeBuffer(_ count: Int) -> LuaArgumentBuffer {
    let buffer = buffers.popLast() ?? LuaArgumentBuffer(capacity: 8)
    buffer.reserve(count)
    return buffer
  }

  func giveBack(_ buffer: LuaArgumentBuffer) {
    buffer.clear()
    if buffers.count < 8 { buffers.append(buffer) }
  }
}

/// The owner that C knows: finds the state without keeping it alive, and finds nil once the state is gone.
final class LuaOwner {
  unowned(unsafe) var state: LuaState?
}
