import MoonbaseLuaShim

/// Reads properties of objects directly, without the type's closures.
///
/// For the most frequent access: a property of a managed object whose value lies in a row.
package struct LuaPropertyReader {
  /// Receives the object, the slot, the frame of the call and the context. Returns 0 for success, 1 after an error, and
  /// -1 to leave the property to the type.
  package typealias Function =
    @convention(c) (
      UnsafeMutableRawPointer, Int32, UnsafeMutableRawPointer, UnsafeMutableRawPointer?
    ) -> Int32

  /// The function in C's convention.
  let read: Function
  /// Passed to each call.
  let context: UnsafeMutableRawPointer?

  /// The caller retains `context` as long as the reader is set.
  package init(context: UnsafeMutableRawPointer, _ read: @escaping Function) {
    (self.context, self.read) = (context, read)
  }
}

/// The type under which a state knows host objects. `LuaHostType` describes it for a class, `LuaValueType` for values;
/// this class is their common base.
///
/// ```swift
/// let types: [LuaAnyHostType] = [person, department]
/// print(types.map(\.name))
/// ```
///
/// A type belongs to one state. Properties, methods and operators are added before it is registered; afterwards they
/// cannot change. Objects of the type are passed to Lua as handles, which retain them.
public class LuaAnyHostType {
  /// The name in scripts and messages.
  public let name: String
  /// Whether JSON and CSV write an object of this type as its text, as for dates and identifiers.
  public final var isText = false
  /// The bytes that an object retains, if the type has no `weight` function. They count as memory of the script that
  /// holds the object.
  @exclusivity(unchecked) public final var usualWeight = 512
  /// Returns the bytes that an object retains.
  @exclusivity(unchecked) final var weigher: ((AnyObject) -> Int)?
  /// Reads properties directly, for properties read so often that a closure call is too slow.
  package final var reader: LuaPropertyReader? {
    didSet { if let plainType { mbl_type_set_reader(plainType, reader?.read, reader?.context) } }
  }
  /// The type in the shim; nil before the registration.
  @exclusivity(unchecked) final var plainType: OpaquePointer?
  /// The link to the state in which the type is registered, which may be closed.
  @exclusivity(unchecked) final var link: LuaLink?
  /// Describes and registers the type when its first object is passed to Lua.
  @exclusivity(unchecked) final var registration: (() throws(LuaError) -> Void)?

  /// The names of the properties; a slot is an index here.
  final var slots: [String] = []
  /// By name.
  final var methods: [String: LuaHostFunction] = [:]
  /// The operators by name. Uses the dictionary type of methods, because making another type would take a twelfth of a
  /// process's start.
  final var operators: [String: LuaHostFunction] = [:]
  /// Returns the end of the message about an unknown name, such as "; did you mean 'name'?".
  package final var advice: ((String) -> String)?

  /// Whether values are stored inline in Lua's own memory.
  final let isInline: Bool

  /// Nothing is registered yet.
  init(_ name: String, isInline: Bool = false) { (self.name, self.isInline) = (name, isInline) }

  /// All properties and methods; properties in the order of their addition. For suggestions and completion.
  package final var names: [String] { slots + methods.keys.sorted() }

  /// The names of the properties and methods. Describes the type first if needed.
  package final func members(in state: LuaState) -> (properties: [String], methods: [String]) {
    // Returns no names if memory is exhausted.
    _ = try? registered(in: state)
    return (slots, methods.keys.sorted())
  }

  /// Adds an operator. Its operands are the arguments of the call, in order. An operator with the same name is
  /// replaced.
  public final func `operator`(_ operator: LuaOperator, _ body: @escaping (inout LuaCall) throws -> Void) {
    operators[`operator`.name] = LuaClosure(operator: `operator`, body)
  }

  /// The type of a value in C, by its address.
  static func of(_ bits: UInt64) -> LuaAnyHostType {
    let type = OpaquePointer(bitPattern: UInt(bits))
    guard let type else { preconditionFailure("a host object without a type") }
    return Unmanaged<LuaAnyHostType>.fromOpaque(mbl_type_owner(type)).takeUnretainedValue()
  }

  /// The type in the shim, described and registered first if needed. Throws `.foreign` for a type of another state, and
  /// errors of the registration.
  final func registered(in state: LuaState) throws(LuaError) -> OpaquePointer {
    if let registration, link === state.link {
      self.registration = nil
      do {
        try registration()
      } catch {
        // Memory is exhausted or the run ends, so registration is repeated for the next object.
        self.registration = registration
        throw error
      }
    }
    guard link === state.link, let plainType else {
      throw LuaError(.foreign, message: "\(name) is not registered in this Lua state")
    }
    return plainType
  }

  /// The type in the shim if it is registered in a state; without reference counting. For the fast path of results.
  @inline(__always)
  final func plainType(in state: OpaquePointer) -> OpaquePointer? {
    registration == nil && link?.home.pointee == state ? plainType : nil
  }

  /// The value in C for an object. Throws as `registered` does.
  final func plain(_ object: AnyObject, scoped: Bool, in state: LuaState) throws(LuaError) -> MBLValue {
    plain(object, scoped: scoped, plainType: try registered(in: state))
  }

  /// The object is not retained; Lua retains it when the value is passed. The extra word has the weight and the scope
  /// flag.
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

  /// Calls `body` with the bytes of an inline value. Returns false, without a call, for other values.
  func withInlineBytes(of object: AnyObject, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool { false }

  /// The object at an address in Lua. For inline values, a box of the value.
  func object(at address: UnsafeRawPointer) -> AnyObject {
    Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
  }

  /// Makes the type in the shim, without its members. Nil if memory is exhausted.
  func makePlainType(_ owner: UnsafeMutableRawPointer, in state: LuaState) -> OpaquePointer? {
    mbl_type_new(state.raw, owner, name, false)
  }

  // MARK: From Lua

  // Lua retains the type and the memory at the address during an access.

  /// Reads a property. Returns 0 for success and 1 for an error.
  func get(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  /// Writes a property. Returns 0 for success and 1 for an error.
  func set(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  /// Handles a name that is neither property nor method. Throws for an unknown name, with a suggestion. Overridden by
  /// types with dynamic names.
  func missing(_ address: UnsafeMutableRawPointer, _ key: String, writing: Bool, _ call: inout LuaCall) throws {
    if writing, methods[key] != nil {
      throw LuaError(.runtime, message: "method '\(key)' of \(name) cannot be assigned")
    }
    throw LuaError(.runtime, message: "\(name.withArticle) has no '\(key)'\(advice?(key) ?? "")")
  }

  /// The entry for C. Long names are charged.
  final func missing(
    _ address: UnsafeMutableRawPointer, writing: Bool, frame: UnsafeMutablePointer<MBLFrame>
  ) -> Int32 {
    LuaCall.answer(frame, offset: 1) { call in
      let key = try call.keyText(0)
      // The error contains the whole name, so its length is charged.
      call.state.charge(Int64(key.utf8.count >> 4))
      try missing(address, key, writing: writing, &call)
    }
  }

  /// The error of an assignment to a read-only property. The message names the property and the type.
  final func readOnly(_ slot: Int) -> LuaError {
    LuaError(.runtime, message: "'\(slots[slot])' of \(name) cannot be assigned")
  }
}
