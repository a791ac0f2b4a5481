// The folders that mirror a board, as stored in the ledger. Commands that change the board also update these folders, so that the files
// are right even while no mirror runs.
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { z } from 'zod'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import { mirrorHostOf } from './mirror-host.ts'

export interface KnownFolder {
  board: string
  /** Absolute. */
  dir: string
}

const setting = 'boardFolders'

/** Relative to the ledger if that is a file, so that both can be moved together. */
const storedSchema = z.array(z.object({ board: z.string(), dir: z.string() }))

/** Stores that a folder mirrors a board. */
export async function rememberFolder(engine: object, { board, dir }: KnownFolder): Promise<void> {
  const host = mirrorHostOf(engine, 'rememberFolder')
  const root = rootOf(host.ledgerName)
  const stored = { board, dir: root === undefined ? dir : relative(root, dir) || '.' }
  await host.step({
    name: 'remember folder',
    *decide(tx: Tx): Op<void> {
      const known = yield* storedFolders(tx)
      if (known.some((each) => each.dir === stored.dir && each.board === board)) return
      yield* tx.setting.put(setting, [...known.filter((each) => each.dir !== stored.dir), stored])
    },
  })
}

/** Returns the stored folders that exist. */
export async function knownFolders(engine: object): Promise<KnownFolder[]> {
  const host = mirrorHostOf(engine, 'knownFolders')
  const root = rootOf(host.ledgerName)
  const stored = await host.read(storedFolders)
  return stored
    .map(({ board, dir }) => ({ board, dir: isAbsolute(dir) || root === undefined ? dir : resolve(root, dir) }))
    .filter(({ dir }) => existsSync(dir))
}

/** Returns the position of the latest event, which shows whether anything has changed since. */
export function lastEvent(engine: object): Promise<number> {
  return mirrorHostOf(engine, 'lastEvent').read((tx) => tx.event.last())
}

function* storedFolders(tx: Reads): Op<z.output<typeof storedSchema>> {
  return storedSchema.catch([]).parse((yield* tx.setting.get(setting)) ?? [])
}

/** The directory of a ledger that is a file. */
function rootOf(ledgerName: string): string | undefined {
  return isAbsolute(ledgerName) ? dirname(ledgerName) : undefined
}
