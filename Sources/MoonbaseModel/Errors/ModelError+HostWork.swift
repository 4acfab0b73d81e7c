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

  private static func charge(_ units: Int) throws(ModelError) {
    guard HostWork.mustEnd(after: units) else { return }
    let end = HostWork.end
    throw ModelError(end.isInterruption ? .interrupted : .limitExceeded, message: "\(end.error)")
  }
}
