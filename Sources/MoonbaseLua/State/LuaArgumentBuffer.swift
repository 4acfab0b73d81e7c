import MoonbaseLuaShim
import MoonbasePlatform

/// A buffer of plain values to be passed to Lua, with the bytes of their strings.
final class LuaArgumentBuffer {
  private(set) var values: UnsafeMutablePointer<MBLValue>
  private var capacity: Int
  private var bytes: UnsafeMutableRawPointer
  private var byteCapacity: Int
  private var byteCount = 0
  /// Whether the buffer has strings, or values whose bytes are copied.
  private var hasBytes = false
  /// Whether the buffer has values besides scalars. Stored behind a pointer, because fast calls read it.
  let holdsMore: UnsafeMutablePointer<Bool>
  /// Objects and references that must live until the call.
  private var anchors: [AnyObject] = []

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

  func clear() {
    holdsMore.pointee = false
    byteCount = 0
    hasBytes = false
    if !anchors.isEmpty { anchors.removeAll(keepingCapacity: true) }
  }

  func reserve(_ count: Int) {
    guard count > capacity else { return }
    values.deallocate()
    values = .allocate(capacity: count)
    capacity = count
  }

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

  /// Sets a value to the bytes of an inline value.
  func setInline(_ index: Int, to bytes: UnsafeRawBufferPointer, of type: OpaquePointer) {
    setBytes(index, to: bytes)
    values[index].tag = .inline
    values[index].length = UInt64(UInt(bitPattern: type))
  }

  func setReference(_ index: Int, to reference: LuaReference, for state: LuaState) throws(LuaError) {
    let place = try reference.index(in: state)
    anchors.append(reference)
    holdsMore.pointee = true
    values[index].tag = .reference
    values[index].integer = Int64(place)
  }

  func setObject(
    _ index: Int, to object: AnyObject, type: LuaAnyHostType, scoped: Bool = false, for state: LuaState
  ) throws(LuaError) {
    let plainType = try type.registered(in: state)
    if type.withInlineBytes(of: object, { setInline(index, to: $0, of: plainType) }) { return }
    anchors.append(object)
    holdsMore.pointee = true
    values[index] = try type.plain(object, scoped: scoped, in: state)
  }

  /// Turns offsets into addresses, after the last value was set.
  func seal(_ count: Int) {
    guard hasBytes else { return }
    for index in 0..<count where values[index].holdsOffset {
      values[index].pointer = UnsafeRawPointer(bytes + Int(values[index].integer))
    }
  }

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
