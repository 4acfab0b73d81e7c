import MoonbasePlatform

/// The process that may crash: it records each input before running it, so that the fatal input is known.
struct Worker {
  let target: FuzzTarget
  let note: URL
  /// A single input that takes longer counts as a hang.
  static let patience: UInt32 = 10

  func run(from first: UInt64, until end: ContinuousClock.Instant, atMost count: Int) throws {
    let file = open(note.path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw FuzzFailure("cannot write \(note.path)") }
    defer { close(file) }
    var number = first
    while ContinuousClock.now < end, number - first < count {
      var mutator = Mutator(target, number: number)
      let input = mutator.input()
      input.withUnsafeBytes { bytes in
        _ = ftruncate(file, 0)
        _ = pwrite(file, bytes.baseAddress, bytes.count, 0)
      }
      alarm(Self.patience)
      target.body(input)
      alarm(0)
      number += 1
    }
    print("inputs", number - first)
  }
}

/// The reason why fuzzing could not start.
struct FuzzFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
