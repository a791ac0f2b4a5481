// The abilities with which an agent looks at local files: fs:list, fs:read, fs:search. They only read, only text, and only in
// one folder. An engine has them when it is given them.
import { FilesRoot } from './files-root.ts'
import { fsList } from './list.ts'
import { fsRead } from './read.ts'
import { fsSearch } from './search.ts'

/**
 * Read-only abilities over one folder, for `createEngine({ abilities })`. What lies outside of it (links that lead out
 * included) and whatever is hidden (a name with a leading dot, or inside such a folder) cannot be reached; files of more than
 * 4 MiB and files that are no UTF-8 text are not read.
 *
 * @example
 * const engine = await createEngine({ model, abilities: fileAbilities('docs') })
 * @param folder relative to the working directory of the process, or absolute.
 * @throws ErrandError NOT_FOUND { folder } when there is no such folder.
 */
export function fileAbilities(folder: string) {
  const root = new FilesRoot(folder)
  return [fsList(root), fsRead(root), fsSearch(root)]
}
