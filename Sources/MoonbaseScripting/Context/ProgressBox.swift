import MoonbaseLua
import MoonbasePlatform

/// A progress bar on standard error, where that is a terminal; nothing elsewhere.
final class ProgressBox {
  private let total: Int64?
  private let label: String
  private let isVisible: Bool
  private let began = Date()
  private var done: Int64 = 0
  private var drawn = Date.distantPast

  init(total: Int64?, label: String, isVisible: Bool) {
    self.total = total
    self.label = label
    self.isVisible = isVisible
  }

  func advance(_ count: Int64) {
    done += count
    guard isVisible, Date().timeIntervalSince(drawn) > 0.1 else { return }
    draw()
  }

  func finish() {
    guard isVisible else { return }
    draw()
    StandardStream.error.write("\n")
  }

  private func draw() {
    drawn = Date()
    let rate = Double(done) / max(drawn.timeIntervalSince(began), 0.001)
    var line = "\r\(label): \(done)"
    if let total, total > 0 {
      let width = 30
      let filled = Int(Double(width) * min(1, Double(done) / Double(total)))
      line += " of \(total) [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))]"
    }
    line += "  \(Int(rate))/s   "
    StandardStream.error.write(line)
  }
}

extension HostTypes {
  func describeProgress() {
    progress.method("advance") { box, call in box.advance(call.isNil(0) ? 1 : try call.integer(0)) }
    progress.method("finish") { box, _ in box.finish() }
  }
}
