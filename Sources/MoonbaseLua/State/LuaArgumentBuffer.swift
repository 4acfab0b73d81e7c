import MoonbaseLuaShim
import MoonbasePlatform

/// A buffer of plain values to be passed to Lua, with the bytes of their strings.
///
/// The order of use: `reserve`, one `set` for each place, `seal`, the call, `clear`. A buffer is reused;
/// `LuaState.takeBuffer` keeps some. It belongs to one thread at a time.
final class LuaArgumentBuffer {
  /// The values, in the layout of C.
  private(set) var values: UnsafeMutablePointer<MBLValue>
  /// The number of places.
  private var capacity: Int
  /// The bytes of strings, one after the other.
  private var bytes: UnsafeMutableRawPointer
  /// The size of `bytes`.
  private var byteCapacity: Int
  /// The used part of `bytes`.
  private var byteCount = 0
  /// Whether the buffer has strings, or values whose bytes are copied.
  private var hasBytes = false
  /// Whether the buffer has values besides scalars. Stored behind a pointer, because fast calls read it.
  let holdsMore: UnsafeMutablePointer<Bool>
  /// Objects and references that must live until the call.
  private var anchors: [AnyObject] = []

  /// At least four places.
  init(capacity: Int) {
    self.capacity = max(capacity, 4)
    values = .allocate(capacity: self.capacity)
    byteCapacity = 64
    bytes = .allocate(byteCount: byteCapacity, alignment: 1)
    holdsMore = .allocate(capacity: 1)
    holdsMore.initialize(to: false)
  }

  deinit {
    holdsMore.deallocate()
    values.deallocate()
    bytes.deallocate()
  }

  /// Releases the anchors. The values stay, but are not used.
  func clear() {
    holdsMore.pointee = false
    byteCount = 0
    hasBytes = false
    if !anchors.isEmpty { anchors.removeAll(keepingCapacity: true) }
  }

  /// The values are lost if more room is needed.
  func reserve(_ count: Int) {
    guard count > capacity else { return }
    values.deallocate()
    values = .allocate(capacity: count)
    capacity = count
  }

  /// Throws `.foreign` or `.closed` for a table, function or object of another state.
  func set(_ index: Int, to value: LuaValue, for state: LuaState) throws(LuaError) {
    switch value {
    case .nil: values[index].tag = .nil
    case .null: values[index].tag = .null
    case .boolean(let flag): setBoolean(index, to: flag)
    case .integer(let integer): setInteger(index, to: integer)
    case .number(let number): setNumber(index, to: number)
    case .string(let string): string.withBytes { setBytes(index, to: UnsafeRawBufferPointer($0)) }
    case .table(let table): try setReference(index, to: table.reference, for: state)
    case .function(let function): try setReference(index, to: function.reference, for: state)
    case .userdata(let userdata): try setReference(index, to: userdata.reference, for: state)
    case .thread(let thread): try setReference(index, to: thread.reference, for: state)
    case .object(let object): try setObject(index, to: object.object, type: object.type, for: state)
    }
  }

  func setNil(_ index: Int) { values[index].tag = .nil }

  func setBoolean(_ index: Int, to flag: Bool) {
    values[index].tag = .boolean
    values[index].integer = flag ? 1 : 0
  }

  func setInteger(_ index: Int, to integer: Int64) {
    values[index].tag = .integer
    values[index].integer = integer
  }

  func setNumber(_ index: Int, to number: Double) {
    values[index].tag = .number
    values[index].number = number
  }

  /// Copies the bytes.
  func setBytes(_ index: Int, to source: UnsafeRawBufferPointer) {
    if byteCount + source.count > byteCapacity { grow(byteCount + source.count) }
    if let base = source.baseAddress { (bytes + byteCount).copyMemory(from: base, byteCount: source.count) }
    values[index].tag = .string
    values[index].integer = Int64(byteCount)  // an offset until `seal`, since the bytes may move
    values[index].length = UInt64(source.count)
    // The entry may hold anything from before; an unreset flag would mark the bytes as borrowed.
    values[index].extra = 0
    byteCount += source.count
    hasBytes = true
    holdsMore.pointee = true
  }

  /// Sets a value to the bytes of an inline value. The type is in the length's place.
  func setInline(_ index: Int, to bytes: UnsafeRawBufferPointer, of type: OpaquePointer) {
    setBytes(index, to: bytes)
    values[index].tag = .inline
    values[index].length = UInt64(UInt(bitPattern: type))
  }

  /// The reference stays alive until `clear`.
  func setReference(_ index: Int, to reference: LuaReference, for state: LuaState) throws(LuaError) {
    let place = try reference.index(in: state)
    anchors.append(reference)
    holdsMore.pointee = true
    values[index].tag = .reference
    values[index].integer = Int64(place)
  }

  /// Throws `.foreign` for a type that is not registered in the state.
  func setObject(
    _ index: Int, to object: AnyObject, type: LuaAnyHostType, scoped: Bool = false, for state: LuaState
  ) throws(LuaError) {
    let plainType = try type.registered(in: state)
    if type.withInlineBytes(of: object, { setInline(index, to: $0, of: plainType) }) { return }
    anchors.append(object)
    holdsMore.pointee = true
    values[index] = try type.plain(object, scoped: scoped, in: state)
  }

  /// Turns offsets into addresses, after the last value was set. Only the first `count` places are changed.
  func seal(_ count: Int) {
    guard hasBytes else { return }
    for index in 0..<count where values[index].holdsOffset {
      values[index].pointer = UnsafeRawPointer(bytes + Int(values[index].integer))
    }
  }

  /// At least doubles the room.
  private func grow(_ needed: Int) {
    let larger = max(byteCapacity * 2, needed)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 1)
    moved.copyMemory(from: bytes, byteCount: byteCount)
    bytes.deallocate()
    bytes = moved
    byteCapacity = larger
  }
}

extension MBLValue {
  /// Whether the bytes are in the buffer: an unborrowed string or an inline value.
  fileprivate var holdsOffset: Bool { tag == .inline || tag == .string && extra != MBL_BORROWED }
}
