import MoonbaseLuaShim

/// The type under which one state knows host objects. `LuaHostType` describes it for a class; this is what all types share.
///
/// ```swift
/// let types: [LuaAnyHostType] = [person, department]
/// print(types.map(\.name))
/// ```
public class LuaAnyHostType {
  /// The name that scripts and messages use.
  public let name: String
  /// Whether JSON and CSV write an object of this type as its text, as they do with dates and identifiers.
  public final var isText = false
  /// The bytes that an object keeps alive, where the type does not weigh each object. They count as memory of the script that
  /// holds it.
  public final var usualWeight = 512
  /// Weighs an object that is handed over.
  final var weigher: ((AnyObject) -> Int)?
  /// Reads properties past the type, given the object, the slot and the frame of the call: 0, 1 after an error, and -1 for what
  /// the type has to be asked. For what is read so often that even a closure is too much.
  package final var reader: (@convention(c) (UnsafeMutableRawPointer, Int32, UnsafeMutableRawPointer) -> Int32)? {
    didSet { if let plainType { mbl_type_set_reader(plainType, reader) } }
  }
  final var plainType: OpaquePointer?
  /// Finds the state in which the type is registered; that state may be gone.
  final var link: LuaLink?
  /// Describes and registers the type when its first object is handed over.
  final var registration: (() throws(LuaError) -> Void)?

  init(_ name: String) { self.name = name }

  static func of(_ bits: UInt64) -> LuaAnyHostType {
    let type = OpaquePointer(bitPattern: UInt(bits))
    guard let type else { preconditionFailure("a host object without a type") }
    return Unmanaged<LuaAnyHostType>.fromOpaque(mbl_type_owner(type)).takeUnretainedValue()
  }

  /// The type as the shim knows it, described and registered now if that was put off.
  final func registered(in state: LuaState) throws(LuaError) -> OpaquePointer {
    if let registration, link === state.link {
      self.registration = nil
      do {
        try registration()
      } catch {
        // There was no memory, or the run ends: the next object is handed over once there is.
        self.registration = registration
        throw error
      }
    }
    guard link === state.link, let plainType else {
      throw LuaError(.foreign, message: "\(name) is not registered in this Lua state")
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

  /// Has the type that C knows by `type` answer an access to an object. Lua keeps both as long as that takes.
  @inline(__always)
  static func answer(
    _ type: UnsafeMutableRawPointer, _ object: UnsafeMutableRawPointer, _ body: (LuaAnyHostType, AnyObject) -> Int32
  ) -> Int32 {
    Unmanaged<LuaAnyHostType>.fromOpaque(type)._withUnsafeGuaranteedRef { type in
      Unmanaged<AnyObject>.fromOpaque(object)._withUnsafeGuaranteedRef { body(type, $0) }
    }
  }

  func get(_ object: AnyObject, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  func set(_ object: AnyObject, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  func missing(_ object: AnyObject, writing: Bool, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
}
