// Puts files in place completely, and never over content that nothing has read. A rename over the present file would destroy what a program
// has put there since the last check, because Node has no call that exchanges two files. So the present file is first moved aside, and the
// new one takes the name only if it is still free; for microseconds there is no file. The moved file is read once more later, because a
// program that had it open may have written into it.
import type { FolderFiles } from './folder-files.ts'
import { nameOf } from './task-file.ts'

/** In which files wait: below the folder itself, so that renames stay within the file system. */
export const stagingFolder = '.errand'
const refusedFolder = 'refused'
const oldName = /^([1-9]\d{0,14})-.*\.old$/

export class Staging {
  readonly files: FolderFiles
  readonly #id: string
  #drawn = 0

  /** `id`: of one writer, which makes its names unique. */
  constructor(files: FolderFiles, id: string) {
    this.files = files
    this.#id = id
  }

  /**
   * Replaces a file that has the content `known` (null: there is no file) with `text` (null: with nothing). Not `done`: the file has another
   * content. `old`: where the former file has been moved.
   */
  put(name: string, number: number, text: string | null, known: string | null): { done: boolean; old?: string } {
    const { files } = this
    const state = files.read(name)
    if ((state.kind === 'none' ? null : state.kind === 'text' ? state.text : undefined) !== known)
      return { done: false }
    const path = `${stagingFolder}/${number}-${this.#id}-${++this.#drawn}`
    const [fresh, old] = [`${path}.new`, `${path}.old`]
    if (text !== null) files.create(fresh, text)
    const isMoved = known !== null && files.rename(name, old)
    const done = known !== null && !isMoved ? false : text === null || this.#place(fresh, name)
    files.remove(fresh)
    return isMoved ? { done, old } : { done }
  }

  #place(from: string, name: string): boolean {
    const linked = this.files.link(from, name)
    // Without hard links, another program can still take the name between these two calls.
    return linked === 'unknown'
      ? this.files.mark(name) === undefined && this.files.rename(from, name)
      : linked === 'done'
  }

  /** Removes what dead writers have left: deletes the new files that were never put in place, and returns the old ones. */
  clear(): Array<{ name: string; number: number }> {
    const old: Array<{ name: string; number: number }> = []
    for (const name of this.files.list(stagingFolder)) {
      const match = oldName.exec(name)
      if (match !== null) old.push({ name: `${stagingFolder}/${name}`, number: Number(match[1]) })
      else if (/\.(?:new|old)$/.test(name)) this.files.remove(`${stagingFolder}/${name}`)
    }
    return old
  }
}

/**
 * Keeps a copy of a text, once for the same text; returns its path relative to the folder.
 * @throws ErrandError INVALID_INPUT when a file has the name of the folder for copies.
 */
export function keepCopy(files: FolderFiles, number: number, text: string): string {
  files.makeFolder(refusedFolder)
  for (let count = 1; ; count++) {
    const name = `${refusedFolder}/${nameOf(number).replace('.json', `.refused-${count}.json`)}`
    if (files.create(name, text)) return name
    const there = files.read(name)
    if (there.kind === 'text' && there.text === text) return name
  }
}
