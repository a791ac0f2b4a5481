// What the check of a ledger finds, in words, for tests that expect nothing.
import { checkLedger } from '../../../src/ledger/check/check-ledger.ts'

export async function violationsIn(ledger: string): Promise<string[]> {
  const { violations } = await checkLedger(ledger)
  return violations.map(({ rule, subject, message }) => `${rule} of ${subject}: ${message}`)
}
