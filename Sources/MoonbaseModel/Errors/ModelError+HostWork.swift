import MoonbasePlatform

extension ModelError {
  /// The units of work charged for an entity at each step of opening a model.
  private static let entityUnits = 100

  /// The units of work charged for a property at each step of opening a model.
  private static let propertyUnits = 20

  /// Charges the work for an entity. Throws `.limitExceeded` or `.interrupted` if the script that
  /// needs it must end.
  package static func chargeEntity() throws(ModelError) { try charge(entityUnits) }

  /// Charges the work for a property. Throws as `chargeEntity` does.
  package static func chargeProperty() throws(ModelError) { try charge(propertyUnits) }

  /// Charges units of work. Throws as `chargeEntity` does.
  package static func charge(_ units: Int = 1) throws(ModelError) {
    if HostWork.mustEnd(after: units) { throw ending }
  }

  /// The error that ends the script's run.
  fileprivate static var ending: ModelError {
    let end = HostWork.end
    return ModelError(end.isInterruption ? .interrupted : .limitExceeded, message: "\(end.error)")
  }
}

extension HostMemory {
  /// Charges memory, with the failure as a `ModelError`.
  mutating func holdForModel(_ bytes: Int) throws(ModelError) {
    do { try hold(bytes) } catch { throw ModelError.ending }
  }

  /// Checks that memory is available, with the failure as a `ModelError`.
  static func requireForModel(_ bytes: Int) throws(ModelError) {
    do { try require(bytes) } catch { throw ModelError.ending }
  }
}
