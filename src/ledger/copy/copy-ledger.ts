// Copies a ledger, between databases or on one. A copy takes one snapshot of the original, in which nothing is half done, while engines go on
// working. It is made by comparison: what the target lacks or has otherwise is written. So a copy that was interrupted is continued by the
// next one, from another snapshot, and compares as equal when it is done.
import { ErrandError } from '../../core/errors.ts'
import { wordsOf } from '../../entities/fact-tokens.ts'
import type { CopyTarget } from '../copy-target.ts'
import type { Op } from '../ledger.ts'
import { requireFileName, shownLedger } from '../open-ledger.ts'
import { openSnapshot } from '../open-snapshot.ts'
import { isServerUrl, parseServerUrl } from '../postgres/server-url.ts'
import type { LedgerSnapshot, StoredRow, TableShape } from '../snapshot.ts'
import { openFileTarget } from '../sqlite/file-target.ts'
import { tableShapes } from '../sqlite/table-shapes.ts'
import { createCompiler } from '../statement.ts'
import { createFactSearch } from '../tables/memory/fact-search.ts'
import { tablesOf } from '../tables/tables.ts'
import { recordOriginalEngines, workingEngines } from './original-engines.ts'
import { rowDifferences } from './row-differences.ts'

export interface CopiedLedger {
  /** The names of both ledgers; of a URL, all but the password. */
  from: string
  to: string
  /** Rows of the original, by table. */
  tables: Record<string, number>
  rows: number
  /** Rows that this copy wrote or removed; fewer than `rows` if it continued another. */
  written: number
  isContinued: boolean
  /** Engines that were working on the original. */
  engines: number
  /** The new name of the ledger that was replaced, or null. */
  replaced: string | null
}

export interface CopyOptions {
  /** Called after each thousand rows or so. */
  onProgress?: (progress: CopyProgress) => void
  /** An existing ledger in a file is kept under another name, and the copy takes its place. */
  replace?: boolean
}

export interface CopyProgress {
  /** Each table is read twice. */
  doing: 'copy' | 'verify'
  table: string
  rows: number
}

/**
 * Copies the ledger `from` to a new one, in a file or on a PostgreSQL server, and verifies it row by row.
 * @throws ErrandError INVALID_INPUT; what `openSnapshot` throws for the original; LEDGER_EXISTS when there is a ledger at `to`; LEDGER_BUSY
 *   when another copy to it is being made; LEDGER_WRITE_FAILED; LEDGER_CORRUPT when the rows of the original violate a constraint, or the copy
 *   is not equal to it
 */
export async function copyLedger(from: string, to: string, options: CopyOptions = {}): Promise<CopiedLedger> {
  if (from === to) throw new ErrandError('INVALID_INPUT', `A ledger cannot be copied to itself: ${shownLedger(from)}.`)
  const original = await openSnapshot(from)
  try {
    const target = await openTarget(to, options)
    try {
      return await copyAll(original, target, options)
    } finally {
      await target.close()
    }
  } finally {
    await original.close()
  }
}

async function openTarget(name: string, { replace = false }: CopyOptions): Promise<CopyTarget> {
  if (isServerUrl(name)) {
    const { openServerTarget } = await import('../postgres/server.ts')
    return await openServerTarget(parseServerUrl(name), tableShapes())
  }
  requireFileName(name)
  if (name === ':memory:') throw new ErrandError('INVALID_INPUT', 'A ledger in memory cannot hold a copy: name a file.')
  return openFileTarget(name, { replace })
}

async function copyAll(
  original: LedgerSnapshot,
  target: CopyTarget,
  { onProgress = () => {} }: CopyOptions,
): Promise<CopiedLedger> {
  const tables: Record<string, number> = {}
  let written = 0
  for (const table of tableShapes()) {
    const report = (rows: number) => onProgress({ doing: 'copy', table: table.name, rows })
    const { read, changed } = await copyTable(original, target, table, report)
    tables[table.name] = read
    written += changed
  }
  await target.clearTextIndex()
  await indexFacts(original, target)
  const stored = await target.snapshot()
  try {
    for (const table of tableShapes()) {
      const report = (rows: number) => onProgress({ doing: 'verify', table: table.name, rows })
      await verifyTable(original, stored, table, report)
    }
  } finally {
    await stored.close()
  }
  const engines = await original.run(workingEngines(tablesOf(original.dialect), original.at))
  await target.run(recordOriginalEngines(tablesOf(target.dialect), engines))
  const replaced = (await target.finish(await original.lastNumbers())) ?? null
  const rows = Object.values(tables).reduce((sum, each) => sum + each, 0)
  const { isContinued } = target
  return { from: original.name, to: target.name, tables, rows, written, isContinued, engines: engines.length, replaced }
}

async function copyTable(
  original: LedgerSnapshot,
  target: CopyTarget,
  table: TableShape,
  report: (rows: number) => void,
): Promise<{ read: number; changed: number }> {
  const before = target.isContinued ? await target.snapshot() : undefined
  try {
    let read = 0
    let changed = 0
    const stored = before?.batches(table) ?? noRows()
    for await (const difference of rowDifferences(table, original.batches(table), stored)) {
      const size = difference.put.length + difference.remove.length
      if (size > 0) await target.write(table, difference)
      changed += size
      read += difference.read
      report(read)
    }
    return { read, changed }
  } finally {
    await before?.close()
  }
}

async function* noRows(): AsyncGenerator<StoredRow[]> {}

async function verifyTable(
  original: LedgerSnapshot,
  stored: LedgerSnapshot,
  table: TableShape,
  report: (rows: number) => void,
): Promise<void> {
  let read = 0
  for await (const { put, remove, read: rows } of rowDifferences(
    table,
    original.batches(table),
    stored.batches(table),
  )) {
    const [wrong] = [...put, ...remove]
    if (wrong !== undefined) throw notEqual(original, stored, table, wrong)
    read += rows
    report(read)
  }
}

function notEqual(
  { name }: LedgerSnapshot,
  target: LedgerSnapshot,
  { name: table, key }: TableShape,
  row: StoredRow,
): ErrandError {
  const named = Object.fromEntries(key.map((column) => [column, row[column]]))
  return new ErrandError(
    'LEDGER_CORRUPT',
    `The copy of ${name} at ${target.name} is not equal to it: the row ${JSON.stringify(named)} of ${table} differs. Another program may have written to the unfinished copy. Delete it, then copy again.`,
    { ledger: target.name, table, ...named },
  )
}

/** Of the facts that searches find: active ones that are not summaries. */
async function indexFacts(original: LedgerSnapshot, target: CopyTarget): Promise<void> {
  const table = tableShapes().find(({ name }) => name === 'fact') as TableShape
  const index = createFactSearch(createCompiler(target.dialect))
  function* add(facts: readonly StoredRow[]): Op<void> {
    for (const { seq, branch, text, status, category } of facts) {
      if (status !== 'active' || category === 'summary') continue
      yield* index.add({ seq: Number(seq), branch: String(branch), words: wordsOf(String(text)) })
    }
  }
  for await (const facts of original.batches(table)) await target.run(add(facts))
}
