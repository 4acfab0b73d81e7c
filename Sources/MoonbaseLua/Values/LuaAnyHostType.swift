import MoonbaseLuaShim

/// Reads properties of objects past their type.
package struct LuaPropertyReader {
  /// Takes the object, the slot, the frame of the call and the context. Gives 0, 1 after an error, and -1 to leave the
  /// property to the type.
  package typealias Function =
    @convention(c) (
      UnsafeMutableRawPointer, Int32, UnsafeMutableRawPointer, UnsafeMutableRawPointer?
    ) -> Int32

  let read: Function
  let context: UnsafeMutableRawPointer?

  /// `context` is kept by the caller, as long as the reader is set.
  package init(context: UnsafeMutableRawPointer, _ read: @escaping Function) {
    (self.context, self.read) = (context, read)
  }
}

/// The type under which one state knows host objects. `LuaHostType` describes it for a class, `LuaValueType` for
/// values; this is what all types share.
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
  @exclusivity(unchecked) public final var usualWeight = 512
  /// Weighs an object that is handed over.
  @exclusivity(unchecked) final var weigher: ((AnyObject) -> Int)?
  /// Reads properties past the type. For what is read so often that even a closure is too much.
  package final var reader: LuaPropertyReader? {
    didSet { if let plainType { mbl_type_set_reader(plainType, reader?.read, reader?.context) } }
  }
  @exclusivity(unchecked) final var plainType: OpaquePointer?
  /// Finds the state in which the type is registered; that state may be gone.
  @exclusivity(unchecked) final var link: LuaLink?
  /// Describes and registers the type when its first object is handed over.
  @exclusivity(unchecked) final var registration: (() throws(LuaError) -> Void)?

  /// The names of the properties; a slot is a place among them.
  final var slots: [String] = []
  final var methods: [String: LuaHostFunction] = [:]
  /// By their names, as methods are: to make the type of another dictionary would take a twelfth of a process's start.
  final var operators: [String: LuaHostFunction] = [:]
  /// Gives what the message about a name that the type lacks ends with, such as "; did you mean 'name'?".
  package final var advice: ((String) -> String)?

  /// Whether values lie in Lua's own memory, since their bytes are all that they are.
  final let isInline: Bool

  init(_ name: String, isInline: Bool = false) { (self.name, self.isInline) = (name, isInline) }

  /// All properties and methods, in the order in which properties were added.
  package final var names: [String] { slots + methods.keys.sorted() }

  /// The names of properties, and those of methods, of a type that is described now if that was put off.
  package final func members(in state: LuaState) -> (properties: [String], methods: [String]) {
    // Without memory for it there are none to be named.
    _ = try? registered(in: state)
    return (slots, methods.keys.sorted())
  }

  /// Adds an operator. Its operands are the arguments of the call, in their order.
  public final func `operator`(_ operator: LuaOperator, _ body: @escaping (inout LuaCall) throws -> Void) {
    operators[`operator`.name] = LuaClosure(operator: `operator`, body)
  }

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

  /// The type as the shim knows it, where it is registered in a state already; counts no references.
  @inline(__always)
  final func plainType(in state: OpaquePointer) -> OpaquePointer? {
    registration == nil && link?.home.pointee == state ? plainType : nil
  }

  final func plain(_ object: AnyObject, scoped: Bool, in state: LuaState) throws(LuaError) -> MBLValue {
    plain(object, scoped: scoped, plainType: try registered(in: state))
  }

  @inline(__always)
  final func plain(_ object: AnyObject, scoped: Bool, plainType: OpaquePointer) -> MBLValue {
    var plain = MBLValue()
    plain.tag = .object
    plain.pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    plain.length = UInt64(UInt(bitPattern: plainType))
    let grains = UInt32(clamping: (weigher?(object) ?? usualWeight) / Int(MBL_WEIGHT_GRAIN))
    plain.extra = min(grains, .max / 2) * UInt32(MBL_WEIGHT_UNIT) | (scoped ? UInt32(MBL_SCOPED) : 0)
    return plain
  }

  /// Calls `body` with the bytes of a boxed value that lies in Lua itself; false, and no call, for anything else.
  func withInlineBytes(of object: AnyObject, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool { false }

  /// The object that Lua holds at an address. Where the values of the type lie in Lua, it is a box of the value.
  func object(at address: UnsafeRawPointer) -> AnyObject {
    Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
  }

  /// Makes the type as the shim knows it, without what it has.
  func makePlainType(_ owner: UnsafeMutableRawPointer, in state: LuaState) -> OpaquePointer? {
    mbl_type_new(state.raw, owner, name, false)
  }

  // MARK: From Lua

  // Lua keeps the type, and what lies at the address, as long as an access takes.

  func get(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  func set(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  /// Answers for a name that is neither property nor method.
  func missing(_ address: UnsafeMutableRawPointer, _ key: String, writing: Bool, _ call: inout LuaCall) throws {
    if writing, methods[key] != nil {
      throw LuaError(.runtime, message: "method '\(key)' of \(name) cannot be assigned")
    }
    throw LuaError(.runtime, message: "\(name.withArticle) has no '\(key)'\(advice?(key) ?? "")")
  }

  final func missing(
    _ address: UnsafeMutableRawPointer, writing: Bool, frame: UnsafeMutablePointer<MBLFrame>
  ) -> Int32 {
    LuaCall.answer(frame, offset: 1) { call in
      let key = try call.keyText(0)
      // The error says the whole name.
      call.state.charge(Int64(key.utf8.count >> 4))
      try missing(address, key, writing: writing, &call)
    }
  }

  /// The error of an assignment to a property that is only read.
  final func readOnly(_ slot: Int) -> LuaError {
    LuaError(.runtime, message: "'\(slots[slot])' of \(name) cannot be assigned")
  }
}
