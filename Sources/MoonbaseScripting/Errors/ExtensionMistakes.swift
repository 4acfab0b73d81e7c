import MoonbaseModel

/// Collects the mistakes of extensions, so that a single error lists all of them.
///
/// The collector is passed through the whole reading of a generation: declarations, order, added attributes and checks.
/// `finish(_:)` throws at the end. Errors that end the run (limits, interruption) are never collected.
final class ExtensionMistakes {
  /// The most mistakes collected. A reader would not read more, and hostile files could cause millions.
  static let greatestCount = 100

  /// In the order in which they were found.
  private var found: [any CodedError] = []

  /// Whether there are no mistakes.
  var isEmpty: Bool { found.isEmpty }

  /// Adds a mistake, without duplicates. Two mistakes are duplicates if their descriptions are equal. Ignored beyond
  /// `greatestCount`.
  func add(_ mistake: some CodedError) {
    guard found.count < Self.greatestCount, !found.contains(where: { "\($0)" == "\(mistake)" }) else { return }
    found.append(mistake)
  }

  /// Runs a check and collects its mistake. Rethrows an error that ends the run.
  func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as any CodedError where !error.code.endsRun && (error is ScriptError || error is ModelError) {
      add(error)
    }
  }

  /// Runs a step that later checks depend on. Throws its mistake together with those found before. For example, a file
  /// that does not run: nothing further about it can be checked.
  func need<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as any CodedError where !error.code.endsRun && (error is ScriptError || error is ModelError) {
      guard !found.isEmpty else { throw error }
      found.append(error)
      throw combined(by: [])
    }
  }

  /// Throws the mistakes, ordered by file and line. A single mistake is thrown unchanged. `files` are the names of the
  /// files in the order of the extensions. Returns if there are no mistakes.
  func finish(_ files: [String]) throws {
    guard let first = found.first else { return }
    if found.count == 1 { throw first }
    if let ofModel { throw ofModel }
    throw combined(by: files)
  }

  /// The mistakes as a single model error, if all of them concern the model.
  private var ofModel: ModelError? {
    let all = found.compactMap { $0 as? ModelError }
    guard all.count == found.count, var first = all.first else { return nil }
    first.others += all.dropFirst()
    return first
  }

  /// A script error whose `others` are the remaining mistakes, in the order of files, lines and discovery.
  private func combined(by files: [String]) -> ScriptError {
    let order = Dictionary(files.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
    let placed = found.flatMap(Self.mistakes).enumerated().map { index, mistake in
      let file = mistake.location.flatMap { order[$0.file] } ?? files.count
      return (place: (file, mistake.location?.line ?? 0, index), mistake: mistake)
    }
    var all = placed.sorted { $0.place < $1.place }.map(\.mistake)
    var first = all.removeFirst()
    first.others = all
    return first
  }

  /// The single script errors of an error. Errors of a model are converted, with code, place, entity and property.
  private static func mistakes(in error: any CodedError) -> [ScriptError] {
    if let error = error as? ScriptError { return error.all }
    return (error as? ModelError)?.all.map { mistake in
      ScriptError(
        mistake.code, message: mistake.message, at: mistake.location, entity: mistake.entity,
        property: mistake.property)
    } ?? []
  }
}
