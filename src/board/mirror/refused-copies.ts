// Edits that were refused, kept as they were beside the files: in a folder of their own, and never over an earlier one.
import { nameOf } from './file-name.ts'
import type { Desk } from './write-file.ts'

export const refusedFolder = 'refused'

/**
 * Keeps a text; the name of the copy, relative to the folder. The same text is kept once.
 * @throws ErrandError INVALID_INPUT when something that is no folder has the folder's name.
 */
export function keepCopy(desk: Desk, number: number, text: string, version: number): string {
  const { files } = desk
  files.makeFolder(refusedFolder)
  const fresh = desk.newName(number)
  files.create(fresh, text)
  try {
    for (let count = 1; ; count++) {
      const name = `${refusedFolder}/${copyName(number, version, count)}`
      const linked = files.link(fresh, name)
      if (linked === 'done') return name
      const there = files.look(name, true)
      if (there.kind === 'text' && there.text === text) return name
      if (linked === 'unknown' && there.kind === 'none' && files.rename(fresh, name)) return name
    }
  } finally {
    files.remove(fresh)
  }
}

function copyName(number: number, version: number, count: number): string {
  const again = count === 1 ? '' : `-${count}`
  return nameOf(number).replace('.json', `.refused-${version}${again}.json`)
}
