import MoonbaseGraph
import MoonbaseScripting
import Testing

/// The changes of an input are one undo step.
@Suite struct PromptUndoTests {
  private let bench: PromptBench

  init() throws { bench = try PromptBench() }

  @Test func anInputIsOneStep() throws {
    #expect(try bench.enter("p = moonbase.context:insert('Person', { firstName = 'Ann' })") == "")
    #expect(try bench.enter("p.age = 3 p.lastName = 'Ash' for i = 4, 9 do p.age = i end") == "")
    #expect(try bench.enter("p.age, p.lastName") == "9 Ash")
    #expect(try bench.prompt.undo()?.hasPrefix("p.age = 3") == true)
    #expect(try bench.enter("p.age, p.lastName") == "0 nil")
    #expect(try bench.prompt.redo() != nil)
    #expect(try bench.enter("p.age") == "9")
    #expect(try bench.prompt.undo() != nil)
    #expect(try bench.prompt.undo()?.hasPrefix("p = ") == true)
    #expect(bench.prompt.unsavedCount == 0)
    #expect(try bench.prompt.undo() == nil)
  }

  @Test func anInputThatFailsIsOneToo() throws {
    #expect(try bench.enter("p = moonbase.context:insert('Person', { firstName = 'Ann' })") == "")
    #expect(try bench.enter("p.age = 5 error('no')").hasPrefix("input:2: no"))
    #expect(try bench.enter("p.age") == "5")
    #expect(try bench.prompt.undo()?.hasPrefix("p.age = 5 error") == true)
    #expect(try bench.enter("p.age") == "0")
  }

  @Test func aSaveIsNoEndOfUndoing() throws {
    #expect(try bench.enter("p = moonbase.context:insert('Person', { firstName = 'Ann' })") == "")
    #expect(try bench.prompt.save().count == 1)
    #expect(try bench.enter("p.age = 5") == "")
    #expect(try bench.prompt.save().count == 1)
    #expect(try bench.prompt.undo() == "p.age = 5")
    #expect(try bench.enter("p.age, p.has_changes") == "0 true")
  }

  @Test func undoThatAScriptSwitchedOffIsTold() throws {
    #expect(try bench.enter("moonbase.context.undo_levels = nil") == "")
    let error = #expect(throws: ScriptError.self) { try bench.prompt.undo() }
    #expect(error?.message.contains("context.undo_levels = 50") == true)
    #expect(try bench.enter("moonbase.context.undo_levels = 5") == "")
    #expect(try bench.enter("p = moonbase.context:insert('Person') p.age = 3 p.age = 4") == "")
    #expect(try bench.enter("p.age = 5 p.age = 6") == "")
    #expect(try bench.prompt.undo() == "p.age = 5 p.age = 6")
    #expect(try bench.enter("p.age") == "4")
    #expect(try bench.prompt.undo()?.hasPrefix("p = moonbase") == true)
    #expect(bench.prompt.unsavedCount == 0)
  }

  @Test func aScriptMayUndoByItself() throws {
    #expect(try bench.enter("p = moonbase.context:insert('Person')") == "")
    #expect(try bench.enter("p.age = 5 moonbase.context:undo() return p.age") == "0")
    #expect(try bench.enter("moonbase.context:undo()") == "true")
    #expect(bench.prompt.unsavedCount == 0)
  }
}
