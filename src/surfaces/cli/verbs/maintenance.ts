// The verbs that look after a ledger: `limit`, `purge`, `trust`, and the table of those for whole ledgers.
import { timeOf } from '../../../api/engine-time.ts'
import { counted } from '../../../core/counted.ts'
import { ErrandError } from '../../../core/errors.ts'
import { shownLedger } from '../../../ledger/open-ledger.ts'
import { judgeLedger, listFolder, trustLedger, untrusted } from '../../../ledger/trust.ts'
import { misuse, texts } from '../../../terminal/arguments.ts'
import { printValue } from '../../../terminal/io.ts'
import { executorLimitLine, sharedLimitLines } from '../../../terminal/limit-lines.ts'
import { durationOption } from '../../../terminal/option-values.ts'
import { isLedgerFile, ledgerExists, resolveLedger } from '../ledger-path.ts'
import { withLedger } from '../open-ledger.ts'
import { defineVerb, verbTable } from '../verb.ts'

export const limit = defineVerb({
  usage: 'limit [N | none] [--executor X]',
  help: [
    'Shows or sets how many tasks may run at once on this ledger, across all processes; "none" removes the limit.',
    'Running tasks are not stopped. Each process also has its own limit: "errand run --concurrency".',
    '  --executor X  the limit for this executor: "errand limit --executor shell 2"',
  ].join('\n'),
  options: texts('executor'),
  positionals: { max: 1 },
  async run(io, { values, positionals: [text] }) {
    const { executor } = values
    if (executor?.trim() === '') throw misuse('--executor takes the name of an executor, got "".')
    const limit = text === undefined ? undefined : parseLimit(text)
    return await withLedger(io, values, async (engine) => {
      const { shared } =
        limit === undefined
          ? await engine.limits()
          : await engine.setSharedLimits(
              executor === undefined ? { maxConcurrent: limit } : { limits: { [executor]: limit } },
            )
      const lines = executor === undefined ? sharedLimitLines(shared) : executorLimitLine(shared, executor)
      printValue(io, values, shared, lines)
    })
  },
})

/** Returns null for "none". */
function parseLimit(text: string): number | null {
  if (text === 'none') return null
  const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(limit) && limit >= 1) return limit
  throw misuse(`A limit is a whole number of at least 1, or "none", got "${text}".`, { value: text })
}

export const purge = defineVerb({
  usage: 'purge --older-than DURATION',
  help: 'Deletes tasks that ended longer ago than DURATION (90s, 2h, 30d), with all their data. A task is deleted only together with its parent and its subtasks, and not while an open task depends on one of them.',
  options: texts('older-than'),
  positionals: { max: 0 },
  async run(io, { values }) {
    const text = values['older-than']
    if (text === undefined)
      throw misuse('The minimum age is missing: "errand purge --older-than 30d" keeps the last 30 days.')
    const ageMs = durationOption('older-than', text)
    return await withLedger(io, values, async (engine) => {
      const before = Math.max(0, timeOf(engine) - ageMs)
      const purged = await engine.purge({ before })
      const { total: left } = await engine.list({ limit: 0 })
      const outcome =
        purged.tasks === 0
          ? 'No task was old enough'
          : `Deleted ${counted(purged.tasks, 'task')} in ${counted(purged.families, 'family', 'families')}, with ${counted(purged.events, 'event')}`
      const remaining = `${counted(left, 'task')} ${left === 1 ? 'remains' : 'remain'}`
      printValue(io, values, { ...purged, left }, `${outcome}; ${remaining}.`)
    })
  },
})

export const trust = defineVerb({
  usage: 'trust [LEDGER]',
  help: [
    'Allows opening a ledger whose origin you know. Until then, errand refuses a ledger that it found by itself if others can write it or',
    'git tracks it, because its tasks run with your permissions. Without LEDGER, trusts the one of this folder.',
  ].join('\n'),
  options: {},
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const named = resolveLedger(given ?? values.ledger, io)
    const ledger = shownLedger(named)
    if (!isLedgerFile(named) || !ledgerExists(named)) {
      throw new ErrandError('NOT_FOUND', `There is no ledger at ${ledger}. Name the file, like .errand/ledger.db.`, {
        ledger,
      })
    }
    const trust = judgeLedger(ledger, io.env)
    if (trust.verdict === 'refused') throw untrusted(ledger, trust)
    if (!trustLedger(ledger, io.env)) {
      const folder = listFolder(io.env)
      throw new ErrandError(
        'LEDGER_UNTRUSTED',
        `Cannot record that the ledger is trusted: ${folder ?? 'a home folder'} is not writable. Name the ledger with --ledger each time.`,
        { ledger, folder },
      )
    }
    printValue(io, values, { ledger }, `${ledger} is trusted.`)
  },
})

const ledgerVerbs = verbTable({
  copy: { summary: 'copy a ledger, also while engines work on it', load: () => import('./ledger.ts') },
  check: { summary: 'list what violates the invariants of a ledger', load: () => import('./ledger.ts') },
  restore: { summary: 'put a copy in the place of a ledger', load: () => import('./ledger.ts') },
})

export const ledger = defineVerb({
  usage: `ledger ${Object.keys(ledgerVerbs).join('|')}`,
  help: 'Copies, checks and restores whole ledgers. A ledger is a file, or the URL of a PostgreSQL server.',
  positionals: { max: 0 },
  verbs: ledgerVerbs,
  async run() {
    throw misuse(`Say what to do: errand ledger ${Object.keys(ledgerVerbs).join(', ')}.`)
  },
})
