// A folder that a mirror writes: which ledger and board it belongs to is said in it, below a folder of the mirror's own, where new
// and old files have their names while they change places. That one is no business of git.
import { z } from 'zod'
import { ErrandError } from '../../errors.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import type { FolderFiles } from './folder-files.ts'
import type { MirrorHost } from './mirror-host.ts'
import { type Desk, writeFile } from './write-file.ts'

export const deskFolder = '.errand'
const markerName = `${deskFolder}/folder.json`
const ignoreName = `${deskFolder}/.gitignore`
const setting = 'ledgerId'

/** @throws ErrandError KEY_CONFLICT for a folder that belongs to another ledger, or to another board of this one. */
export async function ownFolder(host: MirrorHost, desk: Desk, dir: string, board: string): Promise<void> {
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

/** The desk of one mirror: its names are nobody else's. */
export function createDesk(files: FolderFiles, id: string): Desk {
  let drawn = 0
  const draw = (number: number): string => `${deskFolder}/${number}-${id}-${++drawn}`
  return { files, newName: (number) => `${draw(number)}.new`, oldName: (number) => `${draw(number)}.old` }
}

/** What mirrors that died have left: texts that were never put in place go, old files are to be looked at once more. */
export function clearDesk(files: FolderFiles): Array<{ name: string; number: number }> {
  const old: Array<{ name: string; number: number }> = []
  for (const name of files.list(deskFolder)) {
    const match = oldName.exec(name)
    if (match !== null) old.push({ name: `${deskFolder}/${name}`, number: Number(match[1]) })
    else if (name.endsWith('.new')) files.remove(`${deskFolder}/${name}`)
  }
  return old
}
