import MoonbasePlatform

extension ModelError {
  /// What an entity of a model costs at each step of opening it, in units of work.
  private static let entityUnits = 100

  /// What a property costs there.
  private static let propertyUnits = 20

  /// Counts an entity that is looked at. Throws `.limitExceeded`, or `.interrupted`, if that is done for a script whose run must
  /// end.
  package static func chargeEntity() throws(ModelError) { try charge(entityUnits) }

  /// Counts a property that is read or checked, the same way.
  package static func chargeProperty() throws(ModelError) { try charge(propertyUnits) }

  /// Counts units of work, the same way.
  package static func charge(_ units: Int = 1) throws(ModelError) {
    if HostWork.mustEnd(after: units) { throw ending }
  }

  /// The error of work for a script whose run must end.
  fileprivate static var ending: ModelError {
    let end = HostWork.end
    return ModelError(end.isInterruption ? .interrupted : .limitExceeded, message: "\(end.error)")
  }
}

extension HostMemory {
  /// Counts bytes for what throws errors of models only.
  mutating func holdForModel(_ bytes: Int) throws(ModelError) {
    do { try hold(bytes) } catch { throw ModelError.ending }
  }

  /// Asks whether there is room for bytes, the same way.
  static func requireForModel(_ bytes: Int) throws(ModelError) {
    do { try require(bytes) } catch { throw ModelError.ending }
  }
}
