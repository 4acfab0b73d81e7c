import MoonbaseLuaShim

/// Describes host objects to one state: properties by slot, methods, operators.
///
/// Property names are interned once, per type, to slot numbers; reading one costs a table look and one closure call. There
/// may be many types over one class, such as one per entity.
///
/// ```swift
/// let point = LuaHostType<Point>("Point")
/// point.properties(["x", "y"], get: { point, slot, call in call.return(slot == 0 ? point.x : point.y) })
/// point.method("length") { point, call in call.return(point.length) }
/// point.operator(.add) { call in ... }
/// try state.register(point)
/// try state.setGlobal("origin", .object(LuaObject(Point(), as: point)))
/// ```
///
/// Closures must not capture the state strongly: it owns the type once that is registered.
public final class LuaHostType<Object: AnyObject>: LuaAnyHostType {
  /// Reads the property of a slot: return it with `call.return`.
  public typealias Getter = (_ object: Object, _ slot: Int, _ call: inout LuaCall) throws -> Void
  /// Writes the property of a slot: the new value is argument 0.
  public typealias Setter = (_ object: Object, _ slot: Int, _ call: inout LuaCall) throws -> Void

  let isInterned: Bool
  private(set) var slots: [String] = []
  private(set) var methods: [String: LuaHostFunction] = [:]
  private(set) var operators: [LuaOperator: LuaHostFunction] = [:]
  private var bulkGetter: Getter?
  private var bulkSetter: Setter?
  private var bulkCount = 0
  private var getters: [Getter] = []
  private var setters: [Setter?] = []
  /// What to say about a name that the type has not, behind the message.
  package var advice: ((String) -> String)?
  private var missingHandler: ((Object, String, Bool, inout LuaCall) throws -> Void)?

  /// A type; with `interned` one object has one handle, so that `==` and table keys work by identity.
  public init(_ name: String, interned: Bool = true) {
    isInterned = interned
    super.init(name)
  }

  /// Properties that one getter and one setter serve; slots are their places in the list. Once, before `property`.
  public func properties(_ names: [String], get: @escaping Getter, set: Setter? = nil) {
    precondition(slots.isEmpty, "properties(_:) comes first, and once")
    slots = names
    bulkCount = names.count
    bulkGetter = get
    bulkSetter = set
  }

  /// One property with a getter, and a setter if it can be assigned.
  public func property(
    _ name: String, get: @escaping (Object, inout LuaCall) throws -> Void,
    set: ((Object, inout LuaCall) throws -> Void)? = nil
  ) {
    slots.append(name)
    getters.append { object, _, call in try get(object, &call) }
    setters.append(set.map { set in { object, _, call in try set(object, &call) } })
  }

  /// A method; the object is not among the arguments, of which there may be so many. More are refused, but for nil.
  public func method(
    _ name: String, upTo greatestCount: Int = .max, _ body: @escaping (Object, inout LuaCall) throws -> Void
  ) {
    methods[name] = LuaMethod(name, of: self.name, upTo: greatestCount, body)
  }

  /// An operator; both operands are among the arguments, in their order.
  public func `operator`(_ operator: LuaOperator, _ body: @escaping (inout LuaCall) throws -> Void) {
    operators[`operator`] = LuaClosure(operator: `operator`, body)
  }

  /// Asked for names that are neither property nor method; when `writing`, argument 1 is the value. Without this they are
  /// errors. Argument 0 is the key.
  public func missing(_ body: @escaping (Object, _ key: String, _ writing: Bool, inout LuaCall) throws -> Void) {
    missingHandler = body
  }

  /// All properties and methods, in the order in which properties were added.
  package var names: [String] { slots + methods.keys.sorted() }

  /// How many bytes an object keeps alive, asked when it is handed over; else `usualWeight` is taken. What grows later tells
  /// `LuaState.weigh`.
  public func weight(_ body: @escaping (Object) -> Int) {
    weigher = { [usualWeight] object in (object as? Object).map(body) ?? usualWeight }
  }

  // MARK: From Lua

  override func get(
    _ object: UnsafeMutableRawPointer, _ slot: Int, _ frame: UnsafeMutablePointer<MBLFrame>
  ) -> Int32 {
    Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef { object in
      LuaCall.answer(frame, offset: 2) { call in
        if slot < bulkCount {
          try bulkGetter?(object, slot, &call)
        } else {
          try getters[slot - bulkCount](object, slot, &call)
        }
      }
    }
  }

  override func set(
    _ object: UnsafeMutableRawPointer, _ slot: Int, _ frame: UnsafeMutablePointer<MBLFrame>
  ) -> Int32 {
    Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef { object in
      LuaCall.answer(frame, offset: 2) { call in
        guard let setter = slot < bulkCount ? bulkSetter : setters[slot - bulkCount] else {
          throw LuaError(.runtime, "'\(slots[slot])' of \(name) cannot be assigned")
        }
        try setter(object, slot, &call)
      }
    }
  }

  override func missing(
    _ object: UnsafeMutableRawPointer, _ writing: Bool, _ frame: UnsafeMutablePointer<MBLFrame>
  ) -> Int32 {
    Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef { object in
      LuaCall.answer(frame, offset: 1) { call in
        let key = try call.keyText(0)
        if let missingHandler { return try missingHandler(object, key, writing, &call) }
        if writing, methods[key] != nil { throw LuaError(.runtime, "method '\(key)' of \(name) cannot be assigned") }
        throw LuaError(.runtime, "\(name.withArticle) has no '\(key)'\(advice?(key) ?? "")")
      }
    }
  }
}

extension LuaState {
  /// Makes a type known to this state; it cannot be changed after.
  public func register<Object: AnyObject>(_ type: LuaHostType<Object>) throws(LuaError) {
    guard type.plainType == nil else { throw LuaError(.foreign, "\(type.name) is already registered") }
    let owner = Unmanaged<LuaAnyHostType>.passUnretained(type).toOpaque()
    guard let plainType = mbl_type_new(raw, owner, type.name, type.isInterned) else {
      throw LuaError(.memory, "not enough memory")
    }
    for (slot, name) in type.slots.enumerated() {
      try check(mbl_type_add_slot(plainType, name, name.utf8.count, Int32(slot)))
    }
    for (name, method) in type.methods where !type.slots.contains(name) {
      try check(mbl_type_add_method(plainType, name, name.utf8.count, Unmanaged.passUnretained(method).toOpaque()))
    }
    for (entry, function) in type.operators {
      try check(mbl_type_add_operator(plainType, entry.name, Unmanaged.passUnretained(function).toOpaque()))
    }
    type.plainType = plainType
    type.link = link
  }

  /// Makes a type known to this state as soon as an object of it is handed over; it is described then.
  public func registerLater<Object: AnyObject>(_ type: LuaHostType<Object>, describe: @escaping () -> Void) {
    type.link = link
    type.registration = { [unowned self, unowned type] () throws(LuaError) in
      describe()
      try register(type)
    }
  }
}
