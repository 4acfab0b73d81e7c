import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A listing of model items by name, in the model's order. The description of an item is built on first access.
///
/// `moonbase.model.entities` and the lists within an entity are such listings. Scripts cannot write to them; `pairs`
/// goes through the names in the model's order and `#` counts them.
final class ModelListing {
  /// The start of the message about unknown names.
  private let subject: String
  /// The names, in the model's order.
  let names: [String]
  private let allNames: Set<String>
  /// Builds the description of an item.
  private let describe: (String, ScriptDomain) throws -> LuaValue
  /// The descriptions that were built, by name.
  private var known: [String: LuaValue] = [:]

  /// `subject` begins the error about an unknown name: `Person has no attribute`.
  init(_ subject: String, names: [String], _ describe: @escaping (String, ScriptDomain) throws -> LuaValue) {
    self.subject = subject
    self.names = names
    allNames = Set(names)
    self.describe = describe
  }

  /// The estimated bytes: the names, and an entry for each.
  var weight: Int { names.reduce(512) { $0 + 160 + $1.utf8.count } }

  /// The description of an item. Throws `.unknownName`, with a suggestion, for other names.
  func entry(_ name: String, in domain: ScriptDomain) throws -> LuaValue {
    if let entry = known[name] { return entry }
    guard allNames.contains(name) else {
      throw ScriptError(.unknownName, message: "\(subject) \(name)\(suggestion(for: name, among: names))")
    }
    let entry = try describe(name, domain)
    known[name] = entry
    return entry
  }
}

extension HostTypes {
  /// `listing.NAME`, `pairs(listing)` and `#listing`.
  func describeListing() {
    listing.missing { [unowned self] listing, key, writing, call in
      guard !writing else {
        throw ScriptError(.invalidRequest, message: "a script cannot change the model: \(key) is only read")
      }
      try call.return(try listing.entry(key, in: openDomain()))
    }
    listing.operator(.length) { call in call.return(try call.object(0, as: ModelListing.self).names.count) }
    listing.operator(.pairs) { [unowned self] call in
      let listing = try call.object(0, as: ModelListing.self)
      var rest = listing.names[...]
      try call.return(
        try openDomain().state.function { [unowned self] call in
          guard let name = rest.popFirst() else { return call.returnNil() }
          call.return(name)
          try call.return(try listing.entry(name, in: openDomain()))
        })
    }
  }
}
