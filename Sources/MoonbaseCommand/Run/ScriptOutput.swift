import MoonbasePlatform

/// What scripts print, gathered before it is written; on a terminal every line is shown at once.
final class ScriptOutput {
  private static let size = 64 << 10
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private var gathered: [UInt8] = []

  func write(_ bytes: UnsafeRawBufferPointer, isError: Bool) {
    if isError {
      flush()
      put(bytes, to: STDERR_FILENO)
    } else {
      gathered += bytes
      if gathered.count >= Self.size || isTerminal && bytes.last == UInt8(ascii: "\n") { flush() }
    }
  }

  func flush() {
    gathered.withUnsafeBytes { put($0, to: STDOUT_FILENO) }
    gathered.removeAll(keepingCapacity: true)
  }

  private func put(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = MoonbasePlatform.write(descriptor, part.baseAddress, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
