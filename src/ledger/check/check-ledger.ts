// Reads one snapshot of a whole ledger and lists what violates its invariants. Nothing is changed, and engines go on meanwhile.
import { ErrandError } from '../../core/errors.ts'
import { openSnapshot } from '../open-snapshot.ts'
import type { LedgerSnapshot } from '../snapshot.ts'
import { boardChecks } from './boards.ts'
import { factIndexChecks } from './fact-indexes.ts'
import { familyChecks } from './family.ts'
import { graphChecks } from './graph.ts'
import { historyChecks } from './history.ts'
import { journalChecks } from './journal.ts'
import { memoryChecks } from './memory.ts'
import { type Check, Findings, type Rule, type Violation } from './rule.ts'
import { runChecks } from './runs.ts'
import { damage, storageChecks } from './storage.ts'
import { teamChecks } from './teams.ts'

export type { Rule, Violation } from './rule.ts'

const checks: readonly Check[] = [
  ...storageChecks,
  ...historyChecks,
  ...runChecks,
  ...journalChecks,
  ...graphChecks,
  ...familyChecks,
  ...boardChecks,
  ...memoryChecks,
  ...factIndexChecks,
  ...teamChecks,
]

/** All rules, by topic. */
export const ledgerRules: readonly Rule[] = [...new Set(checks.flatMap(({ rules }) => rules))]

export interface CheckLedgerOptions {
  /** The maximum of listed violations of each rule; the others are counted. Default 20. */
  limit?: number
}

export interface LedgerReport {
  /** A path, or a URL without its password. */
  ledger: string
  /** By rule, in the order of the rules. Empty for a sound ledger. */
  violations: Violation[]
  /** How many violations of each rule there are, listed or not; a rule without any is missing. */
  counts: Record<string, number>
  /** How many rules were checked. */
  rules: number
  /** How many tasks there are. */
  tasks: number
}

/**
 * Checks the invariants of a ledger in a file, or on a PostgreSQL server.
 * @throws ErrandError NOT_FOUND, INVALID_INPUT, LEDGER_UNAVAILABLE, LEDGER_FOREIGN, LEDGER_VERSION, LEDGER_CORRUPT, LEDGER_BUSY: the ledger
 *   cannot be opened. A ledger that is found damaged later is reported as a violation.
 */
export async function checkLedger(name: string, { limit = 20 }: CheckLedgerOptions = {}): Promise<LedgerReport> {
  const ledger = await openSnapshot(name)
  try {
    const findings = new Findings(limit)
    for (const check of checks) await runCheck(check, ledger, findings)
    return {
      ledger: ledger.name,
      violations: ledgerRules.flatMap((rule) => findings.listed.filter((each) => each.rule === rule.name)),
      counts: Object.fromEntries(findings.counts),
      rules: ledgerRules.length,
      tasks: findings.tasks,
    }
  } finally {
    await ledger.close()
  }
}

/** On a damaged page a statement fails: the other rules are checked all the same. */
async function runCheck(check: Check, ledger: LedgerSnapshot, findings: Findings): Promise<void> {
  try {
    await check.run(ledger, findings)
  } catch (error) {
    if (!ErrandError.isInstance(error) || error.code !== 'LEDGER_CORRUPT') throw error
    const names = check.rules.map((rule) => rule.name).join(', ')
    findings.add(damage, ledger.name, `${error.message} Because of that, not all could be checked for ${names}.`)
  }
}
