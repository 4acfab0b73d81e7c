import MoonbaseGraph
import MoonbaseModel

extension ManagedObjectContext {
  /// Changes made by a meddling hook: deletes the first project, removes another from its department and reverses the
  /// order of the rest.
  func disturbProjects() throws {
    let projects = try fetch(FetchRequest("Project"))
    if let first = projects.first { try delete(first) }
    if let last = projects.last, !last.isDeleted { try last.setObject(nil, forKey: "department") }
    for department in try fetch(FetchRequest("Department")) {
      try department.setObjects(department.objects(forKey: "projects").reversed(), forKey: "projects")
    }
  }
}
