import MoonbaseLua
import MoonbasePlatform

/// A progress bar on standard error if that is a terminal; otherwise without output.
final class ProgressBox {
  private let total: Int64?
  private let label: String
  private let isVisible: Bool
  /// The job whose progress is shown.
  private weak var job: ScriptJob?
  private let began = Date()
  private var done: Int64 = 0
  private var drawn = Date.distantPast

  init(total: Int64?, label: String, isVisible: Bool, of job: ScriptJob? = nil) {
    self.total = total
    self.label = label
    self.isVisible = isVisible
    self.job = job
    tellJob()
  }

  private func tellJob() {
    guard let job, let total, total > 0 else { return }
    job.progress = min(1, Double(done) / Double(total))
  }

  /// The estimated bytes.
  var weight: Int { 256 + label.utf8.count }

  func advance(_ count: Int64) {
    let (sum, isTooLarge) = done.addingReportingOverflow(count)
    done = isTooLarge ? .max : sum
    tellJob()
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
    let line = ProgressLine(label: label, done: done, total: total, seconds: drawn.timeIntervalSince(began))
    StandardStream.error.write("\r\(line.text)   ")
  }
}

/// The text of a progress bar at a moment.
package struct ProgressLine {
  private let label: String
  private let done: Int64
  private let total: Int64?
  private let seconds: Double

  /// A line for the work done in a time.
  package init(label: String, done: Int64, total: Int64?, seconds: Double) {
    self.label = label
    self.done = done
    self.total = total
    self.seconds = seconds
  }

  /// The line. Its layout does not depend on the numbers.
  package var text: String {
    // A rate beyond the range of integers is shown as the greatest integer.
    let rate = Int64(exactly: (Double(done) / max(seconds, 0.001)).rounded()) ?? .max
    return "\(label): \(done)\(bar)  \(rate)/s"
  }

  private var bar: String {
    guard let total, total > 0 else { return "" }
    let width = 30
    let filled = Int(Double(width) * min(1, max(0, Double(done) / Double(total))))
    return " of \(total) [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))]"
  }
}

extension HostTypes {
  func describeProgress() {
    progress.method("advance", upTo: 1) { box, call in
      let count = call.isNil(0) ? 1 : try call.integer(0)
      guard count >= 0 else { throw call.argumentError(0, problem: "what is done cannot become less") }
      box.advance(count)
    }
    progress.method("finish", upTo: 0) { box, _ in box.finish() }
  }
}
