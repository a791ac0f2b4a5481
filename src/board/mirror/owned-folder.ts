// What a mirror keeps in its folder beside the files. Which ledger and board the folder belongs to is said below a folder of the
// mirror's own, where new and old files have their names while they change places; that one is no business of git. Edits that were
// refused are kept as they were, never over an earlier one.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import type { FolderFiles } from './folder-files.ts'
import type { MirrorHost } from './mirror-host.ts'
import { nameOf } from './task-file.ts'
import { type Staging, writeFile } from './write-file.ts'

/** Of the desk on which files change places. */
export const deskFolder = '.errand'
const markerName = `${deskFolder}/folder.json`
const ignoreName = `${deskFolder}/.gitignore`
const setting = 'ledgerId'

/** @throws ErrandError KEY_CONFLICT for a folder that belongs to another ledger, or to another board of this one. */
export async function ownFolder(host: MirrorHost, desk: Staging, dir: string, board: string): Promise<void> {
  const ledger = await ledgerId(host)
  desk.files.makeFolder(deskFolder)
  writeFile(desk, ignoreName, 1, '*\n', null)
  // Whoever comes first says whose it is.
  writeFile(desk, markerName, 1, `${JSON.stringify({ ledger, board }, null, 2)}\n`, null)
  const look = desk.files.look(markerName, true)
  const owner = look.kind === 'text' ? ownerIn(look.text) : undefined
  if (owner?.ledger === ledger && owner.board === board) return
  const whose = owner?.ledger === ledger ? `the board "${owner.board}" of this ledger` : 'another ledger'
  throw new ErrandError(
    'KEY_CONFLICT',
    `The folder ${dir} belongs to ${whose}, as ${markerName} in it says. Choose another folder; or take its tasks over with an import, and remove ${deskFolder} once nobody mirrors to it any more`,
    { key: dir, board },
  )
}

const markerSchema = z.object({ ledger: z.string(), board: z.string() })

function ownerIn(text: string): z.output<typeof markerSchema> | undefined {
  try {
    return markerSchema.safeParse(JSON.parse(text)).data
  } catch {
    // Not ours to read, then: as good as another's.
    return undefined
  }
}

/** What tells this ledger from others; drawn when the first folder asks. */
async function ledgerId(host: MirrorHost): Promise<string> {
  const known = await host.read((tx) => tx.setting.get(setting))
  if (typeof known === 'string') return known
  const fresh = host.nextId('ledger')
  return host.step({
    name: 'name the ledger',
    *decide(tx: Tx): Op<string> {
      const found = yield* tx.setting.get(setting)
      if (typeof found === 'string') return found
      yield* tx.setting.put(setting, fresh)
      return fresh
    },
  })
}

const oldName = /^([1-9]\d{0,14})-.*\.old$/

/** What mirrors that died have left: texts that were never put in place go, old files are to be looked at once more. */
export function clearStaging(files: FolderFiles): Array<{ name: string; number: number }> {
  const old: Array<{ name: string; number: number }> = []
  for (const name of files.list(deskFolder)) {
    const match = oldName.exec(name)
    if (match !== null) old.push({ name: `${deskFolder}/${name}`, number: Number(match[1]) })
    else if (name.endsWith('.new')) files.remove(`${deskFolder}/${name}`)
  }
  return old
}

const refusedFolder = 'refused'

/**
 * Keeps a text; the name of the copy, relative to the folder. The same text is kept once.
 * @throws ErrandError INVALID_INPUT when something that is no folder has the folder's name.
 */
export function keepCopy(desk: Staging, number: number, text: string, version: number): string {
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
