// How a file is written: whole or not at all, and never over something that nobody has read. A new text is made under a name of
// its own and takes the file's name in one motion, so whoever reads finds the old text or the new one.
//
// What an edit in that very moment comes to: one that writes into the old file (in place, or through a handle that was opened
// before) is found, because the old file keeps a second name for a while and is looked at again. One that puts another file in its
// place is found as long as that happens before the last look; between that look and the motion lie a few microseconds in which it
// would be replaced unread, for no call that Node offers exchanges two files. So where somebody in the folder may be replacing
// files, a file is written the other way round: whatever is there is moved aside first, then the new text takes the name, if
// nobody else has. Nothing is ever lost by that, but for those microseconds the file is not there at all.
import { type FolderFiles, inodeIn, type Look } from './folder-files.ts'

/** Where new and old files have their names meanwhile: below the folder itself, so that no motion leaves the file system. */
export interface Staging {
  readonly files: FolderFiles
  /** Names that nobody else uses. */
  newName(number: number): string
  oldName(number: number): string
}

/** The desk of one writer: its names, which begin alike, are nobody else's. */
export function createStaging(files: FolderFiles, id: string, beginning: string): Staging {
  let drawn = 0
  const draw = (number: number): string => `${beginning}${number}-${id}-${++drawn}`
  return { files, newName: (number) => `${draw(number)}.new`, oldName: (number) => `${draw(number)}.old` }
}

export type Written =
  /** `old`: the second name of the file that was there; undefined where there was none, or no second names are to be had. */
  | { kind: 'written'; old: string | undefined }
  /** `old`: a file that was taken away and could not be put back, for another has its name by now. */
  | { kind: 'changed'; old?: string }

/** How a file that is there gives way: in one motion, or moved aside first, which loses nothing to those who replace it as well. */
export type WriteMode = 'in one motion' | 'moved aside'

/**
 * Replaces a file that says `known`, or makes one where there is none (null). 'changed': something else is there, and stays. A file
 * that is moved aside is not read before: whoever looks at the old one finds what it said in the end.
 */
export function writeFile(
  desk: Staging,
  name: string,
  number: number,
  text: string,
  known: string | null,
  manner: WriteMode = 'in one motion',
): Written {
  const { files } = desk
  const fresh = desk.newName(number)
  files.create(fresh, text)
  const written =
    known === null
      ? place(desk, fresh, name)
      : manner === 'moved aside'
        ? exchange(desk, fresh, name, number)
        : replace(desk, fresh, name, number, known)
  files.remove(fresh)
  return written
}

function exchange(desk: Staging, fresh: string, name: string, number: number): Written {
  const old = desk.oldName(number)
  if (!desk.files.rename(name, old)) return { kind: 'changed' }
  return { kind: place(desk, fresh, name).kind, old }
}

function place({ files }: Staging, fresh: string, name: string): Written {
  const linked = files.link(fresh, name)
  if (linked === 'done') return { kind: 'written', old: undefined }
  if (linked !== 'unknown' || files.mark(name) !== undefined) return { kind: 'changed' }
  return files.rename(fresh, name) ? { kind: 'written', old: undefined } : { kind: 'changed' }
}

function replace(desk: Staging, fresh: string, name: string, number: number, known: string): Written {
  const { files } = desk
  const old = desk.oldName(number)
  const linked = files.link(name, old)
  if (linked === 'gone' || linked === 'taken') return { kind: 'changed' }
  const second = linked === 'done' ? old : undefined
  const look = files.look(second ?? name, true)
  const moved = saysOnly(look, known) && isSameFile(look, files.mark(name)) && files.rename(fresh, name)
  if (moved) return { kind: 'written', old: second }
  if (second !== undefined) files.remove(second)
  return { kind: 'changed' }
}

/** Takes a file away that says `known`. 'changed': something else is there, and stays. */
export function takeAway(desk: Staging, name: string, number: number, known: string): Written {
  const { files } = desk
  const old = desk.oldName(number)
  // Out of the way first: what is looked at then cannot be replaced any more.
  if (!files.rename(name, old)) return { kind: 'changed' }
  if (saysOnly(files.look(old, true), known)) return { kind: 'written', old }
  return putBack(files, old, name) ? { kind: 'changed' } : { kind: 'changed', old }
}

function putBack(files: FolderFiles, old: string, name: string): boolean {
  const linked = files.link(old, name)
  if (linked === 'unknown' && files.mark(name) === undefined) return files.rename(old, name)
  if (linked === 'done') files.remove(old)
  return linked === 'done'
}

function saysOnly(look: Look, text: string): boolean {
  return look.kind === 'text' && look.text === text
}

function isSameFile(look: Look, mark: string | undefined): boolean {
  return look.kind === 'text' && inodeIn(mark) === inodeIn(look.mark)
}
