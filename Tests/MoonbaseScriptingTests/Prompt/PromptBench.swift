import MoonbaseGraph
import MoonbaseLua
import MoonbaseScripting

/// A prompt over the model of `ScriptBench`, with one person.
final class PromptBench {
  let bench: ScriptBench
  let prompt: ScriptPrompt
  let context: ManagedObjectContext
  private var line = 0

  init(extensions: [String] = [ScriptBench.colors], limits: LuaLimits = LuaLimits()) throws {
    bench = try ScriptBench(extensions: extensions)
    let domain = try ScriptDomain(limits: limits)
    context = ManagedObjectContext(bench.coordinator, extensionRegistry: try bench.extensions.makeRegistry(in: domain))
    try domain.setContext(context)
    prompt = try ScriptPrompt(domain, name: "input")
    prompt.notesUndo(levels: 10)
  }

  deinit { prompt.domain.close() }

  /// The reply to an input: its values in the form of `tostring`, the message of an error, or "incomplete".
  func enter(_ input: String) throws -> String {
    line += 1
    var texts: [String] = []
    switch prompt.read(Array(input.utf8), firstLine: line) {
    case .incomplete: return "incomplete"
    case .refused(let message): return message
    case .chunk(let chunk):
      let ending = prompt.run(chunk) { values in texts = try values.map(prompt.domain.text) }
      _ = prompt.ending { _ = try prompt.endUndoGroup(named: input) }
      switch ending {
      case .done(let notice): return notice ?? texts.joined(separator: " ")
      case .failed(_, let message): return message
      case .exit(let status): return "exit \(status)"
      }
    }
  }
}
