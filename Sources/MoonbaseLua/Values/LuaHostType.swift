import MoonbaseLuaShim

/// Describes host objects of a class to a state: their properties, methods and operators.
///
/// ```swift
/// let point = LuaHostType<Point>("Point")
/// point.properties(["x", "y"], get: { point, slot, call in call.return(slot == 0 ? point.x : point.y) })
/// point.method("length") { point, call in call.return(point.length) }
/// point.operator(.add) { call in ... }
/// try state.register(point)
/// try state.setGlobal("origin", to: .object(LuaObject(Point(), as: point)))
/// ```
///
/// Reading a property costs a table lookup of its slot and a closure call. Several types may describe the same class,
/// such as a type per entity. The state retains a registered type, so closures must not capture the state strongly.
public final class LuaHostType<Object: AnyObject>: LuaAnyHostType {
  /// Reads the property of a slot and returns it with `call.return`.
  public typealias Getter = (_ object: Object, _ slot: Int, _ call: inout LuaCall) throws -> Void
  /// Writes the property of a slot. The new value is argument 0 of the call.
  public typealias Setter = (_ object: Object, _ slot: Int, _ call: inout LuaCall) throws -> Void

  /// Whether each object has a single handle.
  let isInterned: Bool
  /// Reads the properties of `properties(_:get:set:)`.
  private var bulkGetter: Getter?
  /// Writes them; nil if they are read-only.
  private var bulkSetter: Setter?
  /// The number of these properties; further slots have closures of their own.
  private var bulkCount = 0
  /// By slot minus `bulkCount`.
  private var getters: [Getter] = []
  /// By slot minus `bulkCount`; nil for a read-only property.
  private var setters: [Setter?] = []
  /// Handles unknown names.
  private var missingHandler: ((Object, String, Bool, inout LuaCall) throws -> Void)?

  /// Creates a type. With `interned` each object has a single handle, so that `==` and table keys work by identity.
  public init(_ name: String, interned: Bool = true) {
    isInterned = interned
    super.init(name)
  }

  /// Adds properties that share a getter and a setter. A slot is an index in `names`. Call it at most once, before
  /// `property`.
  public func properties(_ names: [String], get: @escaping Getter, set: Setter? = nil) {
    precondition(slots.isEmpty, "properties(_:) comes first, and once")
    slots = names
    bulkCount = names.count
    bulkGetter = get
    bulkSetter = set
  }

  /// Adds a property with a getter, and with a setter if it can be assigned.
  ///
  /// ```swift
  /// account.property("balance", get: { account, call in call.return(account.balance) },
  ///                  set: { account, call in account.balance = try call.number(0) })
  /// ```
  public func property(
    _ name: String, get: @escaping (Object, inout LuaCall) throws -> Void,
    set: ((Object, inout LuaCall) throws -> Void)? = nil
  ) {
    slots.append(name)
    getters.append { object, _, call in try get(object, &call) }
    setters.append(set.map { set in { object, _, call in try set(object, &call) } })
  }

  /// Adds a method. The object is not among the arguments of the call. More than `greatestCount` arguments are errors,
  /// unless they are nil.
  public func method(
    _ name: String, upTo greatestCount: Int = .max, _ body: @escaping (Object, inout LuaCall) throws -> Void
  ) {
    methods[name] = LuaMethod(name, of: self.name, upTo: greatestCount, body) { call in
      call.objectIfPresent(0, as: Object.self)
    }
  }

  /// Handles names that are neither property nor method, which are errors otherwise. Argument 0 of the call is the key;
  /// if `writing`, argument 1 is the value.
  ///
  /// ```swift
  /// type.missing { object, key, writing, call in call.return(object.extras[key] ?? "") }
  /// ```
  public func missing(_ body: @escaping (Object, _ key: String, _ writing: Bool, inout LuaCall) throws -> Void) {
    missingHandler = body
  }

  /// Sets a function that returns the bytes that an object retains, called when it is passed to Lua. Otherwise
  /// `usualWeight` applies. For an object that grows later, call `LuaState.weigh`.
  public func weight(_ body: @escaping (Object) -> Int) {
    weigher = { [usualWeight] object in (object as? Object).map(body) ?? usualWeight }
  }

  // MARK: After it was registered

  /// Adds a property to a type that scripts may already use. A property that existed before is replaced.
  package func learn(
    _ name: String, get: @escaping (Object, inout LuaCall) throws -> Void,
    set: ((Object, inout LuaCall) throws -> Void)? = nil, in state: LuaState
  ) throws(LuaError) {
    let known = slots.lastIndex(of: name)
    if known == nil { property(name, get: get, set: set) }
    guard let plainType else { return }
    try state.check(mbl_type_add_slot(plainType, name, name.utf8.count, Int32(known ?? slots.count - 1)))
  }

  // MARK: From Lua

  override func makePlainType(_ owner: UnsafeMutableRawPointer, in state: LuaState) -> OpaquePointer? {
    mbl_type_new(state.raw, owner, name, isInterned)
  }

  override func get(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 {
    Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef { object in
      var call = LuaCall(frame, offset: 2)
      do {
        if slot < bulkCount {
          try bulkGetter?(object, slot, &call)
        } else {
          try getters[slot - bulkCount](object, slot, &call)
        }
        return 0
      } catch {
        return call.fail(error)
      }
    }
  }

  override func set(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 {
    LuaCall.answer(frame, offset: 2) { call in
      guard let setter = slot < bulkCount ? bulkSetter : setters[slot - bulkCount] else { throw readOnly(slot) }
      try Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef { try setter($0, slot, &call) }
    }
  }

  override func missing(
    _ address: UnsafeMutableRawPointer, _ key: String, writing: Bool, _ call: inout LuaCall
  ) throws {
    guard let missingHandler else { return try super.missing(address, key, writing: writing, &call) }
    try Unmanaged<Object>.fromOpaque(address)._withUnsafeGuaranteedRef { try missingHandler($0, key, writing, &call) }
  }
}

extension LuaState {
  /// Registers a type, so that scripts of this state can hold its objects. The type cannot be changed afterwards.
  ///
  /// ```swift
  /// try state.register(person)
  /// try state.setGlobal("person", to: .object(LuaObject(scarlet, as: person)))
  /// ```
  /// Throws `.foreign` for a type that is already registered, and `.memory`.
  public func register(_ type: LuaAnyHostType) throws(LuaError) {
    guard type.plainType == nil else { throw LuaError(.foreign, message: "\(type.name) is already registered") }
    let owner = Unmanaged<LuaAnyHostType>.passUnretained(type).toOpaque()
    guard let plainType = type.makePlainType(owner, in: self) else {
      throw LuaError(.memory, message: "not enough memory")
    }
    for (slot, name) in type.slots.enumerated() {
      try check(mbl_type_add_slot(plainType, name, name.utf8.count, Int32(slot)))
    }
    for (name, method) in type.methods where !type.slots.contains(name) {
      try check(mbl_type_add_method(plainType, name, name.utf8.count, Unmanaged.passUnretained(method).toOpaque()))
    }
    for (name, function) in type.operators {
      try check(mbl_type_add_operator(plainType, name, Unmanaged.passUnretained(function).toOpaque()))
    }
    if let reader = type.reader { mbl_type_set_reader(plainType, reader.read, reader.context) }
    type.plainType = plainType
    type.link = link
  }

  /// Registers a type when its first object is passed to Lua. `describe` is called then, and adds its properties and
  /// methods.
  ///
  /// ```swift
  /// state.registerLater(person) { [unowned person] in
  ///   person.property("name", get: { person, call in call.return(person.name) })
  /// }
  /// ```
  /// Nothing is described if no object of the type is ever used.
  public func registerLater(_ type: LuaAnyHostType, describe: @escaping () -> Void) {
    type.link = link
    var describe: (() -> Void)? = describe
    type.registration = { [unowned self, unowned type] () throws(LuaError) in
      describe?()
      describe = nil
      try register(type)
    }
  }
}
