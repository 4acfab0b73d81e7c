import MoonbasePlatform
import Testing

/// The folder of a path.
@Suite struct FolderOfPathTests {
  @Test(arguments: [
    ("name", "."), ("", "."), ("/name", "/"), ("/", "/"), ("a/name", "a"), ("/a/b/name", "/a/b"), ("a/b/", "a/b"),
    ("../name", ".."), ("./name", "."), ("a//name", "a/"), ("é/\u{301}name", "é"),
  ])
  func theFolderOfAPathIsWhatStandsBeforeItsName(path: String, folder: String) {
    #expect(Array(path.folderOfPath.utf8) == Array(folder.utf8))
  }
}
