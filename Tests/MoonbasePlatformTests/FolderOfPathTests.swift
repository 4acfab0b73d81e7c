import MoonbasePlatform
import Testing

@Suite("The folder of a path")
struct FolderOfPathTests {
  @Test(arguments: [
    ("name", "."), ("", "."), ("/name", "/"), ("/", "/"), ("a/name", "a"), ("/a/b/name", "/a/b"), ("a/b/", "a/b"),
    ("../name", ".."), ("./name", "."), ("a//name", "a/"), ("é/\u{301}name", "é"),
  ])
  func folder(path: String, folder: String) { #expect(Array(path.folderOfPath.utf8) == Array(folder.utf8)) }
}
