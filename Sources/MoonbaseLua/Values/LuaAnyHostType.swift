import MoonbaseLuaShim

/// A class of host objects as one state knows it; see `LuaHostType`.
public class LuaAnyHostType {
  /// What scripts and messages call it.
  public let name: String
  // Looked at for each object that is handed over; no access lasts while other code runs.

  /// Whether an object is a plain value, which JSON and CSV write as its text: a date, an identifier.
  public final var isText = false
  /// Bytes that an object keeps alive, where the type does not weigh each: they count as memory of the script that holds it.
  @exclusivity(unchecked) public final var usualWeight = 512
  /// Weighs an object that is handed over.
  @exclusivity(unchecked) final var weigher: ((AnyObject) -> Int)?
  @exclusivity(unchecked) final var plainType: OpaquePointer?
  /// Tells the state that it was registered in, which may be gone.
  @exclusivity(unchecked) final var link: LuaLink?
  /// Describes and registers the type when its first object is handed over.
  @exclusivity(unchecked) final var registration: (() throws(LuaError) -> Void)?

  init(_ name: String) { self.name = name }

  static func of(_ bits: UInt64) -> LuaAnyHostType {
    let type = OpaquePointer(bitPattern: UInt(bits))
    guard let type else { preconditionFailure("a host object without a type") }
    return Unmanaged<LuaAnyHostType>.fromOpaque(mbl_type_owner(type)).takeUnretainedValue()
  }

  /// What the shim calls the type.
  final func registered(in state: LuaState) throws(LuaError) -> OpaquePointer {
    if let registration, link === state.link {
      self.registration = nil
      try registration()
    }
    guard link === state.link, let plainType else {
      throw LuaError(.foreign, "\(name) is not registered in this Lua state")
    }
    return plainType
  }

  final func plain(_ object: AnyObject, scoped: Bool, in state: LuaState) throws(LuaError) -> MBLValue {
    let plainType = try registered(in: state)
    var plain = MBLValue()
    plain.tag = .object
    plain.pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    plain.length = UInt64(UInt(bitPattern: plainType))
    let grains = UInt32(clamping: (weigher?(object) ?? usualWeight) / Int(MBL_WEIGHT_GRAIN))
    plain.extra = min(grains, .max / 2) * UInt32(MBL_WEIGHT_UNIT) | (scoped ? UInt32(MBL_SCOPED) : 0)
    return plain
  }

  func get(_ object: UnsafeMutableRawPointer, _ slot: Int, _ frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  func set(_ object: UnsafeMutableRawPointer, _ slot: Int, _ frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  func missing(
    _ object: UnsafeMutableRawPointer, _ writing: Bool, _ frame: UnsafeMutablePointer<MBLFrame>
  ) -> Int32 { 0 }
}
