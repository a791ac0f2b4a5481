// The marker in `.errand` (ignored by git) that names the ledger and the board to which a folder belongs.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import type { MirrorHost } from './mirror-host.ts'
import { type Staging, stagingFolder } from './staging.ts'

const markerName = `${stagingFolder}/folder.json`
const setting = 'ledgerId'

/** @throws ErrandError KEY_CONFLICT for a folder that belongs to another ledger, or to another board of this one. */
export async function ownFolder(host: MirrorHost, staging: Staging, dir: string, board: string): Promise<void> {
  const ledger = await ledgerId(host)
  staging.files.makeFolder(stagingFolder)
  staging.files.create(`${stagingFolder}/.gitignore`, '*\n')
  // The first mirror of a folder becomes its owner: an existing marker is not overwritten.
  staging.put(markerName, 0, `${JSON.stringify({ ledger, board }, null, 2)}\n`, null)
  const state = staging.files.read(markerName)
  const owner = state.kind === 'text' ? parseMarker(state.text) : undefined
  if (owner?.ledger === ledger && owner.board === board) return
  const whose = owner?.ledger === ledger ? `the board "${owner.board}" of this ledger` : 'another ledger'
  throw new ErrandError(
    'KEY_CONFLICT',
    `The folder ${dir} belongs to ${whose}, according to its ${markerName}. Choose another folder. Or, if no mirror uses this one any more (its ledger is lost, for example), remove its ${stagingFolder}: a board that never had a task then adopts the files, and any board can import those with a number that it has not used yet`,
    { key: dir, board },
  )
}

const markerSchema = z.object({ ledger: z.string(), board: z.string() })

/** An unreadable marker counts as that of another ledger. */
function parseMarker(text: string): z.output<typeof markerSchema> | undefined {
  try {
    return markerSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** The id of this ledger; generated with the first folder. */
function ledgerId(host: MirrorHost): Promise<string> {
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
