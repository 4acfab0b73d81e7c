import MoonbasePlatform

extension ModelError {
  /// What an entity of a model costs at each step of opening it, in units of work.
  private static let entityUnits = 100

  /// Counts an entity that is looked at. Throws `.limitExceeded`, or `.interrupted`, if that is done for a script whose run must
  /// end.
  static func chargeEntity() throws(ModelError) {
    guard HostWork.mustEnd(after: entityUnits) else { return }
    let end = HostWork.end
    throw ModelError(end.isInterruption ? .interrupted : .limitExceeded, "\(end.error)")
  }
}
