// The marker in `.errand` (ignored by git) that names the ledger and the board to which a folder belongs.
import { existsSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { loadBoard, numberNewTasks } from '../numbering.ts'
import type { MirrorHost } from './mirror-host.ts'
import { type Staging, stagingFolder } from './staging.ts'

const markerName = `${stagingFolder}/folder.json`
const ignoreName = `${stagingFolder}/.gitignore`
const setting = 'ledgerId'

/**
 * A board that never had a task takes over the folder of a ledger that is lost.
 * @throws ErrandError KEY_CONFLICT for a folder that belongs to another ledger, or to another board of this one.
 */
export async function ownFolder(host: MirrorHost, staging: Staging, dir: string, board: string): Promise<void> {
  const ledger = await ledgerId(host)
  staging.files.makeFolder(stagingFolder)
  staging.files.create(ignoreName, '*\n')
  // The first mirror of a folder becomes its owner: an existing marker is not overwritten.
  const file = isAbsolute(host.ledgerName) ? relative(dir, host.ledgerName) : undefined
  const marker = `${JSON.stringify({ ledger, board, file }, null, 2)}\n`
  staging.put(markerName, 0, marker, null)
  const state = staging.files.read(markerName)
  const owner = state.kind === 'text' ? parseMarker(state.text) : undefined
  if (owner?.ledger === ledger && owner.board === board) return
  if (state.kind === 'text' && isLost(owner, ledger, dir, host.ledgerName) && (await isUnused(host, board))) {
    const { done, old } = staging.put(markerName, 0, marker, state.text)
    if (old !== undefined) staging.files.remove(old)
    if (done) return
  }
  const whose = owner?.ledger === ledger ? `the board "${owner.board}" of this ledger` : 'another ledger'
  throw new ErrandError(
    'KEY_CONFLICT',
    `The folder ${dir} belongs to ${whose}, according to its ${markerName}. Choose another folder. Or, if no mirror uses this one any more, remove its ${stagingFolder}: a board that never had a task then adopts the files, and any board can import those with a number that it has not used yet`,
    { key: dir, board },
  )
}

/** `file`: the ledger, relative to the folder, so that both can be moved together; absent for one that is not a file. */
const markerSchema = z.object({ ledger: z.string(), board: z.string(), file: z.string().optional() })
type Marker = z.output<typeof markerSchema>

/** Whether the ledger in a marker no longer exists: its file is gone, or this ledger is in its place. */
function isLost(owner: Marker | undefined, ledger: string, dir: string, ledgerName: string): boolean {
  if (owner?.file === undefined || owner.ledger === ledger) return false
  const file = resolve(dir, owner.file)
  return file === ledgerName || !existsSync(file)
}

/** Whether the board never had a task. */
async function isUnused(host: MirrorHost, board: string): Promise<boolean> {
  await numberNewTasks(host, board)
  return (await host.read((tx) => loadBoard(tx, board, 0))).nextNumber === 1
}

function parseMarker(text: string): Marker | undefined {
  try {
    return markerSchema.safeParse(JSON.parse(text)).data
  } catch {
    // An unreadable marker counts as that of another ledger.
    return undefined
  }
}

/** The id of this ledger; generated with the first folder. */
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
